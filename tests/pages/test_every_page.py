"""Every page of the menu, driven as a reader would: opened through the app, and by itself."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from dpcore.runs.store import Store
from pages.parts.shell.menu import PAGES, Page

ROOT = Path(__file__).parents[2]


def opened(page: Page, query: dict[str, str]) -> AppTest:
    """The page in the app, under an address."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()  # the home page: from here on the menu is known
    return app if page == PAGES[0] else app.switch_page(page.file).run()


def test_it_opens_on_its_question_without_an_error(store: Store):
    for page in PAGES:
        app = opened(page, {})
        assert not app.exception, page
        assert not app.error, page
        assert app.title[0].value.strip(), page


def test_it_opens_without_the_app(store: Store):
    for page in PAGES:
        alone = AppTest.from_file(ROOT / page.file, default_timeout=60).run()
        assert not alone.exception, page
        assert alone.title[0].value == opened(page, {}).title[0].value, page


def test_no_two_pages_have_a_title_an_icon_or_an_address_in_common():
    for names in zip(*((page.title, page.icon, page.address) for page in PAGES), strict=True):
        assert len({*names}) == len(PAGES)
