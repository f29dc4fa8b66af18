"""The runs that the Lab starts: those of its settings, their baselines, their seeds, or none."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan
from dpcore.training.seed_summary import with_seeds
from dpcore.training.settings import DRAWN
from dpcore.written_number import FORMS
from pages.parts.train.form import baseline_of
from pages.parts.train.settings_form import POISSON_DRAWN
from tests.pages.train_page import CONFIG, LAB, lab, press, progress, recorded

ALONE = "Train without privacy"


def train(page: AppTest) -> AppTest:
    page.button(key="train").click().run()
    assert not page.exception
    return page


def test_what_the_form_says_is_queued_and_put_into_the_address(store: Store):
    page = train(lab(sigma="2", batch="128", model="mlp"))
    (run,) = store.runs()
    chosen = run.config
    assert (chosen.sigma, chosen.batch, chosen.model, chosen.private) == (2.0, 128, "mlp", True)
    assert page.query_params["run"] in (run.id, [run.id])
    assert progress(page)[0]["state"]["said"] == "queued, number 1, starts in a moment"


def test_the_baseline_alone_is_one_click_and_joins_the_chart(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(lab(run=run), ALONE)
    baseline = store.runs()[0]
    assert not baseline.config.private
    assert page.query_params["run"] == [run, baseline.id]
    assert [(each["run"], each["label"]) for each in progress(page)] == [(run, "Private run")]
    assert any(each.value.startswith("Next: run without privacy.") for each in page.caption)


def test_each_run_on_the_chart_has_a_link_to_all_of_it(store: Store):
    runs = [recorded(store, CONFIG, 40, Status.FINISHED) for _ in range(2)]
    app = AppTest.from_file(LAB.parents[1] / "app.py", default_timeout=60)
    app.query_params["run"] = runs
    app.run()
    ways = [each.proto for each in app.get("page_link")]
    whole = [each for each in ways if each.label.startswith("One run, whole: ")]
    assert [each.query_string for each in whole] == [f"one={run}" for run in runs]


def test_an_unknown_run_in_the_address_is_a_sentence(store: Store):
    for name in ["nobody", "", "../../etc/passwd", "a" * 500, "'; drop table runs; --"]:
        page = lab(run=name)
        assert "This machine has no" in page.warning[0].value, name
        assert page.button, name


def test_bad_input_is_a_sentence_and_starts_nothing(store: Store):
    for query, sentence in (
        ({"batch": "20000"}, "Expected batch must be at most n=10000; lower the batch or raise n."),
        ({"sigma": "abc"}, f"Noise multiplier sigma must be a number: {FORMS}. Showing 4."),
        ({"epochs": "1e9"}, "Epochs must "),
        ({"clip_norm": "0"}, "Clipping norm C must "),
        ({"lr_mnist_linear_sgd": "-1"}, "Learning rate must be above 0 and at most 1e+38."),
    ):
        page = lab(**query)
        assert page.error[0].value.startswith(sentence), (query, sentence)
        assert store.runs() == [], (query, sentence)


def test_a_corrupt_store_is_a_sentence_on_a_live_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "runs.sqlite3").write_bytes(b"not a database at all" * 100)
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    page = lab()
    assert "to be a database" in page.error[0].value
    assert page.title[0].value
    assert page.button(key="train").disabled
    assert page.button(key="train_baseline").disabled
    assert (tmp_path / "runs.sqlite3").read_bytes() == b"not a database at all" * 100


def test_the_learning_rate_follows_data_model_and_optimizer(store: Store):
    page = train(lab(dataset="fashion_mnist", optimizer="adam", model="mlp"))
    assert store.runs()[0].config.lr == defaults("fashion_mnist", "mlp", "adam").lr
    press(page, ALONE)
    assert store.runs()[0].config.lr == defaults("fashion_mnist", "mlp", "adam", private=False).lr


def test_features_are_started_with_a_model_that_takes_them_and_so_is_their_baseline(store: Store):
    for query, model in [
        ({}, "linear"),
        ({"model": "map_cnn", "views": "4"}, "map_cnn"),
        ({"model": "cnn"}, "linear"),
    ]:
        page = lab(features="scatter", **query)
        for pressed in (train, lambda page: press(page, ALONE)):
            pressed(page)
            config = store.runs()[0].config
            assert (config.features, config.model) == ("scatter", model), (query, model)


def test_several_seeds_are_queued_as_the_command_takes_them_and_overlaid(store: Store):
    for pressed in (train, lambda page: press(page, ALONE)):
        page = pressed(lab(seeds="5", sigma="2"))
        runs = store.runs()[:5][::-1]
        assert [run.config for run in runs] == with_seeds(runs[0].config, 5)
        assert [run.config.seed for run in runs] == [None] * 5
        assert len({store.secret(run.id) for run in runs}) == 5
        assert page.query_params["run"] == [run.id for run in runs]
        assert len(progress(page)) == 5
        assert len({run.name for run in runs}) == 5
        assert any("To release several, or the best, costs" in each.value for each in page.caption)


def test_fixed_seeds_are_a_choice_and_the_page_says_what_they_cost(store: Store):
    page = train(lab(seeds="2", seed="7"))
    assert [run.config.seed for run in reversed(store.runs())] == [7, 8]
    assert [store.secret(run.id) for run in store.runs()] == [None, None]
    (warning,) = [each.value for each in page.warning if "fixed" in each.value]
    assert warning.startswith(
        "The seeds are fixed (7, 8): epsilon holds only for those who do not know them"
    )
    assert not [each for each in lab(seeds="2").warning if "fixed" in each.value]


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_run_draws_the_batches_of_the_sampler_where_training_can(store: Store, name: str):
    page = lab(sampler=name, sigma="2")
    drawn = name if name in DRAWN else "poisson"
    captions = [each.value for each in page.caption]
    assert (POISSON_DRAWN in captions) == (name not in DRAWN)
    train(page)
    config = store.runs()[0].config
    assert config.sampler == drawn
    other = drawn != "poisson"
    assert ("195 steps with these batches." in captions) == other
    assert ("epsilon" in page.button(key="train").label) != other


@pytest.mark.parametrize("name", [each for each in DRAWN if each != "poisson"])
@pytest.mark.parametrize(("epochs", "sigma"), [("20", "1.23"), ("5", "4"), ("2.5", "2")])
def test_a_run_with_other_batches_costs_what_its_page_says_before(
    store: Store, name: str, epochs: str, sigma: str
):
    page = lab(sampler=name, epochs=epochs, sigma=sigma)
    train(page)
    config = store.runs()[0].config
    of_run = re.findall(r"lies between ([\d.]+) and ([\d.]+)\.", plan(config).unaccounted)
    said = "\n".join(each.value for each in page.markdown)
    of_page = re.findall(r"lie between \*\*([\d.]+)\*\* and \*\*([\d.]+)\*\*", said)
    assert of_run == of_page != []
    assert f" {plan(config).steps:,} steps." in said
    assert f"{plan(config).steps:,} steps with these batches." in [
        each.value for each in page.caption
    ]
    assert not any("lies between" in each.value for each in page.caption), (
        "the range is not said twice"
    )


@pytest.mark.parametrize("name", [each for each in DRAWN if each != "poisson"])
def test_the_baseline_of_other_batches_is_as_long_as_the_run(name: str):
    config = RunConfig(model="mlp", batch=256, epochs=20.0, sampler=name)
    baseline = baseline_of(config)
    assert baseline.epochs == config.epochs
    assert plan(baseline).steps == plan(config).steps


def test_what_does_not_go_with_the_batches_is_said_and_starts_nothing(store: Store):
    for query, why in (
        ({"schedule": "step"}, "shuffle is proven for constant noise alone"),
        ({"stop_epsilon": "2"}, "Stop at epsilon must be 0, since the run has no epsilon"),
    ):
        page = lab(sampler="shuffle", **query)
        assert any(why in each.value for each in page.caption), query
        assert page.button(key="train").disabled, query


def texts(page: AppTest) -> dict[str, str]:
    # It is a new widget after each change.
    drawn = [each for each in page.selectbox if each.label != "Start from"]
    return {each.key: each.value for each in (*page.text_input, *drawn)}


def test_reset_sets_every_control_to_its_default(store: Store):
    plain = texts(lab())
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
        "sampler": "shuffle",
    }
    page = lab(**chosen)
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
    assert page.text_input(key="public").value == "1000"
