"""A setting that was pinned: in the address, on the charts, in numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from pages.parts.controls.mechanism import Setting
from pages.parts.results.pinned_setting import difference, setting_of, understood, words_of, written

PAGES = Path(__file__).parents[3] / "pages"
SETTINGS = [
    setting_of(10_000, 256 / 10_000, 1.23, 196, 1e-5, "constant", 0.0),
    setting_of(60_000, 256 / 60_000, 0.7, 10_547, 1e-6, "constant", 0.0),
    setting_of(60_000, 0.01, 10.0, 300, 1e-5, "exponential", 0.0138),
]
NONSENSE = [
    "1", "~~~~~~", "10000~0.5~1~10~1e-5~constant", "10000~0.5~1~10~1e-5~no~0", "10000~2~1~10~1e-5~constant~0",
    "10000~0.5~nan~10~1e-5~constant~0", "10000~0.5~1~1.5~1e-5~constant~0", "10000~0.5~1~10~1~constant~0",
    "10000~0.5~1~10~1e-5~linear~inf", "0~0.5~1~10~1e-5~constant~0", "9" * 5000, "10000~0.5~1~10~1e-5~linear~-1",
    "10000~0.5~1~10~1e-5~constant~x", "<b>~0.5~1~10~1e-5~constant~0",
]  # fmt: skip


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(PAGES / f"{page}.py", default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def names(app: AppTest) -> list[str]:
    return [each["name"] for chart in app.get("plotly_chart") for each in json.loads(chart.proto.spec)["data"]]


def certified(setting: Setting) -> float:
    steps = np.array([setting.mechanism.steps])
    return float(ACCOUNTANTS[CERTIFIED].curve(setting.mechanism, steps, setting.delta).epsilon[0])


@pytest.mark.parametrize("setting", SETTINGS, ids=words_of)
def test_a_setting_is_read_back_exactly_from_its_text(setting: Setting):
    assert understood(written(setting)) == setting
    assert re.fullmatch(r"[\w.~-]+", written(setting))  # stands in an address as it is


@pytest.mark.parametrize("text", NONSENSE)
def test_what_is_no_setting_is_refused(text: str):
    with pytest.raises(ValueError, match="Expected"):
        understood(text)


@pytest.mark.parametrize("page", ["tradeoff", "calibrate"])
def test_an_address_that_pins_nonsense_is_named_in_one_sentence_and_the_page_is_whole(page: str):
    app = opened(page, pin="10000~2~1~10~1e-5~constant~0", by="rdp")
    (warning,) = [each.value for each in app.warning if "pin=" in each.value]
    assert "nothing is pinned" in warning
    assert not [name for name in names(app) if name.startswith("Pinned")]
    assert "pin" not in app.query_params


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


@pytest.mark.parametrize("view", ["trade-off", "delta", "steps"])
def test_a_link_with_a_pinned_setting_draws_it_in_every_view(view: str):
    app = opened("tradeoff", view=view, sigma="1", pin="10000~0.0256~2.0~196~1e-05~constant~0.0")
    assert "Pinned: sigma 2, q 0.0256, 5 epochs" in names(app)


def test_the_map_marks_what_is_pinned():
    app = opened("calibrate", by="rdp", sigma="1", pin="10000~0.0256~2.0~196~1e-05~constant~0.0")
    assert "pinned" in names(app)


def test_the_difference_is_that_of_the_certified_numbers():
    here, there = SETTINGS[0], setting_of(10_000, 256 / 10_000, 2.0, 196, 1e-5, "constant", 0.0)
    text = difference(there, here)
    more, times = re.findall(r"([\d.]+) (?:more|times)", text)
    assert float(more) == pytest.approx(certified(here) - certified(there), rel=5e-3)
    assert float(times) == pytest.approx(certified(here) / certified(there), rel=5e-3)
    assert "less" in difference(here, there)
    assert "the same" in difference(here, here)
