/* A chart where there is little room. Labels beside a plot take it where the chart is narrow, as on a phone: there they
   stand below it, in a key; a chart that stays in sight is low there. In a low window a chart is lower. */
import { beside, margins } from "./figure_growth.js";

const NARROW = 360; // pixels of a chart's width
const LOW = 200; // pixels of a narrow chart that stays in sight
const APART = 0.07; // of the height, between two plots
const SHARE_OF_NARROW = 1 / 3; // so that its key is, too, or the next chart on a phone

/* How high a chart is that takes a share of the window's height: its labels beside their plots still find room. */
export function fitted(layout, most, width, low, share) {
  if (low && width < NARROW) return LOW;
  const { t, b } = margins(layout);
  const needs = ({ tall, share }) => Math.ceil(tall / share) + t + b;
  const narrow = width < NARROW;
  const least = narrow ? 0 : Math.max(0, ...beside(layout).map(needs));
  const own = narrow || low ? SHARE_OF_NARROW : share;
  const high = Math.round(own * document.documentElement.clientHeight);
  return Math.max(least, Math.min(most, high));
}

/* The layout for this width, and the labels for which it has no room, for the key. */
export function narrowed(layout, width, low) {
  const key = (layout.annotations ?? []).filter((each) => each.xref === "paper" && each.x === 1);
  if (width >= NARROW || (!low && !key.length)) return { layout, key: [] };
  const annotations = layout.annotations?.filter((each) => !key.includes(each));
  const bare = { ...layout, annotations, margin: { ...layout.margin, r: 12 } };
  return { layout: low ? lowered(bare) : bare, key };
}

/* The layout of a chart that stays in sight: no title of its x axis, and fewer numbers. */
function lowered(layout) {
  const low = { ...layout, xaxis: { ...layout.xaxis, title: "" }, margin: { l: 52, r: 8, t: 8, b: 24 } };
  for (const name of Object.keys(layout).filter((each) => each.startsWith("yaxis"))) {
    const { dtick, domain: [foot, top] = [0, 1] } = layout[name];
    const apart = top < 1 ? APART : 0; // or the numbers of two plots touch
    low[name] = { ...layout[name], dtick: dtick && 2 * dtick, domain: [foot, top - apart] };
  }
  return low;
}
