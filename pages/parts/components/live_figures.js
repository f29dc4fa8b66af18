/* Single numbers that change with the events of runs. See `LiveNumber` of elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

class Figures {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.list = added(parent, "dl", { className: "live-figures" });
  }

  show({ data }) {
    this.readings = data.readings.map((each) => ({ ...each, seen: each.after }));
    this.following.attend(this.readings);
    this.list.replaceChildren();
    for (const reading of this.readings) {
      const pair = added(this.list, "div");
      added(pair, "dt", { textContent: reading.label });
      reading.cell = added(pair, "dd");
      reading.cell.dataset.testid = "stMetricValue"; // what looks for Streamlit's own metric finds this one
    }
    this.draw();
  }

  close() {
    this.following.attend([]);
    this.list.remove();
  }

  draw() {
    for (const reading of this.readings) {
      for (const body of this.following.news(reading)) reading.value = taken(reading, body) ?? reading.value;
      if (reading.cell.textContent !== reading.value) reading.cell.textContent = reading.value;
    }
  }
}

export default mounted(Figures);

/* What the reading says after an event; undefined where the event does not speak of it. */
export function taken(reading, body) {
  if (reading.texts) { // by steps, or by another count: the text of the next one that is listed
    if (!["stepped", "evaluated"].includes(body.event)) return undefined;
    const { steps, values, field } = reading.texts;
    return values[steps.findIndex((step) => step >= body[field])];
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
