/* How far a run is, from its events. See run_progress.py for what `data` holds. */
import { leaving, mounted } from "./mounted.js";
import { Following } from "./runs.js";

class Progress {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.box = document.createElement("div");
    this.box.className = "run-progress";
    this.box.dataset.testid = "stProgress"; // what looks for Streamlit's own bar finds this one
    this.text = document.createElement("div");
    this.bar = document.createElement("div");
    this.bar.className = "run-bar";
    this.bar.setAttribute("role", "progressbar");
    this.bar.append(document.createElement("div"));
    this.box.append(this.text, this.bar);
    parent.append(this.box);
  }

  show({ data, setTriggerValue }) {
    this.data = data;
    this.tell = (news) => setTriggerValue("changed", news);
    this.reported = "";
    this.now = { run: data.run, seen: data.after, step: data.step, paces: [...data.paces], device: data.device, starting: data.starting };
    this.following.attend(data.active ? [data] : []);
    this.draw();
  }

  close() {
    this.following.attend([]);
    this.box.remove();
  }

  draw() {
    const { now, data } = this;
    const followed = this.following.runs.get(data.run);
    for (const body of this.following.news(now)) {
      if (body.event === "preparing") now.starting = preparing(body);
      if (body.event === "started") now.device = body.device;
      if (body.event === "stepped") now.paces = [...now.paces, body.steps_per_second].slice(-data.reports);
      now.step = Math.max(now.step, body.event === "checkpointed" ? 0 : body.step ?? 0);
    }
    const state = followed?.status ?? data.state;
    this.text.replaceChildren(strong(data.label), ` · ${followed?.unknown || sentence(data, now, state)}`);
    const share = Math.min(now.step / data.steps, 1);
    this.bar.firstChild.style.width = `${100 * share}%`;
    this.bar.setAttribute("aria-label", data.label);
    this.bar.setAttribute("aria-valuenow", Math.round(100 * share));
    this.bar.setAttribute("aria-valuetext", sentence(data, now, state));
    if (followed) this.report(followed, state);
  }

  /* Python draws the page again where something else is to be done than wait: once for each news. */
  report(followed, state) {
    const { data } = this;
    const same = state.status === data.state.status && state.cancelling === data.state.cancelling;
    const over = !["queued", "running"].includes(state.status); // its end follows behind its last event
    const news = followed.unknown ? "unknown" : followed.ended ? "ended" : same || over ? "" : state.status;
    if (!news || news === this.reported || leaving()) return;
    this.reported = news;
    this.tell(news);
  }
}

export default mounted(Progress);

export function sentence(data, now, { status, words, starts }) {
  const place = `step ${now.step.toLocaleString("en")} of ${data.steps.toLocaleString("en")}`;
  if (status === "queued") return starts ? `${words}, ${starts}` : words;
  if (status !== "running") return `${words} at ${place}`;
  if (!now.device) return now.starting;
  const sorted = [...now.paces].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const pace = sorted.length % 2 ? sorted[middle] : sorted.length ? (sorted[middle - 1] + sorted[middle]) / 2 : 0;
  const left = pace ? `, ${duration((data.steps - now.step) / pace)} left` : "";
  return `${place}, ${Number(pace.toPrecision(3))} steps/s${left} on ${now.device}`;
}

function preparing({ done, total }) {
  return `starting: features of ${done.toLocaleString("en")} of ${total.toLocaleString("en")} images`;
}

export function duration(seconds) {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function strong(text) {
  const element = document.createElement("strong");
  element.textContent = text;
  return element;
}
