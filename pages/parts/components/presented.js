/* A chart in front of a class. Python has drawn it in the type of dpcore's PRESENT, for a window of this width: its type
   and its height follow the window. */
const WIDE = 1920; // pixels
const LEAST = 18 / 28; // of that type, in a small window
export const SHARE = 0.39; // of the window's height, for a chart that fits: the large type above it needs the rest
const TWICE = 2; // a chart of twice the type is twice as high

/* So many times the type and height of an ordinary chart in a window 1920 wide. */
function share() {
  return Math.max(innerWidth / WIDE, LEAST);
}

/* The layout with fonts, margins and shifts of labels for this window. */
export function presented(layout) {
  return scaled(layout, share());
}

export function taller(height) {
  return Math.round(height * TWICE * share());
}

function scaled(part, by) {
  if (Array.isArray(part)) return part.map((each) => scaled(each, by));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resized(name, value, by)]));
}

function resized(name, value, by) {
  if (name.endsWith("font") && value.size) return { ...value, size: value.size * by };
  if (name === "margin") return Object.fromEntries(Object.entries(value).map(([side, pixels]) => [side, pixels * by]));
  if (name === "yshift" || name === "xshift") return value * by;
  return name === "meta" ? value : scaled(value, by);
}
