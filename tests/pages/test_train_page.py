"""The training page over a store whose runs are in every state; the runs' events are written as a worker would."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.runs import pool, within_limits
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.events import Started
from pages.parts.train.form import MORE
from pages.parts.train.run_choices import choices
from tests.pages.train_page import CONFIG, charts, metrics, opened, press, progress, recorded


def test_an_empty_store_says_what_to_do(store: Store):
    page = opened()
    assert "press start" in page.info[0].value
    assert any("Epsilon at the end" in each.value for each in page.markdown)


def test_the_estimate_and_the_live_chart_say_what_kind_of_number_each_epsilon_is(store: Store):
    page = opened(recorded(store, CONFIG, 40))
    (told,) = [each.value for each in page.markdown if "Epsilon at the end" in each.value]
    labels = " ".join(each["text"] for each in charts(page)[1]["layout"]["annotations"])
    for name, mark in (("pld", "≤"), ("moments", "≤"), ("rdp", "≤"), ("mma", "claims"), ("gdp", "≈")):
        assert f"{ACCOUNTANTS[name].title} **{mark} " in told
        assert re.search(rf"{mark} [\d.]+ .<br>{re.escape(style_of(name).label)}", labels)


def test_data_sets_are_chosen_by_title_and_the_address_holds_their_ids(store: Store):
    page = opened(dataset="fashion_mnist")
    assert page.selectbox(key="dataset").options[:2] == ["MNIST", "Fashion-MNIST"]
    assert page.selectbox(key="dataset").value == "fashion_mnist"
    assert page.query_params["dataset"] == "fashion_mnist"


def test_a_schedule_that_runs_out_names_its_rate_and_opens_its_controls(store: Store):
    page = opened(schedule="linear", rate_linear="0.5")
    assert page.error[0].value.startswith("Expected rate k=0.5 ")
    assert page.error[0].value.endswith("Lower k or the epochs.")
    assert [each.proto.expanded for each in page.expander if each.label == MORE] == [True]


def test_a_run_of_another_day_carries_its_date(store: Store):
    run = store.run(recorded(store, CONFIG, 20))
    (today,) = choices([run], {}).values()
    (before,) = choices([replace(run, created=run.created - 3 * 86_400)], {}).values()
    assert re.match(r"\d\d:\d\d:\d\d MNIST", today)
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d MNIST", before)


def test_start_submits_what_the_form_says_and_puts_the_run_into_the_address(store: Store):
    page = opened(sigma="2", batch="128", model="mlp")
    press(page, "Start private run")
    (run,) = store.runs()
    assert (run.config.sigma, run.config.batch, run.config.model, run.config.private) == (2.0, 128, "mlp", True)
    assert page.query_params["run"] == run.id
    assert "queued, number 1, starts in a moment" in progress(page)[0]


def test_the_baseline_is_one_click_and_joins_the_chart(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(opened(run), "Start non-private baseline")
    baseline = store.runs()[0]
    assert not baseline.config.private
    assert page.query_params["run"] == [run, baseline.id]
    assert len(progress(page)) == 2


def test_a_running_run_shows_accuracy_epsilon_pace_and_time_left(store: Store):
    run = recorded(store, CONFIG, 40)
    page = opened(run, by="rdp")
    assert "step 40 of 79, 20 steps/s, 2 s left on cpu" in progress(page)[0]
    run_picker = metrics(page)
    assert run_picker["Test accuracy"] == "66.0 %"
    assert run_picker["Gradients clipped"] == "97 %"
    spent = [run_picker[f"Epsilon, {ACCOUNTANTS[name].title}"].removeprefix("≤ ") for name in ("pld", "rdp")]
    assert 0 < float(spent[0]) < float(spent[1])


def test_the_x_axis_switches_from_epoch_to_epsilon(store: Store):
    run = recorded(store, CONFIG, 40)
    page = opened(run)
    assert charts(page)[0]["layout"]["xaxis"]["title"]["text"] == "epoch"
    page.segmented_control(key="x").set_value("epsilon").run()
    accuracy = charts(page)[0]
    assert accuracy["layout"]["xaxis"]["title"]["text"] == f"epsilon, {ACCOUNTANTS['pld'].title}"
    (line,) = accuracy["data"]
    assert line["x"] == sorted(line["x"])
    assert line["x"][0] > 0


def test_a_baseline_against_epsilon_is_a_level_line(store: Store):
    private = recorded(store, CONFIG, 40, Status.CANCELLED)
    baseline = recorded(store, RunConfig(batch=256, epochs=2.0, private=False), 70, Status.FINISHED)
    page = opened(private, baseline, x="epsilon")
    _, level = charts(page)[0]["data"]
    assert level["y"][0] == level["y"][1] == pytest.approx(78.0)
    assert metrics(page)["Test accuracy"] == "66.0 %"  # in detail is the one that has an epsilon
    assert metrics(opened(baseline))[f"Epsilon, {ACCOUNTANTS['pld'].title}"] == "none"


def test_a_reload_shows_the_same_run(store: Store):
    run = recorded(store, CONFIG, 60)
    first, second = opened(run), opened(run)
    assert charts(first) == charts(second)
    assert progress(first) == progress(second)


def test_cancel_is_asked_for_once_and_what_happened_is_kept(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(press(opened(run), "Cancel"), "Cancel this run")
    assert store.run(run).cancelling
    assert [each.disabled for each in page.button if each.label == "Cancelling…"] == [True]
    store.end(run, Status.CANCELLED)
    page = opened(run)
    assert "cancelled at step 40 of 79" in progress(page)[0]
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_a_queued_run_is_cancelled_at_once(store: Store):
    recorded(store, CONFIG, 40)
    page = press(opened(), "Start private run")
    (waiting,) = store.runs(Status.QUEUED)
    press(page, "Cancel")
    assert store.run(waiting.id).status is Status.CANCELLED


def test_a_failed_run_says_its_last_line_and_keeps_the_traceback(store: Store):
    error = "Traceback (most recent call last):\n  File x\nRuntimeError: loss is not finite at step 20"
    page = opened(recorded(store, CONFIG, 20, Status.FAILED, error))
    assert page.error[0].value == "The run failed: `RuntimeError: loss is not finite at step 20`"
    assert "Traceback" in page.code[0].value


def test_a_lost_run_says_why(store: Store):
    run = recorded(store, CONFIG, 20)
    store.lose(run, "Its worker gave no sign of life for 15 s.")
    assert "no sign of life" in opened(run).error[0].value


def test_the_time_is_estimated_from_runs_that_finished(store: Store):
    assert any("known once" in each.value for each in opened().caption)
    recorded(store, CONFIG, 70, Status.FINISHED)
    assert any("about 16 s" in each.value for each in opened(epochs="8", features="pixels").caption)


def test_six_runs_are_overlaid_each_in_its_own_colour(store: Store):
    runs = [recorded(store, RunConfig(batch=256, epochs=2.0, sigma=s), 30, Status.CANCELLED) for s in range(1, 7)]
    lines = charts(opened(*runs))[0]["data"]
    assert len({(each["line"]["color"], each["line"]["dash"]) for each in lines}) == 6


@pytest.mark.parametrize("name", ["nobody", "", "../../etc/passwd", "a" * 500, "'; drop table runs; --"])
def test_an_unknown_run_in_the_address_is_a_sentence(store: Store, name: str):
    page = opened(name)
    assert "to be a run on this machine" in page.warning[0].value
    assert page.button


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"batch": "20000"}, "Expected batch=20000 to be at most n=10000; lower the batch or raise n."),
        ({"sigma": "abc"}, "Expected sigma=`abc` to be a number. Showing 1.23."),
        ({"epochs": "1e9"}, "Expected epochs="),
        ({"lr_mnist_linear_sgd": "-1"}, "Expected lr=-1 in (0, 1e+38]."),
        ({"clip_norm": "0"}, "Expected clip_norm=0"),
    ],
)
def test_bad_input_is_a_sentence_and_starts_nothing(store: Store, query: dict[str, str], sentence: str):
    page = opened(**query)
    assert page.error[0].value.startswith(sentence)
    assert store.runs() == []


def test_unknown_names_in_the_address_fall_back_to_the_defaults(store: Store):
    page = opened(dataset="imagenet", model="gpt", optimizer="lion", x="time", by="tarot", activation="step")
    assert not page.error
    press(page, "Start private run")
    assert store.runs()[0].config.dataset == "mnist"


def test_a_corrupt_store_is_a_sentence_on_a_live_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "runs.sqlite3").write_bytes(b"not a database at all" * 100)
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    page = opened()
    assert "to be a database" in page.error[0].value
    assert page.title[0].value
    assert (tmp_path / "runs.sqlite3").read_bytes() == b"not a database at all" * 100


def test_what_keeps_workers_from_starting_is_said(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble="Training workers end."))
    assert opened().warning[0].value == "Training workers end."


def test_a_store_that_fills_up_while_starting_is_a_sentence(store: Store, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> str:
        raise pool.StoreError("Expected the run store to be on a disk with room left.")

    page = opened()
    monkeypatch.setattr(within_limits, "submit", full)
    press(page, "Start private run")
    assert "room left" in page.error[0].value


def test_the_numbers_of_the_charts_can_be_opened_as_a_table(store: Store):
    page = opened(recorded(store, CONFIG, 40))
    assert not page.dataframe
    page.session_state["evaluations"] = True
    page.run()
    (table,) = [each.value for each in page.dataframe]
    assert table["step"].tolist() == [10, 20, 30, 40]
    assert table["accuracy"].tolist() == pytest.approx([0.54, 0.58, 0.62, 0.66])
    assert table[f"epsilon, {ACCOUNTANTS['pld'].title}"].is_monotonic_increasing


def test_what_a_run_says_of_its_features_is_shown_as_it_is(store: Store):
    run = store.submit(CONFIG, worker="test:1")
    note = "The features could not be kept in [a](//b), so the next run computes them again; No space left on device."
    store.append(run, Started(10_000, 80, CONFIG.q, "cpu", 26010, f"book-keeping; {note}"))
    assert f"The run says: `{note}`" in [each.value for each in opened(run).caption]
    assert not any("The run says" in each.value for each in opened(recorded(store, CONFIG, 10)).caption)


def test_the_learning_rate_follows_data_model_and_optimizer(store: Store):
    page = opened(dataset="fashion_mnist", optimizer="adam", model="mlp")
    press(page, "Start private run")
    config = store.runs()[0].config
    assert config.lr == defaults("fashion_mnist", "mlp", "adam").lr
    press(page, "Start non-private baseline")
    assert store.runs()[0].config.lr == defaults("fashion_mnist", "mlp", "adam", private=False).lr


@pytest.mark.parametrize(
    ("query", "model"), [({}, "linear"), ({"model": "map_cnn", "views": "4"}, "map_cnn"), ({"model": "cnn"}, "linear")]
)
def test_features_are_started_with_a_model_that_takes_them_and_so_is_their_baseline(store: Store, query, model):
    page = opened(features="scatter", **query)
    for button in ("Start private run", "Start non-private baseline"):
        press(page, button)
        assert not page.exception
        assert (store.runs()[0].config.features, store.runs()[0].config.model) == ("scatter", model)


def test_the_learning_rate_follows_the_reading(store: Store):
    press(opened(optimizer="pi_adam", reading="literal"), "Start private run")
    expected = defaults("mnist", "linear", "pi_adam", reading="literal", features="scatter_upright")
    assert store.runs()[0].config == expected
