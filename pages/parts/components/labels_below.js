/* A chart where there is little room. Labels beside a plot take it where the chart is narrow, as on a phone: there they
   stand below it, or in a key of a chart that stays in sight, which is low there. In a low window a chart is lower. */
import { LINE, beside, margins } from "./figure_growth.js";

const NARROW = 480; // pixels of a chart's width
const BELOW = 38; // from the plot's lower edge to the first label, beside the text's own size
const BETWEEN = 1.4; // from one line below a plot to the next, of the text's size
const LOW = 200; // pixels of a narrow chart that stays in sight
const APART = 0.07; // of the height, between two plots
const SHARE = 0.5; // of the window's height: what is below a chart that fits is seen too

/* How high a chart is that fits into the window: its labels beside their plots still find room. */
export function fitted(layout, most, width) {
  if (width < NARROW) return LOW;
  const { t, b } = margins(layout);
  const needs = ({ group, tall, share }) => Math.ceil((LINE * tall * group.length) / share) + t + b;
  const least = Math.max(0, ...beside(layout).map(needs));
  return Math.max(least, Math.min(most, Math.round(SHARE * document.documentElement.clientHeight)));
}

/* The narrow chart that stays in sight: no title of its x axis, and no labels. The key has the labels. */
export function lowered(layout, width) {
  if (width >= NARROW) return { layout, key: [] };
  const key = aside(layout), axes = Object.keys(layout).filter((name) => name.startsWith("yaxis"));
  const annotations = layout.annotations?.filter((each) => !key.includes(each));
  const low = { ...layout, annotations, xaxis: { ...layout.xaxis, title: "" }, margin: { l: 52, r: 8, t: 8, b: 24 } };
  for (const name of axes) {
    const { dtick, domain: [foot, top] = [0, 1] } = layout[name];
    const apart = top < 1 ? APART : 0; // or the numbers of two plots touch
    low[name] = { ...layout[name], dtick: dtick && 2 * dtick, domain: [foot, top - apart] };
  }
  return { layout: low, key: ordered(key, layout) };
}

const sizeOf = (layout) => layout.font?.size ?? 14;
const aside = (layout) => (layout.annotations ?? []).filter((each) => each.xref === "paper" && each.x === 1);
const roomBelow = (layout) => Math.round(BELOW + sizeOf(layout) * (1.5 + aside(layout).length * BETWEEN));

/* The layout with its right-hand labels and keys below the plot, which stays as high as it was. */
export function narrowed(layout, width) {
  const labels = aside(layout);
  if (width >= NARROW || !labels.length) return layout;
  const size = sizeOf(layout), room = roomBelow(layout);
  const { l = 56, b = 48 } = layout.margin ?? {};
  const below = ordered(labels, layout).map((note, place) => ({
    ...note, text: note.text.replaceAll("<br>", " "), align: "left", xanchor: "left", x: 0, xshift: 8 - l,
    yref: "paper", yanchor: "top", y: 0, yshift: -Math.round(BELOW + size + place * BETWEEN * size),
  }));
  return {
    ...layout,
    height: layout.height + room - b,
    margin: { ...layout.margin, r: 12, b: room },
    annotations: [...layout.annotations.filter((each) => !labels.includes(each)), ...below],
  };
}

/* From the top of the picture to its foot. */
function ordered(notes, layout) {
  const height = (note) => {
    if (note.yref === "paper") return note.y;
    const { range: [low, high] = [0, 1], domain: [foot, top] = [0, 1] } = layout[note.yref?.replace("y", "yaxis") ?? "yaxis"] ?? {};
    return foot + ((note.y - low) / (high - low)) * (top - foot);
  };
  return [...notes].sort((one, other) => height(other) - height(one));
}
