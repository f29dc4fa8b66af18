/* Epsilon by epoch, on a logarithmic axis that never moves. */

const DASHES = { solid: "", dash: "9 9", dot: "3 3", dashdot: "9 3 3 3", longdash: "16 9", longdashdot: "16 4 3 4" };
const LABEL_GAP = 24; // pixels between two labels
const NARROW = 620; // a narrower chart has its labels in a list below it
const LABELS = 292; // pixels beside a wider one
const MARGIN = { left: 44, right: 14, top: 8, bottom: 34 };

const UNSAFE = "claims_less"; // the verdict on a number below the proven lower bound
const PLAIN = "\uFE0E"; // after a sign that phones may draw as a picture

/* An element of SVG as text. */
function element(name, attributes, inside = "") {
  const listed = Object.entries(attributes).map(([key, value]) => `${key}="${value}"`);
  return `<${name} ${listed.join(" ")}>${inside}</${name}>`;
}

/* Where things stand on the chart. */
function frameOf(box) {
  const wide = box.clientWidth;
  const high = box.clientHeight;
  const labelled = wide >= NARROW;
  const left = MARGIN.left;
  const right = wide - (labelled ? LABELS : MARGIN.right);
  const bottom = high - MARGIN.bottom;
  const [least, most] = head.scale.map(Math.log10);
  const end = stops.epochs[place.epochs];
  const x = (epochs) => left + ((right - left) * epochs) / end;
  const y = (epsilon) => {
    const power = Math.min(Math.max(Math.log10(epsilon), least), most);
    return MARGIN.top + ((bottom - MARGIN.top) * (most - power)) / (most - least);
  };
  return { left, right, bottom, labelled, end, x, y };
}

function drawChart() {
  const box = byId("chart");
  const frame = frameOf(box);
  const areas = areasOf(frame);
  const ends = others.map((look) => endOf(look, frame, areas)).sort((one, other) => other.value - one.value || 0);
  let drawn = PATTERN + axes(frame) + bandOf(frame) + areas.map(areaDrawn).join("");
  for (const look of others) drawn += lineOf(look, frame);
  drawn += rangeWords(frame);
  if (frame.labelled) drawn += labelsOf(ends, frame);
  layMarks(areas, frame.labelled ? ends : [], frame);
  box.innerHTML = drawn;
  box.setAttribute("aria-label", `Epsilon by epoch: ${ends.map((end) => end.text).join("; ")}.`);
  byId("ends").innerHTML = frame.labelled ? "" : ends.map((end) => listed(end, areas)).join("");
  hatch();
}

function axes({ left, right, bottom, end, x, y }) {
  let drawn = "";
  for (const tick of head.ticks) {
    drawn += element("path", { d: `M${left} ${y(tick)}H${right}`, stroke: "var(--faint)" });
    drawn += element("text", { x: left - 6, y: y(tick) + 5, "text-anchor": "end" }, tick);
  }
  for (const share of [0, 0.5, 1]) {
    const epochs = Number((end * share).toPrecision(3));
    drawn += element("text", { x: x(end * share), y: bottom + 20, "text-anchor": "middle" }, epochs);
  }
  return drawn + element("text", { x: x(end / 4), y: bottom + 20, "text-anchor": "middle" }, "epoch");
}

/* The words of the ruler, each below the limit of its range. */
function rangeWords({ left, y }) {
  const ranges = head.ruler.filter((range) => range.most !== null);
  const words = ranges.map((range) => element("text", { x: left + 6, y: y(range.most) + 15, class: "range" }, range.name));
  return words.join("");
}

/* The points of a curve up to the chosen epochs; a gap where there is no number. */
function pointsOf(plane, frame) {
  const points = [];
  for (let epochs = 0; epochs <= place.epochs; epochs += 1) {
    const value = valueOf(at(plane, { epochs }));
    if (!Number.isFinite(value)) continue;
    points.push(`${frame.x(stops.epochs[epochs]).toFixed(1)},${frame.y(value).toFixed(1)}`);
  }
  return points;
}

function bandOf(frame) {
  const outline = [...pointsOf("lower", frame), ...pointsOf("upper", frame).reverse()];
  return element("polygon", { points: outline.join(" "), fill: "var(--grey)", "fill-opacity": 0.35 });
}

