"""A chart shows for a moved slider what the page shows once it is run with that value."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.store import Store
from pages.parts import lab
from pages.parts.calibrate import epsilon_map
from pages.parts.components.live_chart import Drawing, drawn
from pages.parts.results import exports as chart
from tests.pages.train_page import opened_at

PAGES = Path(__file__).parents[2] / "pages"


class Seen(NamedTuple):
    figure: dict[str, Any]
    preview: Any


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Seen]:
    """The charts of the last run of a page, by their keys."""
    charts: dict[str, Seen] = {}

    def note(figure, following, *, key, preview=None, **_) -> None:
        charts[key] = Seen(drawn(Drawing(figure, following)), preview)

    for module in (lab, chart, epsilon_map):
        monkeypatch.setattr(module, "live_chart", note)
    return charts


def opened(page: str, **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", **query)


def test_a_preview_is_the_chart_that_the_page_draws_next(seen, store: Store):
    for page, key, query, field, text in (
        ("lab", "epsilon_chart", {}, "sigma", "2.2"),
        ("tradeoff", "attack_chart", {}, "sigma", "2.2"),
        ("calibrate", "map", {"by": "rdp"}, "target_epsilon", "2"),
    ):
        before = opened(page, **query)
        assert not before.exception, (page, key, query, field, text)
        first = seen[key]
        preview = first.preview(field, text)
        before.text_input(key=field).set_value(text).run()
        assert not before.exception, (page, key, query, field, text)
        assert drawn(preview) == seen[key].figure, (page, key, query, field, text)
        # The value makes a difference.
        assert drawn(preview) != first.figure, (page, key, query, field, text)


def test_what_makes_no_chart_is_refused_with_a_sentence(seen, store: Store):
    for page, key, query, field, text in (
        ("lab", "epsilon_chart", {}, "sigma", "nonsense"),
        ("lab", "epsilon_chart", {}, "batch", "99999999"),
        ("lab", "epsilon_chart", {}, "__class__", "2"),
        ("tradeoff", "attack_chart", {}, "__class__", "2"),
        ("calibrate", "map", {"by": "rdp"}, "target_mu", "2"),
        ("calibrate", "map", {"by": "rdp"}, "target_epsilon", "-1"),
    ):
        opened(page, **query)
        with pytest.raises(ValueError, match="Expected"):
            seen[key].preview(field, text)


def test_what_may_take_long_is_left_to_the_page(seen, store: Store):
    for page, key, query, field, text in [
        ("lab", "epsilon_chart", {}, "delta", "1e-30"),  # takes seconds
        ("lab", "epsilon_chart", {"stop_epsilon": "1"}, "sigma", "2.2"),
        ("calibrate", "map", {"by": "rdp"}, "delta", "1e-6"),  # another map
    ]:
        opened(page, **query)
        assert seen[key].preview(field, text) is None, (page, key, query, field, text)
