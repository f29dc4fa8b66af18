"""What the page of all runs shows of them together: accuracy against epsilon, and which runs are
left out.
"""

from dataclasses import replace

import pytest

from dpcore.runs.editing import rename
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.runs import comparing
from tests.pages.runs_page import SHOW, finished, imported, opened, shown
from tests.pages.train_page import CONFIG, charts, recorded


def test_accuracy_stands_against_the_certified_epsilon_of_all_runs_that_the_filters_leave(
    store: Store,
):
    finished(store, replace(CONFIG, sigma=1.0), 0.9)
    other = finished(store, replace(CONFIG, sigma=2.0), 0.8)
    finished(store, replace(CONFIG, sigma=0.9), 0.85)
    finished(store, replace(CONFIG, private=False), 0.97)
    recorded(store, CONFIG, 40, Status.FAILED, "Boom")
    (chart,) = charts(opened(show=SHOW))
    rest, best, level = chart["data"]
    assert best["y"] == [80.0, 90.0]
    assert best["x"][1] == pytest.approx(2.0, abs=1.0)
    assert rest["y"] == [85.0]
    assert level["y"] == [97.0, 97.0]
    (chart,) = charts(opened(show=SHOW, find=other))
    assert [each["y"] for each in chart["data"]] == [[], [80.0]]


def test_imported_runs_are_on_no_front_and_among_no_seeds_and_said_to_be_left_out(store: Store):
    runs = [finished(store, accuracy=accuracy) for accuracy in (0.90, 0.92)]
    forged = [imported(store, run) for run in runs]
    (chart,) = charts(page := opened(show=SHOW))
    assert [len(each["x"]) for each in chart["data"]] == [1, 1]
    assert " Imported runs left out, since nobody here measured their accuracy: 2." in shown(page)
    assert 'data-label="Runs">2</td><td data-label="Mean ± spread">91.00 %' in shown(page)
    page = opened(show=SHOW, find=forged[0])
    assert charts(page) == []
    assert (
        f"{comparing.NONE} Imported runs left out, since nobody here measured their accuracy: 1."
        in shown(page)
    )


def test_a_name_is_a_text_in_the_numbers_of_the_front_and_no_formula(store: Store):
    for name in ("a & b <i>", "=HYPERLINK(1)"):
        rename(store, finished(store), name)
    page = opened(show=SHOW)
    page.session_state["front_numbers"] = True
    names = page.run().dataframe[0].value["run"]
    assert set(names) == {"a & b <i>", "'=HYPERLINK(1)"}
