"""The lab: its data, what its button says and starts, its switch, its runs."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.catalogue import DATASETS
from dpcore.figures.lab import INVITATION
from dpcore.papers.better_features import PAPER
from dpcore.papers.records import recorded as recorded_run
from dpcore.runs.holding import hold, let_go, steps_granted
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts import hero
from pages.parts.controls import data
from pages.parts.lab import RECIPES, UNTRAINABLE
from pages.parts.train.buttons import KNOWN
from pages.parts.train.form import baseline_of
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import FIRST, charts, opened_at, progress, recorded

PAGE = Path(__file__).parents[3] / "pages" / "lab.py"


@pytest.fixture(autouse=True)
def samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no full data set is installed."""
    monkeypatch.setattr(
        data, "available", lambda name: ("sample",) if DATASETS[name].sampled else ()
    )


def opened(*runs: str, **query: str) -> AppTest:
    return opened_at(PAGE, *runs, session={}, **query)


def train(page: AppTest):
    return page.button(key="train")


def traces(page: AppTest) -> list[dict]:
    """The lab's chart of accuracy, and that of epsilon."""
    accuracy, epsilon = charts(page)[:2]
    return [*accuracy["data"], *epsilon["data"]]


def test_train_queues_the_settings_and_the_run_without_privacy_beside_them(store: Store):
    page = opened(sigma="2")
    train(page).click().run()
    assert not page.exception
    baseline, private = sorted(store.runs(), key=lambda run: run.config.private)
    assert (private.config.sigma, private.config.batch, private.config.epochs) == (2.0, 256, 5.0)
    assert not baseline.config.private
    assert set(page.query_params["run"]) == {private.id, baseline.id}


def test_the_switch_stays_as_it_is_and_a_baseline_that_is_known_is_shown_at_once(store: Store):
    page = opened()
    assert page.toggle(key="baseline").value
    assert KNOWN not in page.toggle(key="baseline").label
    # No noise is no noise.
    known = recorded(store, replace(baseline_of(FIRST), sigma=3.0), 40, Status.FINISHED)
    recorded(store, replace(baseline_of(FIRST), epochs=7.0), 40, Status.FINISHED)  # another one
    page = opened()
    assert page.toggle(key="baseline").value
    assert KNOWN in page.toggle(key="baseline").label
    train(page).click().run()
    (private,) = [run for run in store.runs() if run.status is Status.QUEUED]
    assert private.config.private
    assert page.query_params["run"] == [private.id, known]
    assert not page.toggle(key="baseline").set_value(False).run().toggle(key="baseline").value


def test_the_button_says_epsilon_and_once_it_is_known_the_time(store: Store):
    assert train(opened()).label == "Train · epsilon ≤ 0.318"
    recorded(store, FIRST, 70, Status.FINISHED)
    recorded(store, baseline_of(FIRST), 70, Status.FINISHED)
    assert train(opened()).label.split(" · ")[1].endswith(" s")


@pytest.mark.parametrize("dataset", ["mnist", "fashion_mnist"])
def test_the_best_recipe_stands_beside_runs_over_epsilon_up_to_one_point_beyond_them(
    dataset: str,
) -> None:
    grid = next(each for each in PAPER.grids if each.place == DATASETS[dataset].title)
    records = [recorded_run(PAPER.id, config) for config in grid.curves[-1].configs]
    known = [(each.epsilon, each.mean) for each in records if each]
    for sigma, least in (("1.23", 1.56), ("4", 0.3)):
        (trace,) = [
            each for each in traces(opened(dataset=dataset, x=RECIPES, sigma=sigma)) if named(each)
        ]
        assert [*trace["x"], *trace["y"]] == pytest.approx(
            [*np.transpose(known[: len(trace["x"])]).ravel()]
        )
        assert [epsilon > least for epsilon in trace["x"]] == [False] * (len(trace["x"]) - 1) + [
            True
        ]
    assert not [each for each in traces(opened(dataset=dataset, x="epsilon")) if named(each)]


def named(trace: dict) -> bool:
    """True of the trace of the best recipe."""
    return "best recipe" in trace.get("name", "")


def test_what_cannot_be_trained_is_accounted_for_and_says_why(store: Store):
    for query, why in (
        ({"n": "29305"}, "no data of 29,305 examples"),
        ({"sampling": "q", "q": "0.01234"}, "not a whole number"),
        ({"epochs": "100000"}, "1,000,000 steps"),
        ({"model": "mlp", "stop_epsilon": "1e-6"}, "Stop at epsilon must "),
    ):
        page = opened(**query)
        assert not page.error, (query, why)
        assert train(page).disabled, (query, why)
        assert any(why in each.value for each in page.caption), (query, why)
        assert len(traces(page)) > 4, (query, why)


def test_where_no_such_data_are_here_one_click_chooses_some(store: Store):
    page = opened(dataset="other", n="60000")
    assert train(page).disabled
    page.button(key="offered_data").click().run()
    assert not train(page).disabled
    assert page.selectbox(key="dataset").value == "mnist"
    assert "offered_data" not in [each.key for each in page.button]


