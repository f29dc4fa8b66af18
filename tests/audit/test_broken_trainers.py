"""Each broken trainer fails the audit that is named for it, and ours fails none."""

from dataclasses import replace

import pytest
from scipy.stats import binomtest

from dpcore.audit import run_audit, watched_run
from dpcore.audit.broken_trainers import BROKEN, OWN, TRAINERS
from dpcore.training.plan import plan
from tests.audit.small_audits import (
    CNN,
    QUICK,
    findings_of,
    request_for,
    said_by,
    verdict_of,
    watched,
)

BESIDE = {  # audits that a fault may fail beside the one that is named for it
    # What is left is rounding, the same in every step.
    "no_noise": {"generator", "fresh_noise", "evidence"},
    "half_noise": {"generator", "evidence"},
    "noise_divided_twice": {"generator", "evidence"},
    "no_clipping": {"gradients"},
    "layers_charged_once": {"gradients"},
    "batches_reused": set(),
    "realised_divisor": {"gradients", "generator", "evidence"},
    # Steps that repeat one draw make its chance deviations certain.
    "same_noise": {"generator", "noise", "evidence"},
    "raw_state": set(),
    "accepted_only": set(),
}
# What evidence says while they train; it cannot see the other faults, which are not in the noise.
CAUGHT = {
    "no_noise": "at step 1 of 12: the noise is too small",
    "half_noise": "at step 1 of 12: the noise is too small",
    "noise_divided_twice": "at step 1 of 12: the noise is too small",
    # The first batch far above the expected one.
    "realised_divisor": "at step 6 of 32: the noise is too small",
    "same_noise": "at step 2 of 12: the noise repeats",
}
SLOWLY = ("raw_state", "accepted_only", "realised_divisor")
# faults that take gradients one by one, steps that make the loss rise, or small batches of very
# different sizes
MORE_STEPS = {"batch": 64, "epochs": 0.2, "lr": 2.0}


def test_every_broken_trainer_has_a_story_an_audit_and_its_faults_listed_here() -> None:
    assert set(BESIDE) == set(BROKEN)
    assert all(each.story and each.fault and each.fails for each in BROKEN.values())
    assert (OWN.fails, TRAINERS["own"]) == ("", OWN)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_trainer_fails_the_audit_that_is_named_for_it(name: str) -> None:
    said = said_by(request_for(name, **(MORE_STEPS if name in SLOWLY else {})))
    failed = set(verdict_of(said).failed)
    assert failed - BESIDE[name] == {BROKEN[name].fails}
    shows = (
        f"Evidence reached 20 {CAUGHT[name]}." if name in CAUGHT else "Evidence stayed below 20 in "
    )
    assert findings_of(said)["evidence"].shows.startswith(shows)


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_it_does_so_with_any_seed_and_in_training_a_convolutional_network_too(name: str) -> None:
    settings = MORE_STEPS if name in SLOWLY else {}
    requests = [request_for(name, seed=seed, **settings) for seed in (11, 12, 13)]
    requests.append(
        request_for(name, config=CNN, epochs=0.3 if name == "accepted_only" else CNN.epochs)
    )
    for request in requests:
        assert BROKEN[name].fails in verdict_of(said_by(request)).failed, request


@pytest.mark.parametrize(("model", "canaries"), [("mlp", 0), ("mlp", 200), ("cnn", 100)])
def test_our_trainer_fails_no_audit(model: str, canaries: int) -> None:
    config = QUICK if model == "mlp" else CNN
    said = said_by(request_for(canaries=canaries, config=config))
    assert verdict_of(said).failed == ()
    found = findings_of(said)
    assert (
        found["clipping"].p_value == found["history"].p_value == found["gradients"].p_value == 1.0
    )


@pytest.mark.parametrize(("trainer", "failed"), [("own", 1.0), ("no_clipping", 0.0)])
def test_noise_so_large_that_it_rounds_the_sum_refutes_no_clipping_and_hides_no_lack_of_it(
    trainer: str, failed: float
) -> None:
    found = findings_of(said_by(request_for(trainer, sigma=1e6)))
    assert found["clipping"].p_value == failed


@pytest.mark.parametrize("seeds", [5, pytest.param(200, marks=pytest.mark.long)])
def test_our_trainer_fails_in_at_most_5_percent_of_the_seeds(
    seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_audit, "DRAWS", 200_000)  # of the generator, to be quick
    small = replace(QUICK, width=8, epochs=0.4)
    audits = (request_for(canaries=12, config=small, seed=seed) for seed in range(seeds))
    failed = [each.seed for each in audits if verdict_of(said_by(each)).failed]
    assert len(failed) <= 0.05 * seeds, failed


@pytest.mark.parametrize("seeds", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_evidence_against_our_trainer_reaches_its_line_in_at_most_5_percent_of_the_seeds(
    seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_run, "LOOKS", 0)
    small = replace(QUICK, width=4, batch=50, epochs=0.1)  # 20 steps
    found = [
        watched(request_for(config=small), start=seed).record.evidence for seed in range(seeds)
    ]
    caught = sum(bool(each.caught) for each in found)
    assert binomtest(caught, seeds, 0.05, alternative="greater").pvalue > 1e-3
    assert max(each.largest for each in found) > 0.1, "and it moves"


def test_each_claims_what_the_sound_program_would_be_charged() -> None:
    raw = BROKEN["raw_state"]
    config = raw.trains(QUICK)
    assert plan(config).mechanism is None
    assert raw.claims(config, None) == plan(replace(config, reading="literal")).mechanism
    annealed = BROKEN["accepted_only"].trains(QUICK)
    claim = BROKEN["accepted_only"].claims(annealed, 7)
    assert claim is not None
    assert claim.steps == 7
    assert OWN.claims(QUICK, None) == plan(QUICK).mechanism
