/* The numbers of a figure as a table, for those who cannot see it or want to read them. */
import { added } from "./mounted.js";

const MAX_ROWS = 400; // of one line

export function table(figure, { alt, following }) {
  const across = following.some((each) => each.table) ? String : written; // a bound is not rounded to the nearest
  const made = document.createElement("table");
  made.createCaption().textContent = alt;
  const { xaxis, yaxis } = figure.layout;
  const head = made.createTHead().insertRow();
  for (const textContent of ["line", xaxis?.title?.text || "x", yaxis?.title?.text || "y"]) {
    added(head, "th", { scope: "col", textContent });
  }
  const body = made.createTBody();
  const write = (...texts) => {
    const row = body.insertRow();
    for (const textContent of texts) added(row, "td", { textContent });
  };
  figure.data.forEach((trace, place) => {
    if (trace.hoverinfo === "skip") return; // it has no numbers of its own
    if (trace.z) { // a map: what its cells say
      trace.text.forEach((texts, j) => texts.forEach((text, i) => write(text, across(trace.x[i]), written(trace.y[j]))));
      return;
    }
    for (let i = Math.max(0, trace.x.length - MAX_ROWS); i < trace.x.length; i++) {
      if (trace.y[i] === null) continue;
      const height = Array.isArray(trace.text) ? trace.text[i] : written(trace.y[i]); // a bound as it is rounded
      write(trace.name || `${place + 1}`, across(trace.x[i]), height);
    }
  });
  return made;
}

function written(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}
