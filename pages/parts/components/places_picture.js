/* The road from people's rows to a published model, with the places where noise can go: each is a button.
   `data` has its `label`, the words at its `first` and `last` end, the `chosen` place, and the `places`. */
import { added } from "./mounted.js";

const NOISE = "var(--noise)";
const dots = (points, attributes) => points.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.2" ${attributes}/>`).join("");
const ROWS = [[14, 14], [30, 14], [46, 14], [14, 30], [30, 30], [46, 30], [14, 46], [30, 46], [46, 46]];
const MOVED = [[82, 9], [92, 18], [112, 12], [75, 34], [98, 27], [105, 35], [84, 42], [91, 51], [117, 47]];
const PICTURES = {
  data: `${dots(ROWS, 'fill="currentColor"')}<path d="M54 30h12m-4-4l4 4-4 4"/>${dots(MOVED, `fill="${NOISE}" stroke="none"`)}`,
  objective: `<path d="M12 8q48 88 96 0"/><path d="M12 30q48 44 96-26" stroke="${NOISE}" stroke-dasharray="5 4"/>
    <path d="M16 56l88-16" stroke="${NOISE}"/>`,
  gradient: `<path d="M8 8q30 4 32 18t28 16 40 10" stroke-dasharray="2 4"/>
    <path d="M8 8l20 14-6 8 24-2 2 16 22-8 10 16 24-4" stroke="${NOISE}"/><circle cx="112" cy="52" r="4" fill="currentColor"/>`,
  result: `<circle cx="60" cy="30" r="24" fill="${NOISE}" opacity=".18" stroke="none"/>
    <circle cx="60" cy="30" r="13" fill="${NOISE}" opacity=".3" stroke="none"/><circle cx="60" cy="30" r="4" fill="currentColor"/>
    <path d="M60 30l15-14" stroke="${NOISE}"/><circle cx="77" cy="14" r="4.5" fill="${NOISE}" stroke="none"/>`,
};
const END = { first: `<circle cx="30" cy="14" r="8"/><path d="M14 46q0-18 16-18t16 18z"/>`,
  last: `<rect x="12" y="8" width="36" height="44" rx="3"/><path d="M19 20h22M19 30h22M19 40h14"/>` };

export default function ({ data, parentElement, setTriggerValue }) {
  let picture = parentElement.querySelector(".places-picture");
  if (!picture) {
    picture = added(parentElement, "div", { className: "places-picture", role: "group" });
    end(picture, "first", data.first);
    data.places.forEach((each) => place(picture, each));
    end(picture, "last", data.last);
  }
  picture.ariaLabel = data.label;
  for (const { id } of data.places) {
    const onclick = () => setTriggerValue("pressed", id);
    Object.assign(picture.querySelector(`[data-place="${id}"]`), { ariaPressed: String(id === data.chosen), onclick });
  }
}

function place(picture, { id, title, method }) {
  const innerHTML = `<svg viewBox="0 0 122 62" aria-hidden="true">${PICTURES[id]}</svg>`;
  const button = added(picture, "button", { type: "button", className: "place", innerHTML });
  button.dataset.place = id;
  added(button, "strong", { textContent: title });
  added(button, "span", { textContent: method });
}

function end(picture, name, textContent) {
  const innerHTML = `<svg viewBox="0 0 60 60" aria-hidden="true">${END[name]}</svg>`;
  added(added(picture, "div", { className: "place-end", innerHTML }), "span", { textContent });
}
