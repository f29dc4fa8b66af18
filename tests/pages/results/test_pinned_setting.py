"""A setting that was pinned: in the address, on the charts, in numbers."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.results.pinned_setting import difference, understood, written
from tests.pages.train_page import charts, opened_at

PAGES = Path(__file__).parents[3] / "pages"
SETTINGS = [
    understood("10_000~256/10_000~1.23~196~1e-5~constant~0"),
    understood("60_000~256/60_000~0.7~10_547~1e-6~constant~0"),
    understood("60_000~0.01~10~300~1e-5~exponential~0.0138"),
]
NONSENSE = [
    "1",
    "~~~~~~",
    "10000~0.5~1~10~1e-5~constant",
    "10000~0.5~1~10~1e-5~no~0",
    "10000~2~1~10~1e-5~constant~0",
    "10000~0.5~nan~10~1e-5~constant~0",
    "10000~0.5~1~1.5~1e-5~constant~0",
    "10000~0.5~1~10~1~constant~0",
    "10000~0.5~1~10~1e-5~linear~inf",
    "0~0.5~1~10~1e-5~constant~0",
    "9" * 5000,
    "10000~0.5~1~10~1e-5~linear~-1",
    "10000~0.5~1~10~1e-5~constant~x",
    "<b>~0.5~1~10~1e-5~constant~0",
]


def opened(page: str, **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", **query)


def names(app: AppTest) -> list[str]:
    return [each["name"] for chart in charts(app) for each in chart["data"]]


def certified(setting: ChosenSetting) -> float:
    steps = np.array([setting.mechanism.steps])
    return float(ACCOUNTANTS[CERTIFIED].curve(setting.mechanism, steps, setting.delta).epsilon[0])


def test_a_setting_is_read_back_exactly_from_its_text():
    for setting in SETTINGS:
        assert understood(written(setting)) == setting, setting
        assert re.fullmatch(r"[\w.~-]+", written(setting)), setting  # stands in an address as it is


def test_what_is_no_setting_is_refused():
    for text in NONSENSE:
        with pytest.raises(ValueError, match="Expected"):
            understood(text)


def test_a_setting_is_pinned_by_a_click_stays_while_the_controls_move_and_is_let_go():
    app = opened("tradeoff", sigma="2")
    app.button(key="pin_this").click().run()
    assert app.query_params["pin"] == "10000~0.0256~2.0~196~1e-05~constant~0.0"
    app.text_input(key="sigma").set_value("1").run()
    assert not app.exception
    assert "Pinned: sigma 2, q 0.0256, 5 epochs" in names(app)
    assert app.query_params["pin"] == "10000~0.0256~2.0~196~1e-05~constant~0.0"
    (said,) = [each.value for each in app.markdown if "Pinned:" in each.value]
    assert "**Now** ≤" in said
    assert "more" in said
    app.button(key="unpin").click().run()
    assert "pin" not in app.query_params
    assert not [name for name in names(app) if name.startswith("Pinned")]


def test_the_difference_is_that_of_the_certified_numbers():
    here, there = SETTINGS[0], understood("10_000~256/10_000~2~196~1e-5~constant~0")
    text = difference(there, here)
    more, times = re.findall(r"([\d.]+) (?:more|times)", text)
    assert float(more) == pytest.approx(certified(here) - certified(there), rel=5e-3)
    assert float(times) == pytest.approx(certified(here) / certified(there), rel=5e-3)
    assert "less" in difference(here, there)
    assert "the same" in difference(here, here)
