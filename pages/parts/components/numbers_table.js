/* The numbers of a figure as a table, for those who cannot see it or want to read them. */

const MOST = 400; // rows of one line

export function table(figure, { alt, following }) {
  const across = following.some((each) => each.table) ? String : written; // a bound is not rounded to the nearest
  const made = document.createElement("table");
  made.createCaption().textContent = alt;
  const { xaxis, yaxis } = figure.layout;
  const head = made.createTHead().insertRow();
  ["line", xaxis?.title?.text || "x", yaxis?.title?.text || "y"].forEach((text) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    head.append(cell);
  });
  const body = made.createTBody();
  figure.data.forEach((trace, place) => {
    if (trace.hoverinfo === "skip") return; // it has no numbers of its own
    const count = trace.x?.length ?? 0;
    for (let i = Math.max(0, count - MOST); i < count; i++) {
      if (trace.y[i] === null) continue;
      const row = body.insertRow();
      const name = trace.name || `${place + 1}`;
      const height = Array.isArray(trace.text) ? trace.text[i] : written(trace.y[i]); // a bound as it is rounded
      [name, across(trace.x[i]), height].forEach((text) => { row.insertCell().textContent = text; });
    }
  });
  return made;
}

function written(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}
