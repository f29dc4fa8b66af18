/* The numbers of a figure as a table, for those who cannot see it or want to read them. */
import { added } from "./mounted.js";

const MAX_ROWS = 400; // of one line

export function table(figure, { alt }) {
  const { layout } = figure;
  const title = (axis) => layout[axis.replace(/[xy]/, "$&axis")]?.title?.text || axis;
  const heights = new Set(figure.data.filter(told).map((trace) => trace.yaxis ?? "y")); // a column for each axis
  const across = title("x").includes("epsilon") ? String : written; // a bound is not rounded to the nearest
  const made = document.createElement("table");
  made.createCaption().textContent = alt;
  const head = made.createTHead().insertRow();
  for (const textContent of ["line", title("x"), ...[...heights].map(title)]) added(head, "th", { scope: "col", textContent });
  const body = made.createTBody();
  const write = (...texts) => {
    const row = body.insertRow();
    for (const textContent of texts) added(row, "td", { textContent });
  };
  figure.data.forEach((trace, place) => {
    if (!told(trace)) return;
    if (trace.z) { // a map: what its cells say
      trace.text.forEach((texts, j) => texts.forEach((text, i) => write(text, across(trace.x[i]), written(trace.y[j]))));
      return;
    }
    const hover = trace.hovertemplate ?? "";
    const bound = hover.includes("%{text}") && !hover.includes("%{y"); // the text says it as it is rounded
    const of = bound && (layout.hovermode === "y unified" ? "x" : "y");
    for (let i = Math.max(0, trace.x.length - MAX_ROWS); i < trace.x.length; i++) {
      if (trace.y[i] === null) continue;
      const x = of === "x" ? trace.text[i] : across(trace.x[i]);
      const y = of === "y" ? trace.text[i] : written(trace.y[i]);
      write(trace.name || `${place + 1}`, x, ...[...heights].map((axis) => (axis === (trace.yaxis ?? "y") ? y : "")));
    }
  });
  return made;
}

/* Whether a trace has numbers of its own. */
const told = (trace) => trace.hoverinfo !== "skip";

function written(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}
