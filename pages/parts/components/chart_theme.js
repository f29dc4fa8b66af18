/* Colours and type from Streamlit's theme, and pictures of a chart to keep. */

/* The layout over what the theme says; where the figure says something itself, that stands. */
export function themed(layout, element) {
  const style = getComputedStyle(element);
  const variable = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const [color, paper, border] = ["text-color", "background-color", "border-color"].map(variable);
  const family = variable("font") || "sans-serif";
  const axis = { gridcolor: border, linecolor: border, automargin: true };
  const template = {
    font: { family, color },
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    xaxis: { ...axis, showgrid: false, spikecolor: color, spikethickness: 1, spikedash: "dot", hoverformat: ".4~g" },
    yaxis: axis,
    hoverlabel: { bgcolor: paper, bordercolor: border, font: { family, color } },
  };
  return { ...layout, template: { layout: template } };
}

/* Save the chart as it stands, with its title, as a file. */
export async function exported(chart, format) {
  const { title, name } = chart.data;
  const address = location.href.match(/.{1,80}/g); // the setting, as a link
  const { annotations, margin } = chart.whole; // without those a chart may be drawn here that has little room
  const layout = structuredClone(themed({ ...chart.plot.layout, annotations, margin }, chart.parent.firstElementChild));
  const lines = [...title.split("\n").filter(Boolean), ...address].map(plain);
  const style = getComputedStyle(chart.parent.firstElementChild);
  layout.paper_bgcolor = style.getPropertyValue("--st-background-color").trim() || "white";
  const at = { x: 0, xanchor: "left", y: 1, yanchor: "top", yref: "container", pad: { t: 28, l: 16 } };
  layout.title = { text: lines.join("<br>"), font: { size: 15 }, ...at };
  const room = 24 + 20 * lines.length;
  const { t = 0, r = 0 } = layout.margin ?? {};
  layout.margin = { ...layout.margin, t: t + room, r: r + 48 }; // other programs draw the labels in wider type
  const size = { width: Math.max(chart.plot.clientWidth, 640), height: layout.height + room };
  const picture = { data: chart.plot.data, layout: { ...layout, ...size } };
  await globalThis.Plotly.downloadImage(picture, { format, filename: name, scale: format === "png" ? 2 : 1, ...size });
}

/* Text in which Plotly sees no markup. */
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
