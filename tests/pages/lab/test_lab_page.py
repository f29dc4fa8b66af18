"""The lab: its data, what its button says and starts, its switch, its runs, what it keeps."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.lab import INVITATION
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.controls import data
from pages.parts.lab.lab_chart import UNTRAINABLE
from tests.pages.runs_page import imported
from tests.pages.train_page import FIRST, opened_at, recorded

PAGE = Path(__file__).parents[3] / "pages" / "accountants.py"


@pytest.fixture(autouse=True)
def samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no full data set is installed."""
    monkeypatch.setattr(data, "available", lambda name: () if name == "cifar10" else ("sample",))


def opened(*runs: str, **query: str) -> AppTest:
    return opened_at(PAGE, *runs, session={}, **query)


def train(page: AppTest):
    return page.button(key="train")


def traces(page: AppTest) -> list[dict]:
    """The lab's chart."""
    return json.loads(page.get("plotly_chart")[0].proto.spec)["data"]


def test_train_queues_the_settings_and_the_run_without_privacy_beside_them(store: Store):
    page = opened(sigma="2")
    train(page).click().run()
    assert not page.exception
    baseline, private = sorted(store.runs(), key=lambda run: run.config.private)
    assert (private.config.sigma, private.config.batch, private.config.epochs) == (2.0, 256, 5.0)
    assert not baseline.config.private
    assert set(page.query_params["run"]) == {private.id, baseline.id}


def test_the_switch_is_on_until_one_of_these_data_has_run_and_then_as_it_was_left(store: Store):
    page = opened()
    assert page.toggle(key="baseline").value
    recorded(store, FIRST, 40, Status.FINISHED)
    page = opened()
    assert not page.toggle(key="baseline").value
    page.toggle(key="baseline").set_value(True).run()
    recorded(store, FIRST, 40, Status.FINISHED)
    assert page.run().toggle(key="baseline").value
    assert opened(dataset="fashion_mnist").toggle(key="baseline").value


def test_the_button_says_epsilon_and_once_it_is_known_the_time(store: Store):
    assert train(opened()).label == "Train · epsilon ≤ 1.57"
    recorded(store, FIRST, 70, Status.FINISHED)
    assert train(opened()).label.split(" · ")[1].endswith(" s")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"n": "29305"}, "no data of 29,305 examples"),
        ({"sampling": "q", "q": "0.01234"}, "no whole batch"),
        ({"epochs": "100000"}, "1,000,000 steps"),
        ({"model": "mlp", "stop_epsilon": "1e-6"}, "stop_epsilon"),
    ],
)
def test_what_cannot_be_trained_is_accounted_for_and_says_why(store: Store, query: dict[str, str], why: str):
    page = opened(**query)
    assert not page.error
    assert train(page).disabled
    assert any(why in each.value for each in page.caption)
    assert len(traces(page)) > 4


def test_a_number_of_steps_and_a_rate_that_is_a_whole_batch_can_be_trained(store: Store):
    page = opened(sampling="q", q="0.01", length="steps", steps="150")
    train(page).click().run()
    config = next(run.config for run in store.runs() if run.config.private)
    assert (config.batch, config.steps_of_epochs) == (100, 150)


@pytest.mark.parametrize(
    ("query", "dataset", "n"),
    [
        ({}, "mnist", "10000"),
        ({"n": "10000"}, "mnist", "10000"),
        ({"n": "60000"}, "other", "60000"),
        ({"dataset": "fashion_mnist"}, "fashion_mnist", "10000"),
        ({"dataset": "other", "n": "777"}, "other", "777"),
        ({"dataset": "imagenet"}, "mnist", "10000"),
    ],
)
def test_data_and_number_of_examples_go_together(store: Store, query: dict[str, str], dataset: str, n: str):
    page = opened(**query)
    assert page.selectbox(key="dataset").value == dataset
    assert page.session_state["n"] == n
    assert [each.key for each in page.text_input if each.key == "n"] == (["n"] if dataset == "other" else [])


def test_a_preset_chooses_data_of_its_size_and_back(store: Store):
    page = opened()
    page.selectbox(key="preset").set_value("Moments accountant, MNIST").run()
    assert page.selectbox(key="dataset").value == "other"
    assert page.text_input(key="n").value == "60000"
    page.selectbox(key="preset").set_value("Training page's default (MNIST sample)").run()
    assert (page.selectbox(key="dataset").value, page.session_state["n"]) == ("mnist", "10000")


