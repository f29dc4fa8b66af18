/* Single numbers that change with the events of runs. See live_figures.py for what `data` holds. */
import { mounted } from "./mounted.js";
import { Following } from "./runs.js";

class Figures {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.list = document.createElement("dl");
    this.list.className = "live-figures";
    parent.append(this.list);
  }

  show({ data }) {
    this.readings = data.readings.map((each) => ({ ...each, seen: each.after }));
    this.following.attend(this.readings);
    this.list.replaceChildren(...this.readings.map(({ label }) => {
      const [pair, name, value] = ["div", "dt", "dd"].map((kind) => document.createElement(kind));
      name.textContent = label;
      value.dataset.testid = "stMetricValue"; // what looks for Streamlit's own metric finds this one
      pair.append(name, value);
      return pair;
    }));
    this.draw();
  }

  close() {
    this.following.attend([]);
    this.list.remove();
  }

  draw() {
    this.readings.forEach((reading, place) => {
      for (const body of this.following.news(reading)) reading.value = taken(reading, body) ?? reading.value;
      const cell = this.list.children[place].lastElementChild;
      if (cell.textContent !== reading.value) cell.textContent = reading.value;
    });
  }
}

export default mounted(Figures);

/* What the reading says after an event; undefined where the event does not speak of it. */
export function taken(reading, body) {
  if (reading.texts) { // by steps, or by another count: the text of the next one that is listed
    if (!["stepped", "evaluated"].includes(body.event)) return undefined;
    const { counts, texts, field } = reading.texts;
    return texts[counts.findIndex((count) => count >= body[field])];
  }
  const value = body.event === reading.event ? body[reading.y] : undefined;
  if (typeof value !== "number") return undefined;
  const rest = reading.of ? ` / ${written(body[reading.of] - value, reading)}` : "";
  return `${written(value, reading)}${rest}${reading.unit}`;
}

function written(value, { scale, digits }) {
  const rounded = Number((value * scale).toFixed(digits));
  return rounded.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