function lineOf(look, frame) {
  const points = pointsOf(look.plane, frame);
  const width = look.certified ? 2.4 : 1.6;
  const dots = points.map((point) => {
    const [cx, cy] = point.split(",");
    return element("circle", { cx, cy, r: width, fill: look.color });
  });
  const pen = { fill: "none", stroke: look.color, "stroke-width": width };
  const dash = DASHES[look.dash] ?? look.dash;
  return element("polyline", { points: points.join(" "), ...pen, "stroke-dasharray": dash }) + dots.join("");
}

/* The label at the end of a curve: value with the mark of its kind, sign of its verdict behind that of earlier claims of too
   much privacy, name. */
function endOf(look, frame, areas) {
  const value = valueOf(at(look.plane));
  const worth = worthOf(look);
  const earlier = worth !== UNSAFE && areas.some((area) => area.look === look);
  const worths = earlier ? [UNSAFE, worth] : [worth];
  const sign = worths.map((each) => head.signs[each][0]).join("→");
  const drawn = worths.map(signDrawn).join("→");
  const beyond = arrowOf(value);
  const number = marked(look);
  const html = `${number} ${drawn}${beyond} ${look.label}`;
  return { look, value, y: frame.y(value), text: `${number} ${sign}${beyond} ${look.label}`, html: frame.labelled ? html : inHtml(html) };
}

const inHtml = (label) => label.replaceAll("<tspan", "<b").replaceAll("</tspan>", "</b>");

function signDrawn(worth) {
  const [sign, color] = head.signs[worth];
  return element("tspan", { fill: color, style: `color:${color}`, "font-weight": 700 }, `${sign}${PLAIN}`);
}

/* An arrow for a number beyond an end of the axis. */
function arrowOf(value) {
  const [least, most] = head.scale;
  if (value > most) return " ↑";
  return value < least ? " ↓" : "";
}

function labelsOf(ends, { left, right, bottom }) {
  const placed = spread(ends.map((end) => end.y), LABEL_GAP, MARGIN.top + 6, bottom);
  const labels = ends.map((end, k) => {
    end.top = placed[k] - LABEL_GAP / 2;
    const square = element("tspan", { fill: end.look.color }, "■");
    return element("text", { x: right + 10, y: (placed[k] + 5).toFixed(1) }, `${square} ${end.html}`);
  });
  return labels.join("");
}

/* A label in the list below a narrow chart. */
function listed({ look, html }, areas) {
  const mark = areas.some((area) => area.look === look) ? markOf(look) : "";
  return `<li><span ${mark}>${key(look)} ${html}</span></li>`;
}

const key = (look) => `<b aria-hidden="true" style="color:${look.color}">■</b>`;

/* Heights moved apart by at least `gap`, as little as can be, within [low, high]. */
function spread(heights, gap, low, high) {
  const order = heights.map((_, k) => k).sort((one, other) => heights[one] - heights[other]);
  const placed = order.map((k) => Math.min(Math.max(heights[k], low), high));
  for (let k = placed.length - 2; k >= 0; k -= 1) placed[k] = Math.min(placed[k], placed[k + 1] - gap);
  for (let k = 0; k < placed.length; k += 1) {
    const least = k === 0 ? low : placed[k - 1] + gap;
    placed[k] = Math.max(placed[k], least);
  }
  const moved = [];
  order.forEach((k, rank) => { moved[k] = placed[rank]; });
  return moved;
}

/* The numbers at the stop of the epochs that is nearest to the pointer. */
function readOut(event) {
  const box = byId("chart");
  const { left, right, end } = frameOf(box);
  const across = (event.clientX - box.getBoundingClientRect().left - left) / (right - left);
  let nearest = 0;
  for (let epochs = 0; epochs <= place.epochs; epochs += 1) {
    const away = Math.abs(stops.epochs[epochs] - across * end);
    if (away < Math.abs(stops.epochs[nearest] - across * end)) nearest = epochs;
  }
  const numbers = others.map((look) => `${look.label} ${marked(look, { epochs: nearest })}`);
  byId("readout").textContent = `After ${counted(stops.epochs[nearest], "epoch")}: ${numbers.join(", ")}.`;
}
