/* A text with marked values. A press on one that was not taken fills the field of its name, or opens a list of the fields
   that it may fill, and a press there fills one. See `show_text` of marked_text.py for `data`. */
import { added, mounted } from "./mounted.js";

const MARGIN = 60; // pixels of text above the first value

class ClaimText {
  constructor(parent) {
    this.text = added(parent, "p", { className: "read", tabIndex: 0, role: "region" });
    this.menu = added(parent, "div", { className: "claim-menu", popover: "auto", role: "dialog" });
    this.told = 0; // the number of the last press
    this.presses = []; // that the server may not have heard: of two messages it may hear the later one alone
  }

  show({ data, setTriggerValue }) {
    this.data = data;
    this.tell = setTriggerValue;
    this.presses = this.presses.filter(([number]) => number > data.heard);
    this.text.ariaLabel = data.label;
    const looks = data.parts.map((part) => JSON.stringify({ ...part, offers: Boolean(part.offers) }));
    if (this.of === data.of && looks.length === this.looks.length) this.change(looks);
    else this.begin(data.parts.map((_, place) => this.drawn(place)));
    this.of = data.of;
    this.looks = looks;
  }

  /* Draw a whole text, from its first value on. */
  begin(parts) {
    this.text.replaceChildren(...parts);
    const first = this.text.querySelector("mark, .asked");
    if (first) this.text.scrollTop = Math.max(0, first.offsetTop - this.text.offsetTop - MARGIN);
  }

  /* Draw what looks otherwise anew; the rest stays, so that an open list and the focus keep their place. */
  change(looks) {
    for (const [place, look] of looks.entries()) {
      if (look === this.looks[place]) continue;
      const before = this.text.childNodes[place];
      const focused = before.contains(document.activeElement);
      const after = this.drawn(place);
      before.replaceWith(after);
      if (focused) after.querySelector?.("button")?.focus({ preventScroll: true });
    }
  }

  drawn(place) {
    const part = this.data.parts[place];
    if (!part.field && !part.passed) return document.createTextNode(part.text);
    const whole = document.createElement("span");
    let kind = part.passed ? "s" : "mark";
    if (part.offers) kind = "button";
    const value = added(whole, kind, { textContent: part.text });
    if (part.why) value.title = part.why;
    if (part.offers) {
      Object.assign(value, { type: "button", ariaHasPopup: "dialog", className: part.passed ? "" : "set" });
      value.classList.toggle("asked", Boolean(part.field));
      value.dataset.start = part.start;
      value.onclick = () => this.pressed(value, this.data.parts[place]);
    }
    if (part.field) added(part.offers ? value : whole, "sub", { textContent: part.field });
    return whole;
  }

  /* A number under its name fills an empty field at once; a press on it after that asks. */
  pressed(button, part) {
    if (part.at_once) this.fill(part.start, part.offers[0][0]);
    else this.ask(button, part);
  }

  ask(button, { text, why, start, offers }) {
    this.menu.ariaLabel = `What is ${text}?`;
    this.menu.replaceChildren();
    added(this.menu, "p", { textContent: `${text}: ${why}. What is it?` });
    for (const [name, value] of offers) {
      const title = this.data.titles[name];
      const words = value === text.trim() ? title : `${title}: ${value}`;
      added(this.menu, "button", { type: "button", textContent: words, onclick: () => this.fill(start, name) });
    }
    this.menu.showPopover({ source: button });
    this.menu.querySelector("button").focus({ preventScroll: true });
  }

  fill(start, name) {
    this.told = Math.max(Date.now(), this.told + 1); // higher than that of a text that stood here before
    this.presses.push([this.told, this.data.of, start, name]);
    this.menu.hidePopover();
    this.tell("filled", this.presses);
  }
}

export default mounted(ClaimText);
