/* Single numbers that change with the events of runs. See live_figures.py for what `data` holds. */
import { follow, stop } from "./runs.js";

const shown = new WeakMap(); // by the element that Streamlit gives each of them

export default function live_figures({ data, parentElement }) {
  const figures = shown.get(parentElement) ?? new Figures(parentElement);
  shown.set(parentElement, figures);
  figures.show(data.readings);
  return () => {
    figures.leave();
    figures.list.remove();
    shown.delete(parentElement);
  };
}

class Figures {
  constructor(parent) {
    this.heard = () => this.draw();
    this.list = document.createElement("dl");
    this.list.className = "live-figures";
    parent.append(this.list);
    this.followed = new Map();
  }

  show(readings) {
    this.readings = readings.map((each) => ({ ...each, seen: each.after }));
    const first = new Map();
    for (const { run, after } of readings) if (run) first.set(run, Math.min(after, first.get(run) ?? Infinity));
    for (const [run, followed] of this.followed) if (!first.has(run)) this.drop(run, followed);
    for (const [run, after] of first) this.followed.set(run, follow(run, after, this.heard));
    this.list.replaceChildren(...readings.map(({ label }) => {
      const [pair, name, value] = ["div", "dt", "dd"].map((kind) => document.createElement(kind));
      name.textContent = label;
      value.dataset.testid = "stMetricValue"; // what looks for Streamlit's own metric finds this one
      pair.append(name, value);
      return pair;
    }));
    this.draw();
  }

  drop(run, followed) {
    stop(followed, this.heard);
    this.followed.delete(run);
  }

  leave() {
    for (const [run, followed] of this.followed) this.drop(run, followed);
  }

  draw() {
    this.readings.forEach((reading, place) => {
      for (const { number, body } of this.followed.get(reading.run)?.events ?? []) {
        if (number <= reading.seen) continue;
        reading.seen = number;
        reading.value = taken(reading, body) ?? reading.value;
      }
      const cell = this.list.children[place].lastElementChild;
      if (cell.textContent !== reading.value) cell.textContent = reading.value;
    });
  }
}

/* What the reading says after an event; undefined where the event does not speak of it. */
export function taken(reading, body) {
  if (reading.texts) { // by steps: the text of the next step that is listed
    if (!["stepped", "evaluated"].includes(body.event)) return undefined;
    const place = reading.texts.steps.findIndex((step) => step >= body.step);
    return reading.texts.texts[place];
  }
  const value = body.event === reading.event ? body[reading.y] : undefined;
  return typeof value === "number" ? `${(value * reading.scale).toFixed(reading.digits)}${reading.unit}` : undefined;
}
