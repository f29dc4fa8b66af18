/* How far a run is, as the server says it. See `run_progress` of elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

class Progress {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.box = added(parent, "div", { className: "run-progress" });
    this.box.dataset.testid = "stProgress"; // what looks for Streamlit's own bar finds this one
    this.text = added(this.box, "div");
    this.bar = added(this.box, "progress", { max: 100 });
  }

  show({ data, setTriggerValue }) {
    this.data = data;
    this.tell = (news) => setTriggerValue("changed", news);
    this.following.attend(data.state.active ? [data] : []);
    this.draw();
  }

  draw() {
    const { run, label, state } = this.data;
    const followed = this.following.runs.get(run);
    const { said, share } = followed?.status ?? state;
    const words = followed?.unknown || said;
    this.text.replaceChildren();
    added(this.text, "strong", { textContent: label });
    this.text.append(` · ${words}`);
    Object.assign(this.bar, { value: share, ariaLabel: label, ariaValueText: words });
    this.following.report(run, state, this.tell);
  }
}

export default mounted(Progress);
