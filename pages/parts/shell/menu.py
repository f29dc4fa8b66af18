"""The pages of the app, and the way back to them from a page that was opened without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dpcore.figures.layout import NORMAL, PRESENT, Size
from pages.parts.shell.streamlit_internals import main_script, page_asked_for

TITLE = "dpcore: private deep learning, explored"
ICON = "🛡️"
SEEN = "menu_shown"
PRESENT_MODE = "present"  # in the session and in the address
DRAWER = "drawer"  # the switch that shows the controls in this mode
ON = "1"
# The settings of a small chart, which has no room for buttons over it.
SMALL = {"displayModeBar": False}


@dataclass(frozen=True)
class Page:
    """An entry of the menu; the page's address is the name of its file."""

    file: str  # as seen from app.py
    title: str
    icon: str  # the name of a Material symbol
    # It shows the setting of the controls: an answer of Calibrate can be opened there.
    opens_settings: bool = False
    has_controls: bool = True  # of a setting: its address says which

    @property
    def address(self) -> str:
        """The part after the slash; empty for the first page, which is the home page."""
        return "" if self == LAB else Path(self.file).stem


LAB = Page("pages/lab.py", "Lab", "science", opens_settings=True)  # the first page
# In the order of the menu: to explore, to train, to verify. A page is its file and one line here.
PAGES = (
    LAB,
    Page("pages/tradeoff.py", "Trade-off", "balance", opens_settings=True),
    Page("pages/calibrate.py", "Calibrate", "tune"),
    Page("pages/runs.py", "Runs", "table_rows", has_controls=False),
    Page("pages/perturbation.py", "Perturbation", "grain", has_controls=False),
    Page("pages/check.py", "Check a claim", "fact_check", has_controls=False),
    Page("pages/audit.py", "Audit", "policy", has_controls=False),
    Page("pages/papers.py", "Papers", "menu_book", has_controls=False),
)


def menu() -> st.Page:
    """The chosen page, with the menu drawn above it; the browser's tab names the page."""
    st.session_state[SEEN] = True
    page = st.navigation([_entry(each) for each in PAGES], position="top")
    st.set_page_config(page_title=tab_title(page.title), page_icon=ICON, layout="wide")
    return page


def tab_title(page: str) -> str:
    """What the browser's tab says of a page.

    >>> tab_title("Runs")
    'Runs · dpcore: private deep learning, explored'
    """
    return f"{page} · {TITLE}"


def _entry(page: Page) -> st.Page:
    return st.Page(
        page.file,
        title=page.title,
        icon=f":material/{page.icon}:",
        url_path=page.address or None,
        default=page == LAB,
    )


def link(file: str, label: str, query: Mapping[str, str | Sequence[str]] | None = None) -> None:
    """Draw a link to another page with a query; a page opened without the app has none."""
    if SEEN in st.session_state:
        st.page_link(file, label=label, icon=":material/arrow_forward:", query_params=query)


def page_at(address: str) -> Page:
    """The page of this address.

    >>> page_at("runs").title
    'Runs'
    """
    return next(page for page in PAGES if page.address == address)


def through_the_app() -> None:
    """Start over through the app where a page was opened without it.

    Streamlit takes a folder named pages for its older kind of app until `st.navigation` has been
    called once, so the first link into a fresh server runs the page's file alone. A url_path that
    differs from the file's name would not help: Streamlit then says "Page not found" over the right
    page.
    """
    if SEEN in st.session_state:
        return
    if main_script() == "app.py":
        menu()
        st.rerun()
    else:
        st.set_page_config(page_title=TITLE, page_icon=ICON, layout="wide")


def unknown_page() -> list[str]:
    """The name in the address if no page has it, and the first page is shown instead."""
    if SEEN not in st.session_state:
        return []
    name = page_asked_for()
    if not name or name in [page.address for page in PAGES]:
        return []
    return [name]


def presenting() -> bool:
    """True while the projector mode is on."""
    return st.session_state.get(PRESENT_MODE) == ON


def controls_hidden() -> bool:
    """True while the projector mode hides the controls of the page."""
    return presenting() and not st.session_state.get(DRAWER)


def press(button: str, mark: str = "") -> str:
    """The begin of a sentence that asks for a press on a button of the controls.

    `mark` stands on both sides of names.
    """
    if controls_hidden():
        return f"Turn on {mark}Controls{mark} and press {mark}{button}{mark}"
    return f"Press {mark}{button}{mark}"


def chart_size() -> Size:
    """The size of every chart on the pages."""
    return PRESENT if presenting() else NORMAL
