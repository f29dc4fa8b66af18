/* A hundred people, the ruler of epsilon, and the trade-off curve. */

const COLUMNS = 10;
const BY_CHANCE = 50; // right guesses of a coin
const RULER = { wide: 420, left: 8, high: 18, top: 16 };
const BEYOND = 0.5; // decades that the last range of the ruler takes
const SQUARE = { left: 44, top: 8, side: 200 }; // of the trade-off curve
const DENSE = 60; // points of the lower curve

function drawPeople(right) {
  const groups = [["var(--grey)", 0, BY_CHANCE, 1], [head.attack, BY_CHANCE, right, 1], ["var(--grey)", Math.max(right, BY_CHANCE), 100, 0.35]];
  byId("people").innerHTML = groups.map((group) => peopleOf(...group)).join("");
  byId("people").setAttribute("aria-label", `100 people: 50 are guessed right by chance, at most ${right} by a spy.`);
}

/* People as two strokes with round ends: a head, and a thicker body. */
function peopleOf(color, first, last, opacity) {
  let heads = "";
  let bodies = "";
  for (let k = first; k < last; k += 1) {
    const x = 10 * (k % COLUMNS) + 5;
    const y = 13 * Math.floor(k / COLUMNS);
    heads += `M${x} ${y + 2}v0`;
    bodies += `M${x} ${y + 7}v1`;
  }
  const strokes = element("path", { d: heads, "stroke-width": 3 }) + element("path", { d: bodies, "stroke-width": 5 });
  return element("g", { stroke: color, opacity, "stroke-linecap": "round" }, strokes);
}

/* The range of the ruler in which the bound lies; a limit belongs to the range below it. */
function rangeOf(epsilon) {
  return head.ruler.find((range) => range.most === null || epsilon <= range.most);
}

function drawRuler(epsilon) {
  const own = rangeOf(epsilon);
  const [least, most] = head.scale;
  const decades = Math.log10(most / least) + BEYOND;
  const x = (value) => {
    const power = Math.min(Math.max(Math.log10(value / least), 0), decades);
    return RULER.left + ((RULER.wide - 2 * RULER.left) * power) / decades;
  };
  let drawn = "";
  let below = least;
  for (const range of head.ruler) {
    const above = range.most ?? Infinity;
    drawn += rangeDrawn(range, x(below), x(above), range === own);
    if (range.most) drawn += element("text", { x: x(above), y: 54, "text-anchor": "middle" }, above);
    below = above;
  }
  const mark = x(epsilon);
  drawn += element("path", { d: `M${mark} ${RULER.top + 3}l-7 -13h14z`, fill: "var(--primary)" });
  byId("ruler").setAttribute("viewBox", `0 0 ${RULER.wide} 58`);
  byId("ruler").setAttribute("aria-label", `Epsilon on a ruler: ${own.name}.`);
  byId("ruler").innerHTML = drawn;
  byId("reason").textContent = own.reason;
}

function rangeDrawn(range, left, right, here) {
  const area = { x: left + 1, y: RULER.top, width: right - left - 2, height: RULER.high + 4, rx: 3 };
  const fill = here ? { fill: "var(--primary)", "fill-opacity": 0.3 } : { fill: "var(--grey)", "fill-opacity": 0.2 };
  const word = { x: (left + right) / 2, y: RULER.top + 16, "text-anchor": "middle", "font-weight": here ? 700 : 400 };
  const inside = element("rect", { ...area, ...fill }) + element("text", word, range.name);
  return element("g", {}, `${element("title", {}, range.reason)}${inside}`);
}

/* The least type II error that is proven at a rate of false accusations. */
function lowerErrorAt(alpha) {
  let least = 0;
  head.slopes.forEach((epsilon, k) => {
    const rest = 1 - planeAt(head.tangents + k) / head.parts.delta;
    const steep = rest - Math.exp(epsilon) * alpha;
    const flat = Math.exp(-epsilon) * (rest - alpha);
    least = Math.max(least, steep, flat);
  });
  return least;
}

function drawTradeoff() {
  const { left, top, side } = SQUARE;
  const point = ([alpha, beta]) => `${(left + side * alpha).toFixed(1)},${(top + side * (1 - beta)).toFixed(1)}`;
  const lower = [];
  for (let k = 0; k <= DENSE; k += 1) {
    const alpha = (k / DENSE) ** 2; // dense where the curve is steep
    lower.push([alpha, lowerErrorAt(alpha)]);
  }
  const corners = head.alphas.map((alpha, k) => [alpha, planeAt(head.corners + k) / head.parts.beta]);
  const upper = [[0, 1], ...corners, [1, 0]];
  const area = [...lower, ...upper.reverse()].map(point).join(" ");
  const edge = { fill: "none", stroke: "var(--grey)" };
  const title = "What a spy's two errors can be: at least the lower line, and the best attack is between the two.";
  byId("tradeoff").innerHTML = element("polygon", { points: area, fill: "var(--grey)", "fill-opacity": 0.35 })
    + element("polyline", { points: lower.map(point).join(" "), ...edge, "stroke-width": 2 })
    + element("path", { d: `M${left} ${top}V${top + side}H${left + side}`, ...edge })
    + element("path", { d: `M${left} ${top}l${side} ${side}`, ...edge, "stroke-dasharray": "3 4" })
    + element("text", { x: left + side / 2, y: top + side + 30, "text-anchor": "middle" }, "innocent people accused")
    + element("text", { x: -top - side / 2, y: 14, transform: "rotate(-90)", "text-anchor": "middle" }, "members missed")
    + element("text", { x: left, y: top + side + 15, "text-anchor": "middle" }, "0 %")
    + element("text", { x: left + side, y: top + side + 15, "text-anchor": "end" }, "100 %");
  byId("tradeoff").setAttribute("aria-label", title);
}
