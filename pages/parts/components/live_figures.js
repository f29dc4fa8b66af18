/* Numbers that change with the events of runs, each under its label, or all in a sentence. See `LiveNumber` and
   `headline` of elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

const PLACE = /\{(\w+)\}/g;

class Figures {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.line = added(parent, "p", { className: "headline", role: "status", hidden: true });
    this.list = added(parent, "dl", { className: "live-figures" });
  }

  show({ data }) {
    this.sentences = data.sentences;
    this.line.hidden = !data.sentences;
    this.readings = data.readings.map((each) => ({ ...each, seen: each.after }));
    this.following.attend(this.readings);
    this.list.replaceChildren();
    for (const reading of data.sentences ? [] : this.readings) {
      const pair = added(this.list, "div");
      added(pair, "dt", { textContent: reading.label });
      reading.cell = added(pair, "dd");
      reading.cell.dataset.testid = "stMetricValue"; // what looks for Streamlit's own metric finds this one
    }
    this.draw();
  }

  draw() {
    for (const reading of this.readings) {
      for (const body of this.following.news(reading)) renew(reading, taken(reading, body));
      if (reading.cell) write(reading.cell, reading.value);
    }
    if (this.sentences) write(this.line, this.sentence());
  }

  /* The last sentence of which all numbers are known. */
  sentence() {
    const known = Object.fromEntries(this.readings.filter(({ value }) => value).map(({ label, value }) => [label, value]));
    if (known.accuracy && known.baseline) {
      const lost = Number(known.baseline) - Number(known.accuracy);
      known[lost < 0 ? "gained" : "lost"] = Math.abs(lost).toFixed(1);
    }
    const sayable = this.sentences.filter((each) => [...each.matchAll(PLACE)].every(([, name]) => name in known));
    return sayable.at(-1)?.replace(PLACE, (_, name) => known[name]) ?? "";
  }
}

export default mounted(Figures);

/* One with a `latest` shows the number before that. */
function renew(reading, said) {
  if (said === undefined) return;
  if (typeof reading.latest !== "string") reading.value = said;
  else [reading.value, reading.latest] = [reading.latest, said];
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* What the reading says after an event; undefined where the event does not speak of it. */
export function taken(reading, body) {
  if (body.event !== reading.event && !(reading.texts && body.event === "evaluated")) return undefined;
  if (reading.texts) { // by steps, or by another count, also of tests: the text of the next one that is listed
    const { steps, values, field } = reading.texts;
    return values[steps.findIndex((step) => step >= body[field])];
  }
  const value = body[reading.y];
  if (typeof value !== "number") return undefined;
  const rest = reading.of ? ` / ${written(body[reading.of] - value, reading)}` : "";
  return `${written(value, reading)}${rest}${reading.unit}`;
}

function written(value, { scale, digits }) {
  const rounded = Number((value * scale).toFixed(digits));
  return rounded.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
