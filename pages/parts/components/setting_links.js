// Links in tables that open settings on another page. A plain click on one is told to the page, which goes there within
// the session: what was pinned, and which runs are shown, stays. Any other click opens the address as a browser does.
let tell;

export default function ({ setTriggerValue }) {
  if (!tell) document.addEventListener("click", note);
  tell = setTriggerValue;
  return () => {
    document.removeEventListener("click", note);
    tell = undefined;
  };
}

function note(event) {
  const link = event.target.closest?.("a[data-opens]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  tell("opened", link.getAttribute("href"));
}
