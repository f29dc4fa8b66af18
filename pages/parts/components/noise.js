/* The sum of a batch's clipped gradients as an image, without and with noise, which follows the slider of sigma.
   See step.py for what `data` holds. */
import { added, mounted } from "./mounted.js";

const MIDDLE = 127.5; // grey, which stands for 0
const SPREAD = 2.5; // standard deviations of the noise that find room between grey and black

class Noise {
  constructor(parent) {
    this.button = added(parent, "button", { type: "button", className: "noise" });
    this.more = added(parent, "div", { className: "noise-more", popover: "auto" });
    this.button.onclick = () => this.more.togglePopover({ source: this.button });
    this.pictures = [0, 1].map(() => added(this.button, "canvas"));
    this.enlarged = [0, 1].map(() => added(added(this.more, "figure"), "canvas"));
    this.captions = this.enlarged.map((canvas) => added(canvas.parentElement, "figcaption"));
    this.words = added(this.more, "p");
    this.moved = ({ detail }) => detail.field === this.data.field && this.draw(Number(detail.text));
    document.addEventListener("slider-moved", this.moved);
  }

  show({ data }) {
    this.data = data;
    [this.sum, this.noise] = [data.sum, data.noise].map(numbers);
    this.most = Math.max(...this.sum.map(Math.abs)); // black
    this.captions[0].textContent = "without noise";
    this.words.textContent = data.words;
    this.draw(data.sigma);
  }

  close() {
    document.removeEventListener("slider-moved", this.moved);
    this.button.remove();
    this.more.remove();
  }

  draw(sigma) {
    const std = sigma * this.data.clip_norm;
    const noisy = this.sum.map((value, place) => value + std * this.noise[place]);
    for (const canvases of [this.pictures, this.enlarged]) {
      paint(canvases[0], this.sum, this.data.shape, this.most);
      paint(canvases[1], noisy, this.data.shape, Math.max(this.most, SPREAD * std));
    }
    this.captions[1].textContent = `with noise, sigma = ${sigma}`;
    this.button.ariaLabel = `See the noise of sigma = ${sigma} on the gradient of a batch`;
    this.button.title = this.button.ariaLabel;
  }
}

export default mounted(Noise);

const numbers = (text) => new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

/* Values as greys, those beyond the largest as black or white. */
function paint(canvas, values, [height, width], most) {
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d"), picture = context.createImageData(width, height);
  values.forEach((value, place) => {
    const grey = MIDDLE * (1 - value / most);
    picture.data.set([grey, grey, grey, 255], 4 * place); // bytes are clamped
  });
  context.putImageData(picture, 0, 0);
}
