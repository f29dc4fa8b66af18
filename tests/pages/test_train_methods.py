"""Every method: chosen in the Lab, started, contradicted, and what its runs show."""

from dataclasses import replace

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import short
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import OPENING_SIGMA, defaults
from dpcore.training.events import Stepped
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan
from pages.parts.train.run_charts import INVALID
from tests.pages.train_page import FIRST, charts, lab, metrics, opened, recorded, started


def test_every_optimizer_can_be_chosen_says_what_it_charges_and_is_what_is_started(store: Store):
    for optimizer in OPTIMIZERS:
        page = lab(optimizer=optimizer)
        assert OPTIMIZERS[optimizer].note in [each.value for each in page.caption], optimizer
        page.button(key="train").click().run()
        usual = defaults("mnist", "linear", optimizer, features="scatter_upright")
        (started_run,) = [run for run in store.runs() if run.config.optimizer == optimizer]
        assert started_run.config == replace(usual, sigma=OPENING_SIGMA), optimizer


def test_options_that_do_not_apply_are_neither_offered_nor_started(store: Store):
    for query in (
        {"reading": "raw"},
        {"pca": "60"},
        {"rate_step": "0.5"},
        {"lr_end": "0.1"},
        {"relevance_sigma": "3"},
        {"width": "20"},
    ):
        assert started(store, **query) == FIRST, query


def test_contradictions_are_a_sentence_and_start_is_disabled(store: Store):
    for query, sentence in [
        ({"acceptance": "sa", "public": "0"}, "Hold out public examples (public above 0"),
        ({"stop_epsilon": "1", "sigma": "0"}, "Stop at epsilon must be 0, since"),
        ({"stop_epsilon": "1e-6"}, "Stop at epsilon must allow one step by pld"),
        ({"schedule": "linear", "rate_linear": "1"}, "Rate k must keep sigma from"),
    ]:
        page = lab(**query)
        told = [*page.error, *page.caption]
        assert any(sentence in each.value for each in told), (query, sentence)
        assert page.button(key="train").disabled, (query, sentence)


def test_what_has_no_epsilon_says_why_before_it_is_started(store: Store):
    for query in [{"optimizer": "pi_adam", "reading": "raw"}, {"sigma": "0"}]:
        page = lab(**query)
        told = [each.value for each in page.markdown]
        whys = ("No epsilon: the raw reading", "Not private: without noise")
        assert any(each.startswith(whys) for each in told), query
        assert page.button(key="train").label == "Train", query


def test_a_run_by_the_raw_reading_shows_the_reason_and_no_epsilon(store: Store):
    config = RunConfig(batch=256, epochs=2.0, optimizer="pi_adam", reading="raw")
    page = opened(recorded(store, config, 40), x="epsilon")
    assert {value for label, value in metrics(page).items() if label.startswith("Epsilon")} == {
        "none"
    }
    assert any("No epsilon: the raw reading" in each.value for each in page.caption)
    assert len(charts(page)) == 5  # accuracy, loss, clipped, classes, norms: none of epsilon


def test_annealing_shows_what_was_accepted_and_labels_the_papers_count_invalid(store: Store):
    config = RunConfig(batch=256, epochs=2.0, acceptance="sa", public=1000)
    run = recorded(store, config, 40)
    store.append(run, Stepped(45, 45 * config.q, 1.0, 0.9, (0.1,) * 5, 20.0, "aarra", 30))
    page = opened(run, by="rdp")
    mechanism = plan(config).claimed(30)
    assert mechanism
    claim = short(ACCOUNTANTS["rdp"].curve(mechanism, [30], config.delta).epsilon[0])
    figures = {"Accepted / rejected": "30 / 15", INVALID: claim}
    assert figures.items() <= metrics(page).items()
    assert any("All proposals are charged" in each.value for each in page.caption)
    store.end(run, Status.CANCELLED)
    assert figures.items() <= metrics(opened(run, by="rdp")).items()


@pytest.mark.long
def test_every_option_of_the_address_is_started(store: Store):
    for settings in (
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
    ):
        rate = f"rate_{settings.get('schedule')}"
        query = {(rate if key == "rate" else key): str(value) for key, value in settings.items()}
        chosen = started(store, **query)
        assert {key: getattr(chosen, key) for key in settings} == settings, settings
