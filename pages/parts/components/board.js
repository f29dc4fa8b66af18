/* What the teacher says to everybody, asked for every few seconds: once it has changed the page is drawn again.
   `data` holds what the page knows, `said`, and where to ask, `address`. */
import { leaving, mounted } from "./mounted.js";

const PAUSE = 2500; // ms between two questions, and up to as much again by chance: a class does not ask in step

class Board {
  constructor() {
    this.asking = setInterval(() => this.ask(), PAUSE * (1 + Math.random()));
  }

  show({ data, setTriggerValue }) {
    this.address = data.address;
    this.told = JSON.stringify(data.said);
    this.tell = (said) => setTriggerValue("changed", said);
  }

  close() {
    clearInterval(this.asking);
  }

  /* Where the server is away, or late, nothing has changed: the page says so. */
  async ask() {
    if (document.hidden) return;
    const said = await fetch(this.address, { signal: AbortSignal.timeout(PAUSE) })
      .then((answer) => answer.json()).then((read) => JSON.stringify(read)).catch(() => this.told);
    if (said === this.told || leaving()) return;
    this.told = said;
    this.tell(said);
  }
}

export default mounted(Board);
