"""Accuracy against epsilon: the Lab and Runs draw there only what has a proven epsilon."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.figures.lab import RUN
from dpcore.runs.store import Store
from dpcore.training.plan import plan
from tests.pages.runs_page import finished
from tests.pages.train_page import CONFIG, LAB, PAGE, charts, opened_at

CONFIGS = (
    CONFIG,
    replace(CONFIG, private=False),
    replace(CONFIG, sampler="shuffle"),
    replace(CONFIG, sigma=0.0),
)


def accuracies(figures: list[dict[str, Any]], page: Path) -> list[dict[str, Any]]:
    """The lines of the runs."""
    if page == LAB:
        return [each for each in figures[0]["data"] if each.get("uid", "").startswith(RUN)]
    assert figures[0]["layout"]["yaxis"]["title"]["text"] == "test accuracy, %"
    return figures[0]["data"]


@pytest.mark.parametrize("page", [LAB, PAGE], ids=["lab", "runs"])
def test_a_private_run_without_a_proven_epsilon_is_not_drawn_over_epsilon_and_the_page_says_why(
    store: Store, page: Path
):
    runs = [finished(store, each) for each in CONFIGS]
    for across, expected in (("epoch", [True] * 4), ("epsilon", [True, True, False, False])):
        found = opened_at(page, *runs, x=across)
        lines = accuracies(charts(found), page)
        assert [len(each["y"]) > 0 for each in lines] == expected, across
        said = [each.value for each in found.caption if "Not drawn over epsilon" in each.value]
        left_out = [each for each, drawn in zip(CONFIGS, expected, strict=True) if not drawn]
        for sentence, config in zip(said, left_out, strict=True):
            assert sentence.endswith(plan(config).unaccounted)
