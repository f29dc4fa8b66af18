/* The area in which an accountant claims too much privacy is hatched while a reader points at the accountant's label,
   in the chart or in its key, or at the word for the mark of its verdict below the chart: with a mouse, a key or a finger. */
import { added } from "./mounted.js";
import { LINE, TARGET } from "./figure_growth.js";

const MARK = "[data-claims]"; // of an accountant, or of all
const SHIFT = 6; // pixels from a plot to its labels

export class Hatching {
  /* `turned` hears when other areas are to be hatched. */
  constructor(box, turned) {
    this.box = box;
    this.place = added(box, "div", { className: "live-claims" });
    this.turned = turned;
    this.areas = [];
    this.heard = new AbortController();
    // A finger's last place counts until it touches another, as a mouse's does.
    this.hear("pointerover", (event) => this.point("hovered", event));
    this.hear("mouseleave", () => this.point("hovered"), document.documentElement);
    this.hear("focusin", (event) => this.point("focused", event.target.matches(":focus-visible") ? event : undefined));
    this.hear("focusout", () => this.point("focused"));
  }

  hear(event, listener, place = document) {
    place.addEventListener(event, listener, { signal: this.heard.signal });
  }

  close() {
    this.heard.abort();
  }

  point(way, event) {
    const mark = event?.target.closest?.(MARK);
    const foreign = mark?.closest(".live-chart") && !this.box.contains(mark);
    const now = foreign ? undefined : mark?.dataset.claims;
    if (now === this[way]) return;
    this[way] = now;
    if (this.areas.length) this.turned();
  }

  /* The labels of the accountants whose areas are hatched now. */
  names() {
    const ways = [this.hovered, this.focused];
    return this.areas.map(({ claims }) => claims).filter((claims) => ways.includes(claims) || ways.includes(""));
  }

  /* Show in the figure's traces what is pointed at. */
  hatch(traces) {
    const hatched = traces.filter(({ meta }) => meta?.claims);
    this.areas = hatched.map(({ meta }) => meta);
    const names = this.names();
    for (const trace of hatched) trace.visible = names.includes(trace.meta.claims);
  }

  /* Lay a mark over each label that has an area. */
  lay({ annotations = [], font }, { _fullLayout: { _size: size, yaxis } }) {
    const labels = annotations.filter((note) => note.at !== undefined && this.has(note.name));
    const own = labels.map(({ name }) => name).join("\n");
    if (own !== this.own) this.place.replaceChildren(...labels.map(({ name }) => marked(document.createElement("span"), name)));
    this.own = own;
    const [low, high] = yaxis.range;
    const tall = LINE * TARGET * (font?.size ?? 14);
    labels.forEach(({ y }, place) => {
      const middle = yaxis._offset + (yaxis._length * (high - y)) / (high - low);
      const left = size.l + size.w + SHIFT;
      Object.assign(this.place.children[place].style,
        { left: `${left}px`, top: `${middle - tall / 2}px`, width: `${size.r - SHIFT}px`, height: `${tall}px` });
    });
  }

  has(name) {
    return this.areas.some(({ claims }) => claims === name);
  }
}

/* An element as the mark of an accountant. */
export function marked(element, claims) {
  Object.assign(element, { role: "button", tabIndex: 0, title: `Hatched where ${claims} claims too much privacy` });
  element.dataset.claims = claims;
  return element;
}
