/* Test images with what networks answer for each of them, as their runs go on. `data` is what `show_answers` of lab.py
   says. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

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
    if (this.images !== data.images.join()) this.build();
    this.draw();
  }

  build() {
    this.images = this.data.images.join();
    this.list.replaceChildren();
    this.buttons = this.data.labels.map((label, place) => {
      const button = added(this.list, "button", { type: "button", onclick: () => this.open(place) });
      const picture = added(button, "i", { className: this.data.grey ? "ink" : "" });
      picture.style.setProperty("--image", `url(${this.data.images[place]})`);
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
