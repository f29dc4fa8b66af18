/* A component whose parts stand in the page as long as Streamlit shows them. */

const MAX_CALLS = 8; // the latest: of them one may be taken back

/* Whether the reader is on the way to another page, from which a part that speaks now would call him back. */
export const leaving = () => window.history.onePerPage?.leaves?.() ?? false;

/* A new element at the end of another, with these properties. */
export const added = (parent, kind, given = {}) => Object.assign(parent.appendChild(document.createElement(kind)), given);

/* What Streamlit calls: one `Part` for each element that it gives, shown anew with new data, closed when it goes.
   A call that the next one overtakes while its script is loading comes all the same, even after that one, and is then
   taken back: what the other calls showed last is shown again, and nothing closes. */
export function mounted(Part) {
  const parts = new WeakMap();
  return (given) => {
    const { parentElement } = given;
    const { part, calls } = parts.get(parentElement) ?? { part: new Part(parentElement), calls: [] };
    parts.set(parentElement, { part, calls });
    calls.push(given);
    calls.splice(0, calls.length - MAX_CALLS);
    part.show(given);
    return () => {
      if (!parentElement.isConnected) { // its elements go with it
        if (!parts.delete(parentElement)) return; // a call that was overtaken
        part.following?.attend([]);
        return part.close?.();
      }
      const place = calls.indexOf(given);
      if (place >= 0) calls.splice(place, 1);
      if (place === calls.length && place > 0) part.show(calls.at(-1)); // it was the last one
    };
  };
}