def test_where_the_full_set_is_here_its_size_chooses_it(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data, "available", lambda name: ("full", "sample") if name == "mnist" else ("sample",))
    page = opened(n="60000")
    assert (page.selectbox(key="dataset").value, page.selectbox(key="source").value) == ("mnist", "full")


def test_a_run_of_these_settings_is_private_and_of_others_a_ghost(store: Store):
    run = recorded(store, FIRST, 40, Status.FINISHED)
    names = [trace["name"] for trace in traces(opened(run))]
    assert "private" in names
    names = [trace["name"] for trace in traces(opened(run, sigma="2"))]
    assert "sigma 1.23" in names
    assert "sigma 1.23, certified" in names


def test_an_imported_run_says_so_on_the_chart_and_in_its_words(store: Store):
    page = opened(imported(store, recorded(store, FIRST, 40, Status.CANCELLED)))
    assert "private, imported" in [trace["name"] for trace in traces(page)]
    assert "private, imported 66.0 %" in page.get("plotly_chart")[0].proto.alt


def test_the_chart_says_its_numbers_to_those_who_do_not_see_it(store: Store):
    told = opened(recorded(store, FIRST, 40, Status.FINISHED)).get("plotly_chart")[0].proto.alt
    assert "Certified band (PLD) ≤ 1.57" in told
    assert "private 66.0 %" in told


def test_settings_that_do_not_go_together_leave_the_last_good_chart(store: Store):
    page = opened()
    before = traces(page)
    page.text_input(key="batch").set_value("999999").run()
    assert page.error[0].value == "Expected batch=999999 to be at most n=10000; lower the batch or raise n."
    assert page.text_input(key="sigma").value == "1.23"
    assert traces(page) == before
    assert train(page).disabled


def test_reset_brings_every_control_back(store: Store):
    page = opened(sigma="2", batch="128", optimizer="adam", dataset="fashion_mnist", delta="1e-6")
    page.button(key="reset").click().run()
    values = [page.text_input(key=key).value for key in ("sigma", "batch", "delta")]
    assert values == ["1.23", "256", "1e-5"]
    assert (page.selectbox(key="optimizer").value, page.selectbox(key="dataset").value) == ("sgd", "mnist")


@pytest.mark.parametrize("asked", [{}, {"features": "pixels", "model": "mlp"}, {"lesson": "sampling", "step": "1"}])
def test_reset_brings_the_features_and_the_model_back_that_the_page_opens_with(store: Store, asked: dict[str, str]):
    first, page = opened(), opened(**asked)
    page.button(key="lesson_reset" if "lesson" in asked else "reset").click().run()
    for key in ("features", "model"):
        assert page.selectbox(key=key).value == first.selectbox(key=key).value
        assert key not in page.query_params


def test_a_lesson_that_is_closed_leaves_its_model_in_the_address(store: Store):
    page = opened(lesson="sampling", step="1")
    page.button(key="lesson_close").click().run()
    assert (page.selectbox(key="features").value, page.selectbox(key="model").value) == ("pixels", "cnn")
    assert page.query_params["features"] == "pixels"


def test_a_pinned_setting_stays_on_the_chart(store: Store):
    page = opened()
    page.button(key="pin_this").click().run()
    page.text_input(key="sigma").set_value("2").run()
    assert any(trace["name"].startswith("Pinned") for trace in traces(page))
    assert any("**Pinned:**" in each.value for each in page.markdown)


def test_a_private_runs_norms_and_one_of_its_steps_can_be_seen(store: Store):
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["run"] = [recorded(store, FIRST, 40)]
    page.session_state["step_shown"] = True
    page.run()
    assert not page.exception
    (shown,) = [each.proto.body for each in page.get("html") if "<ol" in each.proto.body]
    assert "Step 40" in shown
    assert any("Gradient norms before clipping" in each.value for each in page.markdown)


def test_only_what_a_pin_can_hold_is_pinned(store: Store):
    falling = {"schedule": "exponential", "rate_exponential": "0.01"}
    assert "pin_this" in {button.key for button in opened(**falling).button}
    assert "pin_this" not in {button.key for button in opened(**falling, level_steps="7").button}


def notes(page: AppTest) -> list[str]:
    layout = json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]
    return [note["text"] for note in layout["annotations"] if note.get("yref") == "y2"]


def test_the_chart_asks_to_press_train_only_where_the_button_can_be_pressed(store: Store):
    page = opened()
    assert not train(page).disabled
    assert notes(page) == [INVITATION]
    page = opened(dataset="other", n="60000")
    assert train(page).disabled
    assert notes(page) == [UNTRAINABLE]
