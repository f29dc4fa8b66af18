/* How a figure grows with the events of a run, and where the labels at the ends of its lines go. */

const MAX_POINTS = 800; // points of one line; past it every second one goes
export const LINE = 19 / 14; // from one line of a label to the next, of the size of its type

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u4: Uint32Array,
  u2: Uint16Array, u1: Uint8Array };

/* The figure that Python wrote, its numbers as plain arrays that can grow. */
export function read(text) {
  const figure = JSON.parse(text);
  const { hovermode, xaxis } = figure.layout;
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
  if (!note) {
    note = { name, x: 1, xref: "paper", xanchor: "left", xshift: 6, yanchor: "middle", showarrow: false, align: "left" };
    note.yref = trace.yaxis ?? "y";
    annotations.push(note);
  }
  note.text = text.replace("{}", y.toFixed(digits));
  note.at = y;
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

/* The layout with the labels right of each axis moved apart, as little as can be. */
export function spread(layout, plot) {
  const notes = (layout.annotations ?? []).map((each) => ({ ...each }));
  const { t, b } = margins(layout);
  for (const { name, share, group, tall } of beside(layout, notes)) {
    const range = layout[name]?.range ?? plot._fullLayout?.[name]?.range;
    const gap = (LINE * tall) / ((layout.height - t - b) * share);
    if (!range) continue;
    const lines = Math.max(...group.map((each) => each.text.split("<br>").length));
    const step = (range[1] - range[0]) * gap; // a second line reaches further down than a line alone
    apart(group, [range[0] + (step * (lines - 1)) / (2 * lines), range[1]], step, layout[name]?.type === "log");
  }
  notes.forEach((each) => delete each.at);
  return { ...layout, annotations: notes };
}

/* The labels at the right of each axis: how high the highest of them is, and the axis's share of the plots' height. */
export function beside(layout, notes = layout.annotations ?? []) {
  const aside = notes.filter((each) => each.xref === "paper" && each.x === 1 && each.yref !== "paper");
  return [...new Set(aside.map((each) => each.yref ?? "y"))].map((yref) => {
    const group = aside.filter((each) => (each.yref ?? "y") === yref);
    const name = yref.replace("y", "yaxis");
    const [foot, top] = layout[name]?.domain ?? [0, 1];
    const tall = Math.max(...group.map((each) => (each.font?.size ?? 14) * each.text.split("<br>").length));
    return { name, group, tall, share: top - foot };
  });
}

export function margins(layout) {
  return { t: 16, b: 48, ...layout.margin };
}

function apart(group, [low, high], gap, log) {
  const wanted = (each) => (each.at === undefined ? each.y : log ? Math.log10(each.at) : each.at);
  const sorted = group.map((note) => ({ note, y: Math.min(Math.max(wanted(note), low), high) })).sort((a, b) => a.y - b.y);
  for (let i = sorted.length - 2; i >= 0; i--) sorted[i].y = Math.min(sorted[i].y, sorted[i + 1].y - gap);
  for (let i = 0; i < sorted.length; i++) sorted[i].y = Math.max(sorted[i].y, i ? sorted[i - 1].y + gap : low);
  for (const { note, y } of sorted) note.y = y;
}
