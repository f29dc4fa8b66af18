// On a narrow screen Streamlit draws the groups of the menu as a list whose items lie in no list: screen readers then
// count nothing. Their roles are taken from them, whenever the menu is drawn; links they stay.
let watching = false;

export default function () {
  if (watching) return;
  watching = true;
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  mend();
}

function mend() {
  if (innerWidth > 900) return; // the menu stands in a row
  const list = document.querySelector("[data-testid=stSidebarNavItems]:not([role])");
  list?.setAttribute("role", "group");
  document.querySelectorAll("[data-testid=stSidebarNavItems] li:not([role])").forEach((each) => each.setAttribute("role", "none"));
}
