/* How far a run is, from its events. See `run_progress` of elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

const CALM = 0.15; // of what a report says of the end is believed at once: the time left does not jump

class Progress {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.box = added(parent, "div", { className: "run-progress" });
    this.box.dataset.testid = "stProgress"; // what looks for Streamlit's own bar finds this one
    this.text = added(this.box, "div");
    this.bar = added(this.box, "div", { className: "run-bar", role: "progressbar" });
    this.share = added(this.bar, "div");
  }

  show({ data, setTriggerValue }) {
    this.data = data;
    this.tell = (news) => setTriggerValue("changed", news);
    this.now = { ...data, seen: data.after };
    this.following.attend(data.active ? [data] : []);
    this.draw();
  }

  draw() {
    const { now, data } = this;
    const followed = this.following.runs.get(data.run);
    for (const body of this.following.news(now)) {
      if (body.event === "preparing") now.preparing = body;
      if (body.event === "started") now.device = body.device;
      if (body.event === "stepped") {
        now.paces = [...now.paces, body.steps_per_second].slice(-data.reports);
        const end = Date.now() + (1000 * (data.steps - body.step)) / median(now.paces);
        now.end = now.end ? now.end + CALM * (end - now.end) : end;
      }
      now.step = Math.max(now.step, body.event === "checkpointed" ? 0 : body.step ?? 0);
    }
    now.state = followed?.status ?? data.state;
    const said = followed?.unknown || sentence(now);
    this.text.replaceChildren();
    added(this.text, "strong", { textContent: data.label });
    this.text.append(` · ${said}`);
    const percent = 100 * Math.min(now.step / data.steps, 1);
    this.share.style.width = `${percent}%`;
    Object.assign(this.bar, { ariaLabel: data.label, ariaValueNow: Math.round(percent), ariaValueText: said });
    this.following.report(data.run, data.state, this.tell);
  }
}

export default mounted(Progress);

const whole = (number) => number.toLocaleString("en");

/* Where a run stands: what `data` holds, after the events since. */
export function sentence({ step, steps, paces, device, preparing, held, end, state: { status, words, starts } }) {
  const place = `step ${whole(step)} of ${whole(steps)}`;
  if (status === "queued") return starts ? `${words}, ${starts}` : words;
  if (status !== "running") return `${words} at ${place}`;
  if (held) return `paused at ${place}`;
  const features = preparing && `: features of ${whole(preparing.done)} of ${whole(preparing.total)} images`;
  if (!device) return `starting${features || ""}`;
  const pace = median(paces);
  const seconds = end ? Math.max(0, (end - Date.now()) / 1000) : (steps - step) / pace;
  const left = pace ? `, ${duration(seconds)} left` : "";
  return `${place}, ${Number(pace.toPrecision(3))} steps/s${left} on ${device}`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1); // one of them, or two
  return middle.length ? middle.reduce((a, b) => a + b) / middle.length : 0;
}

function duration(seconds) {
  const s = Math.ceil(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}
