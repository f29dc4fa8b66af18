/* Test images with what networks answer for each of them, as their runs go on. See elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

const ALPHA = 3; // of a pixel's four bytes

class Answers {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.list = added(parent, "div", { className: "answers", role: "group" });
    this.more = added(parent, "div", { className: "answers-more", popover: "auto" });
    this.opened = -1; // the image whose probabilities are shown
    this.more.addEventListener("toggle", ({ newState }) => { if (newState === "closed") this.opened = -1; });
  }

  show({ data }) {
    this.data = data;
    this.runs = data.runs.map((each) => ({ ...each, seen: each.after }));
    this.following.attend(this.runs.filter((each) => each.active));
    this.list.ariaLabel = data.label;
    const placed = this.list.isConnected ? this.list : document.body; // Streamlit may draw first and place then
    const ink = getComputedStyle(placed).color; // of the theme, which may change
    if (this.images !== data.images || this.ink !== ink) this.build(ink);
    this.draw();
  }

  close() {
    this.following.attend([]);
    this.list.remove();
    this.more.remove();
  }

  build(ink) {
    Object.assign(this, { images: this.data.images, ink });
    const bytes = Uint8Array.from(atob(this.images), (letter) => letter.charCodeAt(0));
    const size = bytes.length / this.data.labels.length;
    this.list.replaceChildren();
    this.buttons = this.data.labels.map((label, place) => {
      const button = added(this.list, "button", { type: "button", onclick: () => this.open(place) });
      paint(added(button, "canvas"), bytes.subarray(place * size, (place + 1) * size), this.data.shape, ink);
      return { button, text: added(button, "span", { ariaHidden: "true" }), label };
    });
  }

  open(place) {
    this.opened = place;
    this.more.showPopover({ source: this.buttons[place].button });
    this.draw();
  }

  draw() {
    for (const run of this.runs) for (const body of this.following.news(run)) run.answers = body.answers ?? run.answers;
    const { classes, detail } = this.data;
    const answers = this.runs[detail]?.answers;
    this.buttons.forEach(({ button, text, label }, place) => {
      const answer = answers ? best(answers[place]) : -1;
      const right = answer === label;
      text.textContent = answer < 0 ? "\u00a0" : shortest(classes[answer], right);
      text.className = answer < 0 || right ? "" : "wrong";
      const said = answer < 0 ? "" : `: ${classes[answer]}, ${percent(answers[place][answer])}, ${right ? "right" : "wrong"}`;
      button.ariaLabel = `${classes[label]}${said}`;
      button.title = button.ariaLabel;
    });
    if (this.opened >= 0) this.tell(this.opened);
  }

  /* The probability that each run gives each class, for one image. */
  tell(place) {
    const { classes, labels, hint } = this.data;
    const known = this.runs.filter((each) => each.answers);
    this.more.replaceChildren();
    added(this.more, "strong", { textContent: `This is ${classes[labels[place]]}. The networks say:` });
    if (!known.length) added(this.more, "p", { textContent: hint });
    for (const { label, color, answers } of known) {
      const table = added(this.more, "table");
      added(table, "caption", { textContent: label });
      answers[place].forEach((share, answer) => {
        const row = added(table, "tr", { className: answer === labels[place] ? "right" : "" });
        added(row, "th", { scope: "row", textContent: classes[answer] });
        const bar = added(added(row, "td", { className: "bar-place" }), "i");
        Object.assign(bar.style, { width: `${100 * share}%`, background: color });
        added(row, "td", { textContent: percent(share) });
      });
    }
  }
}

export default mounted(Answers);

const best = (shares) => shares.indexOf(Math.max(...shares));
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
const shortest = (name, right) => (name.length > 2 ? (right ? "✓" : "✕") : name);

/* An image in the colour of the text, or in its own colours. */
function paint(canvas, bytes, [channels, height, width], color) {
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d"), picture = context.createImageData(width, height);
  const ink = color.match(/\d+/g).map(Number);
  for (let i = 0; i < width * height; i++) {
    for (let k = 0; k < ALPHA; k++) picture.data[4 * i + k] = channels === 1 ? ink[k] : bytes[k * width * height + i];
    picture.data[4 * i + ALPHA] = channels === 1 ? bytes[i] : 255;
  }
  context.putImageData(picture, 0, 0);
}
