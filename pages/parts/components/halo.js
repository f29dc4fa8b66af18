/* A halo of two seconds around what a lesson points at. `data` has `place`, the step of the lesson, and the `targets`:
   for each the selectors of which the first that can be seen is meant. A step points once, however often it is drawn. */
import { added, mounted } from "./mounted.js";

const SECONDS = 2;
const PATIENCE = 10; // seconds in which a target may be drawn
const GLANCE = 100; // milliseconds between two looks for it
const AROUND = 4; // pixels between a target and its halo

const seen = (selectors) => selectors.map((each) => document.querySelector(each)).find((each) => each?.checkVisibility());

class Halo {
  constructor(parent) {
    added(parent, "span", { hidden: true }); // what it draws lies over the page: this says that it has come
  }

  show({ data }) {
    if (data.place === this.place) return;
    this.close();
    this.place = data.place;
    for (const selectors of data.targets) this.await(selectors, performance.now(), data.place);
  }

  close() {
    document.querySelectorAll(".halo").forEach((each) => each.remove());
    this.place = undefined;
  }

  await(selectors, since, place) {
    if (place !== this.place) return;
    if (seen(selectors)) return this.surround(selectors);
    if (performance.now() - since < 1000 * PATIENCE) setTimeout(() => this.await(selectors, since, place), GLANCE);
  }

  // Fixed over the page, and following it: no column cuts it off, and a target may be drawn anew meanwhile.
  surround(selectors) {
    const halo = added(document.body, "div", { className: "halo", ariaHidden: "true" });
    const until = performance.now() + 1000 * SECONDS;
    const follow = () => {
      if (performance.now() > until || !halo.isConnected) return halo.remove();
      const target = seen(selectors);
      halo.hidden = !target;
      if (!target) return requestAnimationFrame(follow);
      const { left, top, width, height } = target.getBoundingClientRect();
      const [x, y] = [Math.max(left - AROUND, 1), top - AROUND];
      const right = Math.min(left + width + AROUND, document.documentElement.clientWidth - 1);
      Object.assign(halo.style, {
        left: `${x}px`, top: `${y}px`, width: `${right - x}px`, height: `${height + 2 * AROUND}px`, boxSizing: "border-box",
      });
      requestAnimationFrame(follow);
    };
    follow();
  }
}

export default mounted(Halo);
