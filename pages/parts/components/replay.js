/* Plays finished runs again: nothing is seen, the parts of the page that follow them hear their events once more. See
   `replay` of elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { playAgain } from "./runs.js";

class Replay {
  constructor(parent) {
    this.place = added(parent, "span", { hidden: true });
  }

  show({ data, setTriggerValue }) {
    if (data.turn === this.turn) return;
    this.turn = data.turn;
    playAgain(data.runs, data.seconds, () => setTriggerValue("ended", data.turn));
  }
}

export default mounted(Replay);
