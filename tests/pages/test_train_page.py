"""The training page over a store whose runs are in every state; the runs' events are written as a
worker would.
"""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.defaults import defaults
from dpcore.written_number import FORMS
from tests.pages.train_page import CONFIG, PAGE, charts, metrics, opened, press, progress, recorded


def test_an_empty_store_says_what_to_do(store: Store):
    page = opened()
    assert "Train with these settings" in page.info[0].value
    assert any("Epsilon at the end" in each.value for each in page.markdown)


def test_the_estimate_and_the_live_chart_say_what_kind_of_number_each_epsilon_is(store: Store):
    page = opened(recorded(store, CONFIG, 40))
    (told,) = [each.value for each in page.markdown if "Epsilon at the end" in each.value]
    labels = " ".join(each["text"] for each in charts(page)[1]["layout"]["annotations"])
    for name, mark in (
        ("pld", "≤"),
        ("moments", "≤"),
        ("rdp", "≤"),
        ("mma", "claims"),
        ("gdp", "≈"),
    ):
        assert f"{ACCOUNTANTS[name].title} **{mark} " in told
        assert re.search(rf"{mark} [\d.]+ . {re.escape(style_of(name).label)}", labels)


def test_start_submits_what_the_form_says_and_puts_the_run_into_the_address(store: Store):
    page = opened(sigma="2", batch="128", model="mlp")
    press(page, "Train with these settings")
    (run,) = store.runs()
    assert (run.config.sigma, run.config.batch, run.config.model, run.config.private) == (
        2.0,
        128,
        "mlp",
        True,
    )
    assert page.query_params["run"] == run.id
    assert progress(page)[0]["state"]["said"] == "queued, number 1, starts in a moment"


def test_the_baseline_is_one_click_and_joins_the_chart(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(opened(run), "Train without privacy")
    baseline = store.runs()[0]
    assert not baseline.config.private
    assert page.query_params["run"] == [run, baseline.id]
    assert len(progress(page)) == 2


def test_a_running_run_shows_accuracy_epsilon_pace_and_time_left(store: Store):
    run = recorded(store, CONFIG, 40)
    page = opened(run, by="rdp")
    (bar,) = progress(page)
    assert bar["state"]["said"] == "step 40 of 79, 20 steps/s, 2 s left on cpu"
    run_picker = metrics(page)
    assert run_picker["Test accuracy"] == "66.0 %"
    assert run_picker["Gradients clipped"] == "97 %"
    spent = [
        run_picker[f"Epsilon, {ACCOUNTANTS[name].title}"].removeprefix("≤ ")
        for name in ("pld", "rdp")
    ]
    assert 0 < float(spent[0]) < float(spent[1])


def test_cancel_is_asked_for_once_and_what_happened_is_kept(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(press(opened(run), "Cancel"), "Cancel this run")
    assert store.run(run).cancelling
    assert [each.disabled for each in page.button if each.label == "Cancelling…"] == [True]
    store.end(run, Status.CANCELLED)
    page = opened(run)
    assert progress(page)[0]["state"]["said"] == "cancelled at step 40 of 79"
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_a_failed_run_says_its_last_line_and_keeps_the_traceback(store: Store):
    error = (
        "Traceback (most recent call last):\n  File x\nRuntimeError: loss is not finite at step 20"
    )
    page = opened(recorded(store, CONFIG, 20, Status.FAILED, error))
    assert page.error[0].value == "The run failed: `RuntimeError: loss is not finite at step 20`"
    assert "Traceback" in page.code[0].value


def test_an_unknown_run_in_the_address_is_a_sentence(store: Store):
    for name in ["nobody", "", "../../etc/passwd", "a" * 500, "'; drop table runs; --"]:
        page = opened(name)
        assert "This machine has no" in page.warning[0].value, name
        assert page.button, name


def test_bad_input_is_a_sentence_and_starts_nothing(store: Store):
    for query, sentence in (
        ({"batch": "20000"}, "Expected batch must be at most n=10000; lower the batch or raise n."),
        ({"sigma": "abc"}, f"Noise multiplier sigma must be a number: {FORMS}. Showing 1.23."),
        ({"epochs": "1e9"}, "Epochs must "),
        ({"clip_norm": "0"}, "Clipping norm C must "),
        ({"lr_mnist_linear_sgd": "-1"}, "Learning rate must be above 0 and at most 1e+38."),
    ):
        page = opened(**query)
        assert page.error[0].value.startswith(sentence), (query, sentence)
        assert store.runs() == [], (query, sentence)


def test_a_corrupt_store_is_a_sentence_on_a_live_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "runs.sqlite3").write_bytes(b"not a database at all" * 100)
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    page = opened()
    assert "to be a database" in page.error[0].value
    assert page.title[0].value
    assert (tmp_path / "runs.sqlite3").read_bytes() == b"not a database at all" * 100


def test_the_learning_rate_follows_data_model_and_optimizer(store: Store):
    page = opened(dataset="fashion_mnist", optimizer="adam", model="mlp")
    press(page, "Train with these settings")
    config = store.runs()[0].config
    assert config.lr == defaults("fashion_mnist", "mlp", "adam").lr
    press(page, "Train without privacy")
    assert store.runs()[0].config.lr == defaults("fashion_mnist", "mlp", "adam", private=False).lr


def test_reset_sets_every_control_to_its_default(store: Store):
    def texts(page: AppTest) -> dict[str, str]:
        # It is a new widget after each change.
        drawn = [each for each in page.selectbox if each.label != "Start from"]
        return {each.key: each.value for each in (*page.text_input, *drawn)}

    plain = texts(opened())
    chosen = {
        "model": "mlp",
        "features": "pixels",
        "activation": "relu",
        "optimizer": "adppl",
        "schedule": "linear",
        "lr_mnist_mlp_adppl": "3",
        "momentum": "0.5",
        "rate_linear": "0.7",
        "seeds": "3",
    }
    page = opened(**chosen)
    assert chosen.items() <= texts(page).items()
    page = press(page, "Reset")
    assert texts(page) == plain
    assert not chosen.keys() & {*page.query_params}
    for key in ("features", "model", "optimizer", "schedule"):
        page.selectbox(key=key).set_value(chosen[key]).run()
    now = texts(page)
    assert [key for key in chosen if now[key] == chosen[key]] == [
        "model",
        "features",
        "optimizer",
        "schedule",
    ]
    page.selectbox(key="acceptance").set_value("sa").run()
    assert not page.button[0].disabled
    assert page.text_input(key="public").value == "1000"


def test_reset_holds_on_pages_that_show_other_controls(store: Store):
    app = AppTest.from_file(PAGE.parents[1] / "app.py", default_timeout=60)
    app.query_params["by"] = "rdp"
    app.run()
    app.selectbox(key="sampler").set_value("fixed_order").run()
    press(app.switch_page("pages/train.py").run(), "Reset")
    assert app.switch_page("pages/lab.py").run().selectbox(key="sampler").value == "poisson"


def test_features_are_started_with_a_model_that_takes_them_and_so_is_their_baseline(store: Store):
    for query, model in [
        ({}, "linear"),
        ({"model": "map_cnn", "views": "4"}, "map_cnn"),
        ({"model": "cnn"}, "linear"),
    ]:
        page = opened(features="scatter", **query)
        for button in ("Train with these settings", "Train without privacy"):
            press(page, button)
            assert not page.exception, (query, model)
            assert (store.runs()[0].config.features, store.runs()[0].config.model) == (
                "scatter",
                model,
            ), (query, model)
