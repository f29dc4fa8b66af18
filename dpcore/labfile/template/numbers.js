/* The numbers of the file: read, looked up at a stop, and written as dpcore writes them. */

const byId = (id) => document.getElementById(id);
const head = JSON.parse(byId("head").textContent);
const { stops, words, others } = head;
const INFINITE = 65535; // the code of a number that is none
const MANTISSAS = 900; // of a code, in each decade
const LEAST_PLACE = -20; // the decade of the smallest codes
const shape = { batch: stops.batch.length, sigma: stops.sigma.length, epochs: stops.epochs.length };
const cells = shape.batch * shape.sigma * shape.epochs;
const place = { ...head.start }; // of each slider
const numberOf = Object.fromEntries(head.names.map((name, number) => [name, number]));
let planes; // the numbers, one plane after the other: by batch, sigma and epochs
let apart; // texts of more than three digits, by plane and cell

async function read() {
  const packed = Uint8Array.from(atob(byId("numbers").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = head.planes * cells;
  apart = JSON.parse(new TextDecoder().decode(bytes.subarray(2 * count)));
  planes = new Uint16Array(count);
  for (let k = 0; k < count; k += 1) planes[k] = bytes[k] | (bytes[count + k] << 8);
  undoDifferences(shape.epochs, shape.sigma * shape.epochs);
}

/* Sums along sigma, modulo 2^16 as the array's elements are. */
function undoDifferences(row, sheet) {
  for (let first = 0; first < planes.length; first += sheet) {
    for (let k = first + row; k < first + sheet; k += 1) planes[k] += planes[k - row];
  }
}

/* The cell of the stop on screen, or of another place of some sliders. */
function cellAt(other = {}) {
  const { batch, sigma, epochs } = { ...place, ...other };
  return (batch * shape.sigma + sigma) * shape.epochs + epochs;
}

const planeAt = (plane, other) => planes[plane * cells + cellAt(other)];
const at = (name, other) => planeAt(numberOf[name], other);

/* The number of a code. */
function valueOf(code) {
  if (code === 0) return 0;
  if (code === INFINITE) return Infinity;
  const decade = Math.floor((code - 1) / MANTISSAS);
  return Number(`${((code - 1) % MANTISSAS) + 100}e${decade + LEAST_PLACE - 2}`);
}

/* The text of a code: a bound as `outward` of dpcore writes it, another number as `short`. */
function textOf(code, bound) {
  if (code === INFINITE) return "infinite";
  if (code === 0) return bound ? "0" : "0.00";
  const digits = String(((code - 1) % MANTISSAS) + 100);
  const decade = Math.floor((code - 1) / MANTISSAS) + LEAST_PLACE;
  if (decade >= 6 || decade < (bound ? -6 : -4)) return inPowers(digits, decade, bound);
  if (decade < 0) return `0.${"0".repeat(-decade - 1)}${digits}`;
  if (decade < 2) return `${digits.slice(0, decade + 1)}.${digits.slice(decade + 1)}`;
  const whole = digits + "0".repeat(decade - 2);
  return bound ? whole : Number(whole).toLocaleString("en");
}

function inPowers(digits, decade, bound) {
  const number = `${digits[0]}.${digits.slice(1)}`;
  if (bound) return `${number.replace(/\.?0+$/, "")}e${decade}`;
  const small = decade < 0 && decade > -10; // Python writes two digits there
  return `${number}e${small ? `-0${-decade}` : decade}`;
}

/* The text of a code at a stop. */
function written(name, bound, other) {
  return apart[`${numberOf[name]} ${cellAt(other)}`] ?? textOf(at(name, other), bound);
}

/* An epsilon with the mark of its kind, as dpcore's `marked`. */
function marked(look, other) {
  if (at(look.plane, other) !== INFINITE) return `${look.mark} ${written(look.plane, look.bound, other)}`;
  if (look.certified && at("lower", other) > 0) return `≥ ${written("lower", true, other)}`;
  return "n/a";
}

/* The verdict on an accountant: its id. */
function worthOf(look) {
  return head.worths[(at("worths") >> look.shift) & 7];
}

/* A text of words.toml with its braces filled in. */
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (braces, name) => values[name]);
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : `${noun}s`}`;

/* Steps of an expected batch, rounded up as in training. */
function stepsAt(epochs = place.epochs) {
  const steps = (stops.epochs[epochs] * head.n) / stops.batch[place.batch];
  return Math.ceil(steps - 1e-9);
}
