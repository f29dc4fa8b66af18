/* The road from people's rows to a published model, with the places where noise can go: each is a button.
   `data` has its `label`, both `ends`, the `chosen` place, and the `places`, each with its drawing: see places.toml. */
import { added } from "./mounted.js";

export default function ({ data, parentElement, setTriggerValue }) {
  let picture = parentElement.querySelector(".places-picture");
  if (!picture) {
    picture = added(parentElement, "div", { className: "places-picture", role: "group" });
    end(picture, data.ends[0]);
    data.places.forEach((each) => place(picture, each));
    end(picture, data.ends[1]);
  }
  picture.ariaLabel = data.label;
  for (const { id } of data.places) {
    const onclick = () => setTriggerValue("pressed", id);
    Object.assign(picture.querySelector(`[data-place="${id}"]`), { ariaPressed: String(id === data.chosen), onclick });
  }
}

function place(picture, { id, title, method, drawing }) {
  const innerHTML = `<svg viewBox="0 0 122 62" aria-hidden="true">${drawing}</svg>`;
  const button = added(picture, "button", { type: "button", className: "place", innerHTML });
  button.dataset.place = id;
  added(button, "strong", { textContent: title });
  added(button, "span", { textContent: method });
}

function end(picture, { title, drawing }) {
  const innerHTML = `<svg viewBox="0 0 60 60" aria-hidden="true">${drawing}</svg>`;
  added(added(picture, "div", { className: "place-end", innerHTML }), "span", { textContent: title });
}
