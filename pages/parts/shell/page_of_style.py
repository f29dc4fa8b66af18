"""Streamlit's page as this server sends it: with the style and the title of one of the pages.

The style comes before the scripts, so that nothing is ever drawn without it. It stands in the body,
behind the rules that Streamlit adds to the head: of two rules of equal weight the later one counts.
"""

from functools import cache
from pathlib import Path

from pages.parts.shell.colours import css_colours
from pages.parts.shell.menu import Page, tab_title
from pages.parts.shell.streamlit_internals import page_of_scripts

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
BODY = "<body>"
# Streamlit remembers an open menu, which on a phone lies over the whole page. And a page that
# presents has its class before frame.js is there.
BEFORE_ALL = """
<script>
  if (new URLSearchParams(location.search).get("present") === "1") {
    document.documentElement.classList.add("presenting");
  }
  if (innerWidth < 900) {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("stSidebarCollapsed")) localStorage.removeItem(key);
    }
  }
</script>"""


def style() -> str:
    """The style of all pages as an element of HTML.

    >>> style()[:20], style()[-8:]
    ('<style>:root {--priv', '</style>')
    """
    return f"<style>{css_colours()}{STYLE}</style>"


@cache
def styled_page(page: Page) -> str:
    """The page that loads Streamlit's scripts, in the style of this app and with its own title."""
    scripts = page_of_scripts()
    titled = scripts.replace("<title>Streamlit</title>", f"<title>{tab_title(page.title)}</title>")
    head, body, rest = titled.partition(BODY)
    return f"{head}{BEFORE_ALL}{body}{style()}{rest}"
