/* A sentence whose numbers change with the events of runs. See elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";
import { taken } from "./live_figures.js";

const PLACE = /\{(\w+)\}/g;

class Headline {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.line = added(parent, "p", { className: "headline", role: "status" });
  }

  show({ data }) {
    this.sentences = data.sentences;
    this.numbers = Object.entries(data.numbers).map(([name, each]) => ({ ...each, name, seen: each.after }));
    this.following.attend(this.numbers);
    this.draw();
  }

  close() {
    this.following.attend([]);
    this.line.remove();
  }

  /* The last sentence of which all numbers are known. */
  draw() {
    const known = {};
    for (const number of this.numbers) {
      const tests = this.following.news(number).filter(({ event }) => event === number.event); // of one test, all of them
      for (const body of tests) number.value = taken(number, body) ?? number.value;
      if (number.value) known[number.name] = number.value;
    }
    if (known.accuracy && known.baseline) {
      const lost = Number(known.baseline) - Number(known.accuracy);
      known[lost < 0 ? "gained" : "lost"] = Math.abs(lost).toFixed(1);
    }
    const sayable = this.sentences.filter((each) => [...each.matchAll(PLACE)].every(([, name]) => name in known));
    const said = sayable.at(-1)?.replace(PLACE, (_, name) => known[name]) ?? "";
    if (this.line.textContent !== said) this.line.textContent = said;
  }
}

export default mounted(Headline);
