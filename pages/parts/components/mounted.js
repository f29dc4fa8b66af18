/* A component whose parts stand in the page as long as Streamlit shows them. */

/* Whether the reader is on the way to another page, from which a part that speaks now would call him back. */
export const leaving = () => window.history.onePerPage?.leaves?.() ?? false;

/* A new element at the end of another, with these properties. */
export const added = (parent, kind, given = {}) => Object.assign(parent.appendChild(document.createElement(kind)), given);

/* What Streamlit calls: one `Part` for each element that it gives, shown anew with new data, closed when it goes.
   A call that was overtaken by the next one while its script was loading is taken back only after that: nothing closes. */
export function mounted(Part) {
  const parts = new WeakMap();
  return (given) => {
    const { parentElement } = given;
    const part = parts.get(parentElement) ?? new Part(parentElement);
    parts.set(parentElement, part);
    part.given = given;
    part.show(given);
    return () => {
      if (part.given !== given) return;
      part.close();
      parts.delete(parentElement);
    };
  };
}
