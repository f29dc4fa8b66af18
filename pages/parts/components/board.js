/* What the teacher says to everybody, asked for every few seconds: once it has changed the page is drawn again.
   `data` holds what the page knows, `said`, and where to ask, `address`. */
import { leaving, mounted } from "./mounted.js";

const PAUSE = 2500; // ms between two questions, and up to as much again by chance: a class does not ask in step

class Board {
  open = true;

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
    if (this.open) this.timer = setTimeout(() => this.ask(), PAUSE * (1 + Math.random()));
  }

  async ask() {
    try {
      const answer = document.hidden ? null : await fetch(new URL(this.data.address, location.origin));
      if (answer?.ok) this.hear(await answer.json());
    } catch { /* the server is away: the page says so */ }
    this.plan();
  }

  hear(said) {
    const text = JSON.stringify(said);
    if (!this.open || [JSON.stringify(this.data.said), this.told].includes(text) || leaving()) return;
    this.told = text;
    this.tell(text);
  }
}

export default mounted(Board);
