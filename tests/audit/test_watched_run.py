"""To be watched changes nothing, what is seen is what happened, and how far torch's own normal
numbers reach.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from dpcore.audit import run_audit
from dpcore.audit import watched_run as module
from dpcore.audit.events import Counted, Stopped
from dpcore.audit.request import MAX_DRAWS, AuditRequest
from dpcore.audit.run_audit import outcomes_of, torch_counts
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.training_run import TrainingRun
from tests.audit.small_audits import (
    CNN,
    QUICK,
    findings_of,
    request_for,
    said_by,
    verdict_of,
    watched,
)
from tests.training.small_runs import ticking

METHODS = {
    **{name: {"optimizer": name} for name in OPTIMIZERS},
    "literal": {"optimizer": "pi_adam", "reading": "literal"},
    "auto_s": {"clipping": "auto_s"},
    "per_layer": {"clipping": "per_layer"},
    "annealed": {"acceptance": "sa", "public": 100},
    "decay": {"schedule": "exponential", "rate": 0.5, "level_steps": 2},
    "pca": {"pca": 20},
    "several pieces": {"width": 1000, "epochs": 0.02},
}
SHORT = ("sgd", "adadp", "adppl", "pi_adam", *list(METHODS)[-7:])  # all but other optimizers
FEW = dataclasses.replace(QUICK, batch=64, epochs=0.05, lr=0.05)


@pytest.mark.parametrize(
    "method",
    [each if each in SHORT else pytest.param(each, marks=pytest.mark.long) for each in METHODS],
)
def test_a_watched_run_takes_the_very_steps_that_it_takes_unwatched_and_no_sound_method_fails(
    method: str,
) -> None:
    """None moves a release further than is charged, or remembers more than it released."""
    watch = watched(request_for(config=dataclasses.replace(FEW, **METHODS[method])))
    plain = TrainingRun(watch.config, ticking(), secret=watch.run.secret)
    for step in range(1, plain.plan.steps + 1):
        plain.step(step)
    assert watch.record.looks, "it was looked at closely, which takes steps of its own"
    assert torch.equal(watch.run.engine.parameters, plain.engine.parameters)
    assert watch.observer.releases == plain.plan.steps
    claim = watch.request.by.claims(watch.config, watch.accepted)
    found = dict(outcomes_of(watch, claim))
    assert [found[name].p_value for name in ("clipping", "gradients", "history", "releases")] == [
        1.0
    ] * 4
    assert 0.5 < found["clipping"].figures["largest"] <= 1 + 1e-3, (
        "and some example comes near to it"
    )
    assert found["history"].figures["largest"] == 0.0
    assert found["noise"].p_value > 1e-3


def test_the_noise_that_is_seen_is_the_noise_that_was_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn, add = [], GaussianNoise.add

    def recording(noise, piece, target, std, scale=None):
        before = target.double()
        add(noise, piece, target, std, scale)
        drawn.append((target.double() - before).numpy() / std)

    # The first step is looked at: take one that is not.
    watch = watched(request_for(canaries=20), steps=1)
    monkeypatch.setattr(GaussianNoise, "add", recording)
    watch.step(3)
    at = watch.record._directions.numpy()
    assert np.allclose(watch.record.noise[-1] / QUICK.sigma, drawn[0][at], atol=1e-5)


def test_noise_that_falls_short_in_the_middle_of_a_run_is_caught_at_that_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add, drawn = GaussianNoise.add, []

    def tiring(noise, piece, target, std, scale=None):
        drawn.append(std)
        add(noise, piece, target, 0.8 * std if len(drawn) > 70 else std, scale)

    monkeypatch.setattr(GaussianNoise, "add", tiring)
    monkeypatch.setattr(module, "LOOKS", 0)
    watch = module.WatchedRun(request_for(batch=50, epochs=0.5), 1)
    said = list(run_audit._train(watch))
    assert next(each.step for each in said if each.caught) == 71, (
        "a step that is no multiple of those reported"
    )
    assert said[-1].caught == "Evidence reached 20 at step 71 of 100: the noise is too small."
    assert all(len(each.evidence) == 3 for each in said)


def test_settings_without_noise_have_no_evidence() -> None:
    watch = watched(request_for(sigma=0.0, private=True), 2)
    assert watch.progress(2).evidence == ()
    assert (
        dict(outcomes_of(watch, None))["evidence"].shows
        == "Nothing can be shown: no step has noise."
    )


def test_batches_are_those_that_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.training import training_run as module

    drawn, sample = [], module.batch_of_step

    def recording(sampler, n, q, words):
        drawn.append(sample(sampler, n, q, words))
        return drawn[-1]

    monkeypatch.setattr(module, "batch_of_step", recording)
    watch = watched(request_for(canaries=100), steps=4)
    assert watch.record.sizes == [len(each) for each in drawn]
    tracked = len(watch.record.inclusions[0])
    rows = [np.flatnonzero(row).tolist() for row in watch.record.inclusions]
    assert rows == [each[each < tracked].tolist() for each in drawn]


def test_training_that_diverges_ends_in_a_sentence_and_the_audits_go_on_with_what_was_seen() -> (
    None
):
    said = said_by(request_for("no_clipping", lr=1e30, epochs=0.3, activation="relu"))
    (stopped,) = (event for event in said if isinstance(event, Stopped))
    assert stopped.reason.startswith(f"Training ended at step {stopped.step}: loss is not finite")
    assert {"noise", "clipping", "sampler", "losses"} <= set(findings_of(said))
    assert verdict_of(said).p_values


def test_training_whose_first_step_fails_shows_nothing_and_refutes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(watch, step):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(module.WatchedRun, "step", failing)
    said = said_by(request_for(canaries=20))
    (stopped,) = (event for event in said if isinstance(event, Stopped))
    assert stopped.reason == "Training ended at step 1: CUDA out of memory."
    found = findings_of(said)
    for name in ("noise", "fresh_noise", "sampler", "per_step", "one_run"):
        assert found[name].shows == "Nothing can be shown: no step was completed.", name
    assert found["releases"].shows == "0 noisy sums were released and 12 are charged."
    assert found["releases"].p_value == 1.0
    assert verdict_of(said).failed == ()


def test_an_audit_with_a_fixed_seed_repeats_and_draws_nothing_that_its_run_draws() -> None:
    def timeless(said):
        return [event for event in said if not hasattr(event, "seconds")]

    request = request_for(canaries=30, epochs=0.2)
    assert timeless(said_by(request)) == timeless(said_by(request))
    assert timeless(said_by(request)) != timeless(
        said_by(request_for(canaries=30, epochs=0.2, seed=2))
    )
    watch, run = watched(request, steps=0), TrainingRun(request.config, ticking())
    assert watch.run.noise.states()[0].tolist() != run.noise.states()[0].tolist()
    assert watch.run.batches.state().tolist() != run.batches.state().tolist()


def test_an_unaccounted_run_has_no_epsilon_but_what_was_measured() -> None:
    raw = dataclasses.replace(CNN, optimizer="pi_adam", reading="raw", batch=32, epochs=0.01)
    said = said_by(request_for(config=raw, canaries=10))
    found = findings_of(said)
    assert said[0].unaccounted.startswith("No epsilon: the raw reading")
    assert all(
        each.epsilon is None and not each.unbounded
        for name, each in found.items()
        if name != "losses"
    )
    assert "raw reading" in found["noise"].shows
    assert "factor" in found["noise"].shows
    assert verdict_of(said).claimed_upper is None
    assert verdict_of(said).failed == ("history",)


def test_noise_too_small_to_be_accounted_claims_nothing_and_is_no_fault() -> None:
    said = said_by(request_for(sigma=0.01))
    assert said[0].unaccounted
    assert findings_of(said)["releases"].shows.startswith(
        "Nothing can be shown: nothing is charged"
    )
    assert verdict_of(said).failed == ()


def test_it_tells_the_largest_so_far_and_how_many_would_be_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_audit, "TORCH_BLOCK", 1000)
    said = list(torch_counts(30_500, 7))
    assert [each.draws for each in said] == sorted({each.draws for each in said})
    assert said[-1].draws == 30_500
    assert len(said) <= run_audit.TORCH_REPORTS
    assert [each.largest for each in said] == sorted(each.largest for each in said)
    for each in said:
        assert each.expected_beyond == pytest.approx(
            2 * each.draws * norm.sf(each.largest), rel=1e-9
        )
    assert said == list(torch_counts(30_500, 7))
    assert said != list(torch_counts(30_500, 8))


def test_no_number_is_counted_where_none_is_asked_for_and_training_draws_what_it_would_have() -> (
    None
):
    before = torch.get_rng_state()
    list(torch_counts(1000, 1))
    assert torch.equal(before, torch.get_rng_state())
    assert list(torch_counts(0, 1)) == []
    with pytest.raises(ValueError, match="draws=-1"):
        list(torch_counts(-1, 1))
    for draws in (-1, 0.5, MAX_DRAWS + 1):
        with pytest.raises(ValueError, match="torch_draws="):
            AuditRequest(torch_draws=draws)  # type: ignore[arg-type]


@pytest.mark.long
def test_normal_numbers_would_go_further_than_torchs() -> None:
    *_, last = torch_counts(400_000_000, 1)
    assert last.largest <= math.sqrt(48 * math.log(2)) * (1 + 1e-6)
    assert last.expected_beyond > 2


def test_an_audit_counts_them_where_it_is_asked_to() -> None:
    asked = request_for()
    said = said_by(AuditRequest(asked.config, canaries=0, torch_draws=2000))
    (counted,) = (each for each in said if isinstance(each, Counted))
    assert counted.draws == 2000
    assert not [each for each in said_by(asked) if isinstance(each, Counted)]
