/* What the teacher says to everybody, asked for every few seconds: once it has changed the page is drawn again.
   See `watch_board` of elements.py for what `data` holds. */
import { leaving, mounted } from "./mounted.js";

const EVERY = 2500; // ms between two questions, and up to as much again by chance: a class does not ask in step
const FIELDS = ["paused", "projected"];

class Board {
  constructor() {
    this.timer = 0;
    this.open = true;
  }

  show({ data, setTriggerValue }) {
    this.data = data;
    this.tell = (said) => setTriggerValue("changed", said);
    this.told = "";
    this.plan();
  }

  close() {
    this.open = false;
    clearTimeout(this.timer);
  }

  plan() {
    clearTimeout(this.timer);
    if (this.open) this.timer = setTimeout(() => this.ask(), EVERY * (1 + Math.random()));
  }

  async ask() {
    try {
      const answer = document.hidden ? null : await fetch(new URL(this.data.address, location.origin));
      if (answer?.ok) this.hear(await answer.json());
    } catch { /* the server is away: the page says so */ }
    this.plan();
  }

  hear(said) {
    const text = FIELDS.map((name) => said[name]).join(" ");
    const known = FIELDS.map((name) => this.data.said[name]).join(" ");
    if (!this.open || text === known || text === this.told || leaving()) return;
    this.told = text;
    this.tell(text);
  }
}

export default mounted(Board);
