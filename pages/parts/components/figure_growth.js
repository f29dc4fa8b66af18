/* How a figure grows with the events of a run, and where the labels at the ends of its lines go. */

const MAX_POINTS = 800; // points of one line; past it every second one goes
export const TARGET = 25 / 19; // lines that a mark takes at which one points
export const LINE = 19 / 14; // from one line of a label to the next, of the size of its type

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u4: Uint32Array,
  u2: Uint16Array, u1: Uint8Array };

/* The figure that Python wrote, its numbers as plain arrays that can grow. */
export function read(text) {
  const figure = JSON.parse(text);
  const { hovermode, xaxis, annotations, meta } = figure.layout;
  meta?.ends.forEach((at, place) => { annotations[place] = label(annotations[place], at); });
  const bounds = hovermode === "x unified" && xaxis?.title?.text?.includes("epsilon"); // over them stands x as it is written
  for (const trace of figure.data) {
    for (const name of ["x", "y"]) {
      const { dtype, bdata } = trace[name] ?? {};
      if (bdata === undefined) continue;
      const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
      trace[name] = [...new ARRAYS[dtype](bytes.buffer)];
    }
    trace.x ??= [];
    trace.y ??= [];
    if (bounds) trace.x = trace.x.map(upwards);
  }
  return figure;
}

/* A number rounded up to the four digits that are written of it: a bound of epsilon never reads smaller than it is. */
function upwards(value) {
  if (!value) return value;
  const near = Number(value.toPrecision(4));
  return near < value ? Number((near + 10 ** (Math.floor(Math.log10(value)) - 3)).toPrecision(4)) : near;
}

const TAKES = { growth: grown, mark: marked, strip: decided }; // by the kind of an item

/* Take news into the figure; whether they changed it. `item` is one of live_chart.py's Growth, Mark or Strip. */
export function advanced(figure, item, news) {
  return news.map((body) => TAKES[item.kind](figure, item, body)).some(Boolean);
}

function grown(figure, item, body) {
  if (body.event !== item.event) return false;
  const read = item.item === null ? body[item.y] : body[item.y]?.[item.item];
  if (read === null || read === undefined) return false;
  const trace = figure.data[item.trace];
  if (Array.isArray(read)) replaced(trace, read, item);
  else if (item.level) trace.y = trace.x.map(() => read * item.scale);
  else if (!added(trace, across(item, body), read * item.scale)) return false;
  if (item.label) labelled(figure, item, trace);
  return true;
}

/* All heights at once, as of bars, with the numbers written on them. */
function replaced(trace, values, item) {
  trace.y = values.map((each) => each * item.scale);
  if (trace.text) trace.text = trace.y.map((each) => each.toFixed(0));
}

function added(trace, x, y) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return false;
  trace.x.push(x);
  trace.y.push(y);
  if (trace.x.length > MAX_POINTS) {
    const last = trace.x.length - 1;
    for (const name of ["x", "y"]) trace[name] = trace[name].filter((_, i) => i % 2 === last % 2);
  }
  return true;
}

/* Where an event lies on the x axis: its own number, or what the table holds for the next step that it lists. */
function across(item, body) {
  if (!item.table) return body[item.x];
  const place = item.table.steps.findIndex((step) => step >= body.step);
  return place < 0 ? NaN : upwards(item.table.values[place]);
}

function labelled(figure, item, trace) {
  const { name, text, digits } = item.label;
  const y = trace.y[trace.y.length - 1];
  const annotations = (figure.layout.annotations ??= []);
  let note = annotations.find((each) => each.name === name);
  if (!note) annotations.push(note = label({ name, yref: trace.yaxis ?? "y" }, y));
  note.text = text.replace("{}", y.toFixed(digits));
  note.at = y;
}

/* A label of dpcore's `figure_of` at the end of its line, of this height, in place of one below the other. */
function label(note, at) {
  const place = { x: 1, xref: "paper", xanchor: "left", xshift: 6, yanchor: "middle", yshift: 0 };
  return { ...note, ...place, showarrow: false, align: "left", yref: note.yref.replace(" domain", ""), at };
}

