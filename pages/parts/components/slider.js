/* One slider. See elements.py for what `data` holds. */
import { added, mounted } from "./mounted.js";

const GLANCE = 10; // milliseconds between two looks at whether the answer is drawn
const MAX_WAIT = 1000; // milliseconds to wait for an answer to be drawn before a later stop is sent
const SELDOM = 100; // milliseconds between two looks from then on
const REST = 120; // milliseconds without a move after which the page is asked for what a chart already shows

class Slider {
  constructor(parent) {
    this.sent = Date.now(); // the number of the last message, of which an earlier slider has sent none
    this.waiting = false; // until the answer to it is drawn
    this.held = false; // by a finger or a mouse
    this.box = added(parent, "div", { className: "stop-slider" });
    const ends = '<p><span></span><b aria-hidden="true"></b><span></span></p>'; // a screen reader hears the input's value
    this.box.innerHTML = `<input type="range" min="0" step="1">${ends}`;
    [this.input, this.left, this.now, this.right] = this.box.querySelectorAll("input, span, b");
    this.input.addEventListener("input", () => this.moved());
    this.input.addEventListener("pointerdown", (event) => this.take(event));
    this.input.addEventListener("lostpointercapture", () => this.letGo());
    this.input.addEventListener("blur", () => this.sendLatest()); // before what is pressed next
  }

  take(event) {
    this.held = true;
    this.input.setPointerCapture(event.pointerId);
    this.draw();
  }

  letGo() {
    this.held = false;
    this.draw();
    this.settle();
    this.sendLatest();
  }

  // What the server says holds, but not under a moving finger, and not before it has heard the last message.
  show({ data, setStateValue }) {
    this.send = (text, message) => setStateValue("moved", [text, message]); // every later request brings it along
    this.data = data;
    [this.left.textContent, this.right.textContent] = data.ends;
    this.input.setAttribute("aria-label", data.label);
    this.settle();
  }

  settle() {
    const unheard = this.sentAt && this.data.heard !== this.sent;
    if (this.held || this.pending !== undefined || unheard) return;
    this.stops = this.data.stops;
    this.input.max = this.stops.length - 1;
    this.input.value = Math.max(0, this.stops.indexOf(this.data.value));
    this.draw();
  }

  draw() {
    const at = Number(this.input.value);
    this.input.setAttribute("aria-valuetext", this.stops[at]);
    this.box.style.setProperty("--share", at / Math.max(1, this.stops.length - 1));
    this.now.textContent = this.held ? this.stops[at] : ""; // the field beside it is always a little behind
    const place = this.box.closest(`.st-key-${this.data.field}_place`); // where CSS draws what follows the slider
    place?.style.setProperty("--value", this.stops[at]);
    place?.style.setProperty("--said", `"${this.stops[at]}"`);
  }

  // A chart that draws the stop by itself says so; then the page is asked only once the hand rests.
  moved() {
    this.pending = this.stops[Number(this.input.value)];
    const detail = { field: this.data.field, text: this.pending };
    const drawn = !document.dispatchEvent(new CustomEvent("slider-moved", { detail, cancelable: true }));
    clearTimeout(this.resting);
    if (drawn) this.resting = setTimeout(() => this.sendLatest(), REST);
    else this.sendLatest();
    this.draw();
  }

  sendLatest() {
    if (this.waiting || this.pending === undefined) return;
    this.sent += 1;
    this.sentAt = performance.now();
    this.waiting = true;
    const [text, number] = [this.pending, this.sent];
    this.send(text, number);
    this.pending = undefined;
    setTimeout(() => this.look(number, text), GLANCE);
  }

  // Drawn is: the server has heard it, its run of the script is over, and the browser has painted since.
  look(number, text) {
    if (number !== this.sent) return;
    const heard = this.data.heard === number, drawn = heard && !running();
    if (drawn || !this.box.isConnected) return requestAnimationFrame(() => this.answered(number));
    const late = performance.now() >= this.sentAt + MAX_WAIT;
    if (late) this.waiting = false;
    if (late && this.pending !== undefined) return this.sendLatest();
    if (late && !heard && !running()) { // the message was lost: once more
      this.sentAt = performance.now();
      this.send(text, number);
    }
    setTimeout(() => this.look(number, text), late ? SELDOM : GLANCE);
  }

  answered(number) {
    if (number !== this.sent) return;
    this.waiting = false;
    if (this.pending === undefined) {
      this.settle();
      document.dispatchEvent(new CustomEvent("slider-settled", { detail: { field: this.data.field } }));
    }
    else this.sendLatest();
    this.draw();
  }
}

export default mounted(Slider);

function running() {
  return document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "running";
}
