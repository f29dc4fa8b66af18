// One entry of the browser's history a page. Streamlit adds an entry for every setting that the browser did not change
// itself, and takes the settings out of the entry of a page that is left: whoever goes back then finds half of them.
const MARK = "onePerPage";
const PATIENCE = 10_000; // milliseconds that a page may take to come after a click on its link
let leaving; // in an address: the page is left from its code
let left; // once a link was clicked or the page is left from its code: the address as it was, and when
let back; // when the reader went back or forward: what an earlier run of another page says comes too late

export default function ({ data }) {
  leaving = data.leaving;
  if (MARK in window.history) return;
  window.history[MARK] = { leaves }; // for components that speak without being asked
  const push = window.history.pushState.bind(window.history);
  const replace = (state, title, url) => window.history.replaceState(state, title, url);
  window.history.pushState = (state, title, url) => {
    const to = new URL(url, window.location.href);
    const fromCode = to.searchParams.has(leaving);
    const now = performance.now();
    if (fromCode) left ??= { url: window.location.href, at: now };
    if (left && now - left.at > PATIENCE) left = undefined;
    if (to.pathname === window.location.pathname) {
      if (!left) replace(state, title, url); // else it is of the page that comes, whose entry has its settings then
    } else if (left || !back || now - back > PATIENCE) {
      if (left) replace(window.history.state, "", left.url);
      left = undefined;
      push(state, title, fromCode ? to.pathname : url);
    }
  };
  window.addEventListener("popstate", () => {
    left = undefined;
    back = performance.now();
  });
  document.addEventListener("click", note, true);
}

/* Whether a page is being left: what one of its parts asks of Python now would bring the reader back to it. */
function leaves() {
  return Boolean(left) && performance.now() - left.at < PATIENCE;
}

function note(event) {
  const link = event.target.closest?.("a[href]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link?.target === "_blank";
  if (!link || elsewhere || link.origin !== window.location.origin || link.download) return;
  if (link.pathname !== window.location.pathname) left = { url: window.location.href, at: performance.now() };
}
