"""What an address asks in vain, and values that do not go together: said once, where they stand."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.check import verbatim
from pages.parts.shell import menu
from tests.pages.train_page import charts, opened_at

PAGES = Path(__file__).parents[2] / "pages"


pytestmark = pytest.mark.usefixtures("store")


def opened(page: str, **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", session={}, **{"by": "rdp"} | query)


def warned(page: AppTest, start: str) -> list[str]:
    assert not page.exception
    return [each.value for each in page.warning if each.value.startswith(f"Expected `{start}")]


def test_an_unknown_choice_is_named_with_what_is_shown_instead():
    for page, name, value, shown in (
        ("lab", "dataset", "cifar10", "mnist"), ("lab", "model", "resnet", "linear"),
        ("lab", "optimizer", "nonsense", "sgd"), ("lab", "sampler", "nonsense", "poisson"),
        ("lab", "against", "x", "epoch"), ("lab", "accountants", "x", "none"),
        ("tradeoff", "view", "x", "trade-off"), ("tradeoff", "schedule", "x", "constant"),
        ("tradeoff", "optimizer", "nonsense", "sgd"), ("calibrate", "by", "x", "pld"),
        ("calibrate", "target", "x", "epsilon"), ("calibrate", "solve", "x", "sigma"),
    ):  # fmt: skip
        app = opened(page, **{name: value})
        (said,) = warned(app, name)
        assert said.startswith(f"Expected `{name}={value}` to be one of: "), (
            page,
            name,
            value,
            shown,
        )
        assert shown == "none" or said.endswith(f" Showing {shown}."), (page, name, value, shown)
        assert warned(app.run(), name) == [said], (page, name, value, shown)


def test_what_an_address_says_is_shown_as_it_is_and_cut():
    (said,) = warned(opened("tradeoff", view="[a](//b) **`c`** <i>" + "x" * 500), "view")
    assert "`view=[a](//b) **'c'** <i>x" in said
    assert len(said) < 120
    assert verbatim("a\n`b`") == "`a 'b'`"


def test_a_page_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(menu, "page_asked_for", lambda: "nosuchpage")
    monkeypatch.setattr(menu.st, "session_state", {menu.SEEN: True})
    assert menu.unknown_page() == ["nosuchpage"]
    monkeypatch.setattr(menu, "page_asked_for", lambda: "runs")
    assert menu.unknown_page() == []


def said_at(page: AppTest, key: str, kind: str = "error") -> list[str]:
    """What is said between the field of this key and the next one."""
    order = [each for each in page.main if each.type in ("text_input", kind)]
    start = next(place for place, each in enumerate(order) if each.key == key) + 1
    until = next(
        (place for place in range(start, len(order)) if order[place].type == "text_input"),
        len(order),
    )
    return [getattr(each, "value", "") for each in order[start:until]]


def test_a_batch_above_n_is_said_under_the_batch_and_all_else_stays():
    for page in ["lab", "tradeoff", "calibrate"]:
        data = {"dataset": "other"} if page == "lab" else {}
        app = opened(page, n="1000", batch="50", **data)
        count, fields = len(charts(app)), {each.key for each in app.text_input}
        app.text_input(key="batch").set_value("999999").run()
        assert not app.exception, page
        (said,) = said_at(app, "batch")
        assert said.startswith("Expected batch must be at most n=1000"), page
        assert [each.value for each in app.error] == [said], page
        assert {each.key for each in app.text_input} == fields, page
        assert len(charts(app)) == count, page
        assert any("still show the last valid ones" in each.value for each in app.caption), page


def test_a_setting_that_nothing_can_be_trained_with_is_said_at_its_control_too():
    said = said_at(opened("lab", acceptance="sa", public="10000"), "public", "caption")[0]
    assert "Public examples held out must be a whole number" in said
    app = opened("lab", sigma="0.001", stop_epsilon="0.1")
    assert "Stop at epsilon must" in said_at(app, "stop_epsilon", "caption")[0]


def test_every_control_is_drawn_where_a_link_brings_values_that_clash():
    app = opened("tradeoff", n="100", batch="999999")
    assert {"n", "batch", "sigma", "epochs", "delta"} <= {each.key for each in app.text_input}
    assert any("Nothing to show yet" in each.value for each in app.caption)