/* A mark stands where the run is now: a vertical line, and points on curves, each on the curve's own next point. */
function marked(figure, item, body) {
  if (!["stepped", "evaluated"].includes(body.event)) return false;
  const x = across(item, body);
  if (!Number.isFinite(x)) return false;
  if (item.shape !== null) Object.assign(figure.layout.shapes[item.shape], { x0: x, x1: x });
  if (item.trace !== null) {
    const points = item.curves.map((curve) => figure.data[curve]).map(({ x: xs, y: ys }) => {
      const place = xs.findIndex((each) => each >= x - 1e-9);
      return place < 0 ? [null, null] : [xs[place], ys[place]];
    });
    figure.data[item.trace].x = points.map((each) => each[0]);
    figure.data[item.trace].y = points.map((each) => each[1]);
  }
  return true;
}

/* Bars for the proposals of a run, as dpcore's decisions_figure draws them: up where accepted, down where rejected. */
function decided(figure, item, body) {
  if (body.event !== "stepped" || !body.decisions) return false;
  item.decisions += body.decisions;
  const wide = Math.max(1, Math.ceil(item.decisions.length / item.most));
  const bars = item.decisions.match(new RegExp(`.{1,${wide}}`, "g"));
  const shares = bars.map((bar) => bar.replaceAll("r", "").length / bar.length);
  const x = bars.map((bar, place) => (place * wide + bar.length / 2) * item.q);
  const width = bars.map((bar) => bar.length * item.q);
  const rejected = shares.map((share) => 1 - share);
  Object.assign(figure.data[0], { x, width, y: shares, customdata: shares });
  Object.assign(figure.data[1], { x, width, y: rejected.map((share) => -share), customdata: rejected });
  return true;
}

/* The layout with the labels right of each plot moved apart, as little as can be, the highest first. Two `marked` ones
   have room for a finger each. */
export function spread(layout, plot, marked = () => false) {
  const placed = beside(layout).flatMap(({ name, share, group, size }) => {
    const { type, range = plot._fullLayout?.[name]?.range } = layout[name] ?? {};
    if (!range) return group.map((note) => ({ ...note, y: type === "log" ? Math.log10(note.at) : note.at }));
    const [low, high] = range;
    const { t, b } = margins(layout);
    const line = ((high - low) * LINE * size) / ((layout.height - t - b) * share);
    return apart(group, [low, high], line, type === "log", marked);
  });
  return { ...layout, annotations: [...placed, ...(layout.annotations ?? []).filter(({ at }) => at === undefined)] };
}

/* The labels right of each plot: the size of their type, how high they are together, and the plot's share of the height. */
export function beside(layout) {
  const aside = (layout.annotations ?? []).filter(({ at }) => at !== undefined);
  return [...new Set(aside.map(({ yref }) => yref))].map((yref) => {
    const group = aside.filter((each) => each.yref === yref);
    const name = yref.replace("y", "yaxis");
    const [foot, top] = layout[name]?.domain ?? [0, 1];
    const size = layout.font?.size ?? 14;
    const lines = group.reduce((sum, each) => sum + linesOf(each), 0);
    return { name, group, size, tall: LINE * size * lines, share: top - foot };
  });
}

const linesOf = ({ text }) => text.split("<br>").length;

export function margins(layout) {
  return { t: 16, b: 48, ...layout.margin };
}

function apart(group, [low, high], line, log, marked) {
  const step = (one, other) => {
    const gap = (line * (linesOf(one) + linesOf(other))) / 2;
    return marked(one.name) && marked(other.name) ? gap * TARGET : gap;
  };
  const height = ({ at }) => Math.min(Math.max(log ? Math.log10(at) : at, low), high);
  const placed = group.map((note) => ({ ...note, y: height(note) }))
    .sort((one, other) => one.y - other.y || one.at - other.at); // beyond the axis, too, the greater stands above
  for (let i = placed.length - 2; i >= 0; i--) placed[i].y = Math.min(placed[i].y, placed[i + 1].y - step(placed[i], placed[i + 1]));
  placed.forEach((note, i) => {
    // A second line reaches further down than a line alone.
    const least = i ? placed[i - 1].y + step(placed[i - 1], note) : low + (line * (linesOf(note) - 1)) / 2;
    note.y = Math.max(note.y, least);
  });
  return placed.reverse();
}
