"""Every method on the training page: chosen, started, contradicted, and what its runs show."""

import re
from base64 import b64decode
from typing import Any

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import short
from dpcore.runs.record import Status, device_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.events import Evaluated, Stepped
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan
from dpcore.training.settings import NOISE_GENERATORS
from pages.parts.train.run_figures import INVALID
from tests.pages.train_page import CLASSES, CONFIG, FIRST, charts, metrics, opened, press, recorded


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_can_be_chosen_says_what_it_charges_and_is_what_is_started(store: Store, optimizer: str):
    page = opened(optimizer=optimizer)
    assert OPTIMIZERS[optimizer].note in [each.value for each in page.caption]
    press(page, "Start private run")
    assert store.runs()[0].config == defaults("mnist", "linear", optimizer, features="scatter_upright")


@pytest.mark.parametrize(
    "settings",
    [
        {"clipping": "per_layer"},
        {"clipping": "auto_s", "momentum": 0.5},
        {"optimizer": "pi_adam", "reading": "literal"},
        {"optimizer": "adppl", "relevance_sigma": 5.0},
        {"ema": 0.99},
        {"acceptance": "sa", "public": 500, "sa_q0": 3.0, "sa_mu0": 4},
        {"features": "pixels", "model": "abadi", "pca": 60, "pca_sigma": 8.0},
        {"model": "mlp", "width": 200},
        {"lr_schedule": "linear", "lr_end": 0.1, "lr_epochs": 2.0},
        {"schedule": "exponential", "rate": 0.05, "level_steps": 20},
        {"schedule": "polynomial", "rate": 2.5},
        {"schedule": "delayed", "rate": 0.02, "level_steps": 2},
        {"stop_epsilon": 2.0, "stop_accountant": "rdp"},
    ],
    ids=lambda settings: "-".join(settings),
)
@pytest.mark.long
def test_every_option_of_the_address_is_started(store: Store, settings: dict[str, Any]):
    rate = f"rate_{settings.get('schedule')}"
    query = {(rate if key == "rate" else key): str(value) for key, value in settings.items()}
    press(opened(**query), "Start private run")
    started = store.runs()[0].config
    assert {key: getattr(started, key) for key in settings} == settings


@pytest.mark.parametrize(
    "query",
    [
        {"reading": "raw"},
        {"pca": "60"},
        {"rate_step": "0.5"},
        {"lr_end": "0.1"},
        {"relevance_sigma": "3"},
        {"width": "20"},
    ],
)
def test_options_that_do_not_apply_are_neither_offered_nor_started(store: Store, query: dict[str, str]):
    page = opened(**query)
    assert not page.error
    press(page, "Start private run")
    assert store.runs()[0].config == FIRST


@pytest.mark.long
@pytest.mark.parametrize("device", ["", "cpu", "mps", "cuda"])
def test_the_noise_generator_can_be_chosen_where_it_matters(store: Store, device: str):
    if device:
        device_path(store.home).write_text(device)
    page = opened(noise_generator="secure")
    offered = [each for each in page.selectbox if each.label == "Noise generator"]
    assert [each.value for each in offered] == (["secure"] if device == "cuda" else [])
    said = NOISE_GENERATORS["secure"] in [each.value for each in page.caption]
    assert said == (device == "cuda")
    press(page, "Start private run")
    assert store.runs()[0].config.noise_generator == ("secure" if device == "cuda" else "auto")
    press(page, "Start non-private baseline")
    assert store.runs()[0].config.noise_generator == "auto"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"acceptance": "sa", "public": "0"}, "Expected public above 0 with acceptance='sa'"),
        ({"stop_epsilon": "1", "sigma": "0"}, "Expected stop_epsilon=1 with an epsilon to stop at."),
        ({"stop_epsilon": "1e-6"}, "Expected stop_epsilon=1e-06 to allow one step by pld"),
        ({"schedule": "linear", "rate_linear": "1"}, "Expected rate k=1.0 to keep sigma from"),
    ],
)
def test_contradictions_are_a_sentence_and_start_is_disabled(store: Store, query: dict[str, str], sentence: str):
    page = opened(**query)
    assert page.error[0].value.startswith(sentence)
    assert [each.disabled for each in page.button if each.label == "Start private run"] == [True]


@pytest.mark.parametrize("query", [{"optimizer": "pi_adam", "reading": "raw"}, {"sigma": "0"}])
def test_what_has_no_epsilon_says_why_before_it_is_started(store: Store, query: dict[str, str]):
    page = opened(**query)
    assert page.warning[0].value.startswith(("No epsilon: the raw reading", "Not private: without noise"))
    assert not any("Epsilon at the end" in each.value for each in page.markdown)


