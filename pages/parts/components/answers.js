/* Test images, and under them what networks answer for each, as their runs go on. `data` is what `show_answers` of hero.py
   says. One stop of the keyboard: arrows go from image to image, Enter opens one. */
import { added, mounted } from "./mounted.js";
import { Following } from "./runs.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

class Answers {
  constructor(parent) {
    this.following = new Following(() => this.draw());
    this.list = added(parent, "div", { className: "answers", role: "listbox", tabIndex: 0 });
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.more = added(parent, "div", { className: "answers-more", popover: "auto" });
    this.opened = -1; // the image whose probabilities are shown
    this.at = 0; // the image that the keyboard has reached
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
    this.heads = ["", ...this.data.rows].map(() => Object.assign(document.createElement("b"), { ariaHidden: "true" }));
    this.list.replaceChildren(...this.heads);
    this.options = this.data.labels.map((label, place) => {
      const option = added(this.list, "div", { role: "option", id: `answer-${place}`, onclick: () => this.open(place) });
      option.style.setProperty("--place", place + 2); // the first column has the names of the rows
      const picture = added(option, "i", { className: this.data.grey ? "ink" : "" });
      picture.style.setProperty("--image", `url(${this.data.images[place]})`);
      const texts = this.data.rows.map(() => added(option, "span", { ariaHidden: "true" }));
      return { option, texts, label };
    });
  }

  press(event) {
    const step = STEPS[event.key];
    if (step) this.at = Math.min(Math.max(this.at + step, 0), this.options.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.open(this.at);
    else return;
    event.preventDefault();
    this.draw();
  }

  open(place) {
    this.at = this.opened = place;
    this.more.showPopover({ source: this.options[place].option });
    this.draw();
  }

  draw() {
    for (const run of this.runs) for (const body of this.following.news(run)) run.answers = body.answers ?? run.answers;
    const { classes, rows } = this.data;
    [this.data.caption, ...rows.map(({ name }) => name)].forEach((name, row) => { this.heads[row].textContent = name; });
    const answered = rows.some(({ run }) => run >= 0);
    for (const head of this.heads.slice(1)) head.style.visibility = answered ? "" : "hidden";
    this.options.forEach(({ option, texts, label }, place) => {
      const said = rows.map(({ run, name }, row) => {
        const shares = this.runs[run]?.answers?.[place];
        const answer = shares ? best(shares) : -1;
        const right = answer === label;
        texts[row].textContent = answer < 0 ? "\u00a0" : shortest(classes[answer], right);
        texts[row].className = answer < 0 || right ? "" : "wrong";
        return answer < 0 ? "" : `; ${name}: ${classes[answer]}, ${percent(shares[answer])}, ${right ? "right" : "wrong"}`;
      });
      option.ariaLabel = option.title = `${classes[label]}${said.join("")}`;
      option.ariaSelected = String(place === this.at);
    });
    this.list.setAttribute("aria-activedescendant", `answer-${this.at}`);
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
