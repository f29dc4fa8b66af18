"""Where the certified answer is slow, a first chart stands in its place until it is there, and not beside it after."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.calibrate import epsilon_map
from pages.parts.results import cache, chart_texts

PAGES = Path(__file__).parents[2] / "pages"


@pytest.mark.parametrize("name", ["accountants", "tradeoff", "calibrate"])
def test_the_first_chart_gives_its_place_to_the_certified_one(name: str, monkeypatch: pytest.MonkeyPatch):
    page = AppTest.from_file(PAGES / f"{name}.py", default_timeout=60).run()
    usual = len(page.get("plotly_chart"))
    monkeypatch.setattr(cache, "slow", lambda *_: True)
    epsilon_map._kept.cache_clear()
    page.run()
    assert not page.exception
    assert len(page.get("plotly_chart")) == usual
    assert not {chart_texts.COMING} & {each.value for each in page.caption}
    assert not any(each.value.startswith(epsilon_map.WAITING) for each in page.caption)
