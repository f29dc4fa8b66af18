/* What every page asks of the browser.
   One entry of its history a page: Streamlit adds an entry for every setting that the browser did not change itself, and
   takes the settings out of the entry of a page that is left: whoever goes back then finds half of them.
   Links that open settings on another page: a plain click is told to the page, which goes there within the session, so
   that what was pinned, and which runs are shown, stays. Any other click opens the address as a browser does.
   The full screen for the "present" mode, which a browser grants to a click alone.
   On a phone the menu closes once a page is chosen.
   Names for the buttons of help.
   Roles in the menu, which on a narrow screen is a list whose items lie in no list: screen readers then count nothing. */
const MARK = "onePerPage";
const SOON = 300; // milliseconds after which new buttons of help get their names, all at once
const PATIENCE = 10_000; // milliseconds that a page may take to come after a click on its link
let left; // once a link was clicked or the page is left from its code: the address as it was, and when
let naming; // a timer, while there are buttons of help to be named
let back; // when the reader went back or forward: what an earlier run of another page says comes too late

export default function ({ data, setTriggerValue }) {
  window.history[MARK] ??= installed(); // `leaves` is for components that speak without being asked
  Object.assign(window.history[MARK], { leaving: data.leaving, tell: setTriggerValue });
  document.documentElement.classList.toggle("presenting", data.presenting); // for style.css
}

function installed() {
  const push = window.history.pushState.bind(window.history);
  const replace = (state, title, url) => window.history.replaceState(state, title, url);
  window.history.pushState = (state, title, url) => {
    const to = new URL(url, window.location.href);
    const fromCode = to.searchParams.has(window.history[MARK].leaving);
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
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  new MutationObserver(nameHelp).observe(document.body, { childList: true, subtree: true });
  mend();
  nameHelp();
  return { leaves };
}

/* Whether a page is being left: what one of its parts asks of Python now would bring the reader back to it. */
function leaves() {
  return Boolean(left) && performance.now() - left.at < PATIENCE;
}

function note(event) {
  if (event.target.closest?.(".st-key-present_button button")) fullScreen();
  const link = event.target.closest?.("a[href]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link?.target === "_blank";
  if (!link || elsewhere || link.origin !== window.location.origin || link.download) return;
  shutMenu(link);
  if (link.pathname !== window.location.pathname) left = { url: window.location.href, at: performance.now() };
  if (!("opens" in link.dataset)) return;
  event.preventDefault();
  window.history[MARK].tell("opened", link.getAttribute("href"));
}

/* On a narrow screen the menu lies over the page that was chosen from it. */
function shutMenu(link) {
  if (innerWidth > 900 || !link.closest("[data-testid=stSidebarNav]")) return;
  setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click(), 0);
}

/* A browser that refuses, as one inside of another page does, still gets the large type. */
function fullScreen() {
  const on = new URLSearchParams(window.location.search).has("present");
  const done = on ? document.fullscreenElement && document.exitFullscreen() : document.documentElement.requestFullscreen?.();
  done?.catch?.(() => {});
}

/* The buttons of help are called "Help", all of them: each gets the name of the thing that it explains. */
function nameHelp() {
  naming ??= setTimeout(() => {
    naming = undefined;
    for (const each of document.querySelectorAll('button[aria-label="Help"]')) {
      const of = each.closest("[data-testid=stMarkdown], [data-testid=stCaptionContainer]")?.textContent.trim();
      if (of) each.ariaLabel = `Help on ${of}`;
    }
  }, SOON);
}

function mend() {
  if (innerWidth > 900) return; // the menu stands in a row
  document.querySelector("[data-testid=stSidebarNavItems]:not([role])")?.setAttribute("role", "group");
  document.querySelectorAll("[data-testid=stSidebarNavItems] li:not([role])").forEach((each) => each.setAttribute("role", "none"));
}
