"""What an address asks for and nobody knows is said once, above the page, until something else is chosen."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.controls.faults import verbatim
from pages.parts.shell import menu
from tests.pages.train_page import opened_at

PAGES = Path(__file__).parents[2] / "pages"
pytestmark = pytest.mark.usefixtures("store")


def opened(page: str, **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", session={}, **{"by": "rdp"} | query)


def warned(page: AppTest, start: str) -> list[str]:
    assert not page.exception
    return [each.value for each in page.warning if each.value.startswith(f"Expected `{start}")]


@pytest.mark.long
def test_an_unknown_choice_is_named_with_what_is_shown_instead():
    for page, name, value, shown in (
        ("accountants", "dataset", "cifar10", "mnist"), ("train", "dataset", "cifar10", "mnist"),
        ("train", "optimizer", "nonsense", "sgd"), ("train", "model", "resnet", "linear"),
        ("accountants", "against", "x", "epoch"), ("accountants", "accountants", "x", "none"),
        ("tradeoff", "view", "x", "trade-off"), ("tradeoff", "schedule", "x", "constant"),
        ("tradeoff", "optimizer", "nonsense", "sgd"), ("calibrate", "by", "x", "pld"),
        ("calibrate", "target", "x", "epsilon"), ("calibrate", "solve", "x", "sigma"),
    ):  # fmt: skip
        app = opened(page, **{name: value})
        (said,) = warned(app, name)
        assert said.startswith(f"Expected `{name}={value}` to be one of: "), (page, name, value, shown)
        assert shown == "none" or said.endswith(f" Showing {shown}."), (page, name, value, shown)
        assert warned(app.run(), name) == [said], (page, name, value, shown)


def test_the_sentence_goes_once_something_is_chosen():
    app = opened("tradeoff", optimizer="nonsense", view="x")
    app.selectbox(key="optimizer").set_value("adam").run()
    assert warned(app, "") == warned(app, "view") != []
    app.segmented_control(key="view").set_value("delta").run()
    assert warned(app, "") == []


def test_what_an_address_says_is_shown_as_it_is_and_cut():
    (said,) = warned(opened("tradeoff", view="[a](//b) **`c`** <i>" + "x" * 500), "view")
    assert "`view=[a](//b) **'c'** <i>x" in said
    assert len(said) < 120
    assert verbatim("a\n`b`") == "`a 'b'`"


def test_a_page_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch):
    context = SimpleNamespace(pages_manager=SimpleNamespace(intended_page_name="nosuchpage"))
    monkeypatch.setattr(menu, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(menu.st, "session_state", {menu.SEEN: True})
    assert menu.unknown_page() == ["nosuchpage"]
    context.pages_manager.intended_page_name = "train"
    assert menu.unknown_page() == []