def test_a_run_of_these_settings_is_private_and_of_others_a_ghost(store: Store):
    run = recorded(store, FIRST, 40, Status.FINISHED)
    names = [trace["name"] for trace in traces(opened(run))]
    assert "private" in names
    names = [trace["name"] for trace in traces(opened(run, sigma="2"))]
    assert "sigma 4" in names
    assert "sigma 4, certified" in names


def test_a_private_runs_norms_and_one_of_its_steps_can_be_seen(store: Store):
    page = opened_at(PAGE, recorded(store, FIRST, 40), session={"step_shown": True})
    (shown,) = [
        each.proto.body for each in page.get("html") if '<ol class="step-shown' in each.proto.body
    ]
    assert "Add up, and add noise" in shown
    assert any("Gradient norms before clipping" in each.value for each in page.markdown)


def test_a_run_that_a_worker_trains_can_be_paused_stepped_and_played(store: Store):
    run = recorded(store, FIRST, 40)
    page = opened(run)
    # Nobody heeds it, as on a cluster.
    assert f"pace_{run}" not in [each.key for each in page.button]
    let_go(store, run)
    page.run()
    page.button(key=f"pace_{run}").click().run()
    assert (steps_granted(store, run), progress(page)[0]["state"]["said"]) == (
        0,
        "paused at step 40 of 196",
    )
    page.button(key=f"step_{run}").click().run()
    assert steps_granted(store, run) == 1
    page.button(key=f"pace_{run}").click().run()
    assert (steps_granted(store, run), "paused" in progress(page)[0]["state"]["said"]) == (
        None,
        False,
    )
    assert page.button(key=f"step_{run}").disabled


def bodies(page: AppTest) -> list[str]:
    return [each.proto.body for each in page.get("html")]


def test_a_held_run_shows_an_example_of_a_step_that_says_so_first_and_another_at_each_step(
    store: Store,
):
    run = recorded(store, FIRST, 40)
    let_go(store, run)
    hold(store, run)
    page = opened(run, sigma="2")
    shown = bodies(page)
    (place,) = [at for at, each in enumerate(shown) if '<ol class="step-shown' in each]
    assert shown[place - 1].startswith("<p>Paused. An example of one step with these settings")
    assert "sigma C = 4 × 0.1" in shown[place], "of the run, not of the sliders"
    page.button(key=f"step_{run}").click().run()
    (other,) = [each for each in bodies(page) if '<ol class="step-shown' in each]
    assert other != shown[place]


def test_a_held_run_says_what_its_last_step_changed(store: Store, monkeypatch: pytest.MonkeyPatch):
    said: dict = {}
    monkeypatch.setattr(
        hero,
        "headline",
        lambda sentences, numbers, key: said.update(of=numbers, last=sentences[-1]),
    )
    (watched,) = watched_runs(store, [recorded(store, FIRST, 40)])
    hero.say_changed(watched)
    values = {name: (each.value, each.latest) for name, each in said["of"].items()}
    assert values["accuracy"] == ("66.00", None)
    assert values["accuracy_before"] == ("62.00", "66.00")
    assert values["step_before"] == ("30", "40")
    assert set(re.findall(r"{(\w+)}", said["last"])) <= set(values)


def test_a_held_run_without_privacy_says_in_a_sentence_that_it_hides_nothing(store: Store):
    run = recorded(store, baseline_of(FIRST), 40)
    let_go(store, run)
    hold(store, run)
    shown = bodies(opened(run))
    assert any("This run has no privacy: it adds up" in each for each in shown)
    assert not any('<ol class="step-shown' in each for each in shown)


def test_before_any_run_a_step_of_the_settings_can_be_seen(store: Store):
    page = opened_at(PAGE, session={"step_shown": True})
    (shown,) = [
        each.proto.body for each in page.get("html") if '<ol class="step-shown' in each.proto.body
    ]
    assert shown.count("<img") == 6 + 6 + 6 + 3
    assert "sigma C = 4 × 0.1 = 0.4" in shown


def notes(page: AppTest) -> list[str]:
    layout = charts(page)[0]["layout"]
    return [note["text"] for note in layout["annotations"] if note.get("yref") == "paper"]


def test_the_chart_asks_to_press_train_only_where_the_button_can_be_pressed(store: Store):
    page = opened()
    assert not train(page).disabled
    assert notes(page) == [INVITATION]
    assert notes(opened(present="1")) == ["Turn on Controls and press Train"]
    page = opened(dataset="other", n="60000")
    assert train(page).disabled
    assert notes(page) == [UNTRAINABLE]


@pytest.mark.parametrize("other", [{"sampler": "shuffle"}, {"sigma": 0.0}, {"clipping": "auto_s"}])
def test_a_held_run_whose_steps_are_of_another_kind_shows_no_picture_of_one(
    store: Store, other: dict[str, Any]
):
    run = recorded(store, replace(FIRST, **other), 40)
    let_go(store, run)
    hold(store, run)
    shown = bodies(opened(run))
    assert any("There is no picture of a step with these settings" in each for each in shown)
    assert not any('<ol class="step-shown' in each for each in shown)
