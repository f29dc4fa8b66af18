/* Labels beside a plot take its room where the chart is narrow, as on a phone: there they stand below it. */

const NARROW = 480; // pixels of a chart's width
const BELOW = 38; // from the plot's lower edge to the first label, beside the text's own size
const LINE = 1.4; // of the text's size

/* The layout with its right-hand labels and keys below the plot, which stays as high as it was. */
export function narrowed(layout, width) {
  const aside = (layout.annotations ?? []).filter((each) => each.xref === "paper" && each.x === 1);
  if (width >= NARROW || !aside.length) return layout;
  const size = layout.font?.size ?? 14;
  const { l = 56, b = 48 } = layout.margin ?? {};
  const below = ordered(aside, layout).map((note, place) => ({
    ...note, text: note.text.replaceAll("<br>", " "), align: "left", xanchor: "left", x: 0, xshift: 8 - l,
    yref: "paper", yanchor: "top", y: 0, yshift: -Math.round(BELOW + size + place * LINE * size),
  }));
  const room = Math.round(BELOW + 1.5 * size + aside.length * LINE * size);
  return {
    ...layout,
    height: layout.height + room - b,
    margin: { ...layout.margin, r: 12, b: room },
    annotations: [...layout.annotations.filter((each) => !aside.includes(each)), ...below],
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
