/* A table of the runs of a claim: a press on a row opens its run. See `show_runs` of several_runs.py. */
import { added, mounted } from "./mounted.js";

class ClaimRuns {
  constructor(parent) {
    this.box = added(parent, "div", { className: "scrolling", tabIndex: 0, role: "region" });
  }

  show({ data, setTriggerValue }) {
    this.box.ariaLabel = data.label;
    const kept = this.box.contains(document.activeElement) && document.activeElement.dataset.run;
    this.box.innerHTML = data.table;
    for (const button of this.box.querySelectorAll("button[data-run]")) {
      const row = button.closest("tr");
      row.classList.toggle("opened", button.ariaPressed === "true");
      row.onclick = () => setTriggerValue("opened", Number(button.dataset.run)); // a press of the button comes here, too
      if (kept === button.dataset.run) button.focus({ preventScroll: true });
    }
  }
}

export default mounted(ClaimRuns);