def test_a_baseline_is_without_what_only_a_private_run_has(store: Store):
    press(opened(stop_epsilon="2", acceptance="sa", public="500"), "Start non-private baseline")
    baseline = store.runs()[0].config
    assert (baseline.private, baseline.stop_epsilon, baseline.acceptance, baseline.public) == (False, 0.0, "none", 500)


def test_a_run_by_the_raw_reading_shows_the_reason_and_no_epsilon(store: Store):
    config = RunConfig(batch=256, epochs=2.0, optimizer="pi_adam", reading="raw")
    page = opened(recorded(store, config, 40), x="epsilon")
    assert {value for label, value in metrics(page).items() if label.startswith("Epsilon")} == {"none"}
    assert any("No epsilon: the raw reading" in each.value for each in page.caption)
    assert len(charts(page)) == 5  # accuracy, loss, clipped, classes, norms: none of epsilon


def test_annealing_shows_what_was_accepted_and_labels_the_papers_count_invalid(store: Store):
    config = RunConfig(batch=256, epochs=2.0, acceptance="sa", public=1000)
    run = recorded(store, config, 40)
    store.append(run, Stepped(45, 45 * config.q, 1.0, 0.9, (0.1,) * 5, 20.0, "aarra", 30))
    page = opened(run, by="rdp")
    assert metrics(page)["Accepted / rejected"] == "30 / 15"
    (caption,) = [each.value for each in page.caption if INVALID in each.value]
    title = ACCOUNTANTS["rdp"].title
    mechanism = plan(config).claimed(30)
    assert mechanism
    claim = ACCOUNTANTS["rdp"].curve(mechanism, [30], config.delta).epsilon[0]
    assert caption.endswith(f"30, would give {short(claim)}.")
    assert f"epsilon {metrics(page)[f'Epsilon, {title}']} ({title})" in caption


def test_the_sequence_of_accepted_and_rejected_proposals_is_a_strip(store: Store):
    run = recorded(store, RunConfig(batch=256, epochs=2.0, acceptance="sa", public=1000), 0)
    for step, decisions in ((3, "aar"), (5, "ra")):
        store.append(run, Stepped(step, 0.1, 1.0, 0.9, (0.1,) * 5, 20.0, decisions, 3))
    accepted, rejected = charts(opened(run))[2]["data"]
    assert accepted["y"] == [1, 1, 0, 0, 1]
    assert rejected["y"] == [0, 0, -1, -1, 0]
    store.end(run, Status.CANCELLED)
    assert len(charts(opened(recorded(store, CONFIG, 10)))) == 6  # no strip for any other method


def test_overlaid_runs_have_a_key_of_what_differs(store: Store):
    runs = [recorded(store, RunConfig(batch=256, clipping=each), 40, Status.CANCELLED) for each in ("flat", "auto_s")]
    page = opened(*runs)
    (key,) = [each.proto.body for each in page.get("html") if 'class="run-key"' in each.proto.body]
    assert re.findall(r"(\d): .*?</span> ([\w-]+)</span>", key) == [("1", "flat"), ("2", "AUTO-S")]
    assert [line["name"] for line in charts(page)[0]["data"]] == ["flat", "AUTO-S"]
    assert not [each for each in opened(runs[0]).get("html") if 'class="run-key"' in each.proto.body]


def test_the_averaged_weights_are_a_second_line_and_figure(store: Store):
    config = RunConfig(batch=256, epochs=2.0, ema=0.99)
    run = recorded(store, config, 0)
    store.append(run, Evaluated(10, 10 * config.q, 0.5, 1.0, CLASSES, 0.625))
    page = opened(run)
    assert metrics(page)["Averaged accuracy"] == "62.5 %"
    raw, averaged = charts(page)[0]["data"]
    assert (raw["y"], averaged["y"]) == ([50.0], [62.5])
    assert raw["line"]["dash"] != averaged["line"]["dash"]


def test_releases_before_the_first_step_take_no_epoch(store: Store):
    config = RunConfig(batch=256, epochs=2.0, optimizer="adppl")
    page = opened(recorded(store, config, 40))
    columns = [line["x"] for line in charts(page)[1]["data"] if "bdata" in line["x"]]
    last = [np.frombuffer(b64decode(x["bdata"]), x["dtype"])[-1] for x in columns]
    assert last == pytest.approx([plan(config).steps * config.q] * len(columns))
    assert last
