"""Verdicts on claims: each kind, at its edge, and what a wrong proof would have said."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.claims import Claim, Printed, Standing, checked, printed_epsilon, setting
from dpcore.claims.samplers import Bounds
from dpcore.claims.setting import setting_of
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.types import Kind

ABADI = Claim(delta=1e-5, q=0.01, sigma=4.0, steps=10_000, sampler="poisson")  # certified: 0.9461 to 0.9481
SHUFFLED = Claim(Printed("3.0"), 1e-5, batch=512, examples=60_000, sigma=1.068, epochs=40.0, sampler="shuffle")


def claiming(epsilon: str, claim: Claim = ABADI, **changed) -> Claim:
    return replace(claim, epsilon=Printed(epsilon), **changed)


@pytest.mark.parametrize(
    ("epsilon", "standing"),
    [
        ("1.26", Standing.HOLDS),
        ("0.949", Standing.HOLDS),
        ("0.9482", Standing.HOLDS),
        ("0.947", Standing.UNPROVEN),  # within the band
        ("0.95", Standing.HOLDS),
        ("0.946", Standing.UNPROVEN),  # below the band, and may have been rounded down from there
        ("0.945", Standing.REFUTED),  # at most 0.9455
        ("0.94", Standing.REFUTED),
        ("0.9", Standing.UNPROVEN),  # up to 0.95 rounds to it
        ("0.90", Standing.REFUTED),
        ("1", Standing.HOLDS),
    ],
)
def test_a_claim_is_judged_by_its_digits(epsilon: str, standing: Standing) -> None:
    verdict = checked(claiming(epsilon))
    assert verdict.standing is standing
    assert verdict.certificate
    assert epsilon in verdict.sentence
    assert verdict.review.endswith(".")
    assert (verdict.room is not None) == (standing is Standing.HOLDS)


@given(st.floats(0.05, 20.0), st.integers(0, 4))
@settings(max_examples=25, deadline=None)
def test_what_is_refuted_is_below_the_proof_and_what_holds_is_above(value: float, places: int) -> None:
    text = f"{value:.{places}f}"
    if float(text) == 0:
        return
    verdict = checked(claiming(text))
    assert verdict.certificate
    lower, upper = verdict.certificate.bounds[:2]
    printed = Printed(text)
    assert (verdict.standing is Standing.REFUTED) == (printed.high < lower)
    assert (verdict.standing is Standing.HOLDS) == (printed.value >= upper)


def test_shuffled_batches_that_are_accounted_as_poisson_are_refuted() -> None:
    verdict = checked(SHUFFLED)
    assert verdict.standing is Standing.REFUTED
    assert verdict.certificate
    assert verdict.certificate.bounds.lower >= 3.546
    assert [each.accountant for each in verdict.given_by] == ["pld"]  # which is where the number comes from
    assert "zero-out adjacency" in verdict.review
    assert checked(replace(SHUFFLED, sampler="poisson")).standing is not Standing.REFUTED


def test_between_the_ends_of_an_interval_nothing_is_known() -> None:
    verdict = checked(replace(SHUFFLED, epsilon=Printed("20")))
    assert verdict.standing is Standing.UNPROVEN
    assert "it may be true" in verdict.sentence
    assert checked(replace(SHUFFLED, epsilon=Printed("43"))).standing is Standing.HOLDS


def test_a_claim_that_does_not_say_how_batches_are_drawn_is_told_what_shuffling_would_cost() -> None:
    verdict = checked(replace(SHUFFLED, sampler=None))
    told = re.search(r"judged as Poisson.* shuffled, .* at least ([\d.]+)[.]$", verdict.notes[0])
    assert told
    assert float(told[1]) >= 3.54


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"q": 0.02, "batch": 600, "examples": 60_000}, "is q = 0.01, and 0.02 is claimed"),
        ({"q": None, "batch": 60, "examples": 50}, "A batch of 60 of 50 examples is more than there are."),
        ({"epochs": 50.0}, "50 epochs are 5,000 steps, and 10,000 are claimed"),
        ({"mechanism": Mechanism.constant(0.01, 4.0, 9)}, "What was released are 9 steps, and 10,000 are claimed."),
    ],
)
def test_numbers_that_do_not_fit_one_another_contradict(changed: dict, words: str) -> None:
    verdict = checked(claiming("1.26", **changed))
    assert verdict.standing is Standing.CONTRADICTORY
    assert words in verdict.sentence
    assert words in verdict.review
    assert verdict.certificate is None


@pytest.mark.parametrize(
    "changed",
    [
        {"batch": 600, "examples": 60_000, "epochs": 100.0},
        {"q": 0.0043, "batch": 256, "examples": 60_000, "steps": 14_062, "epochs": 60.0},
        {"q": 256 / 60_000, "batch": 256, "examples": 60_000, "steps": 60 * 234, "epochs": 60.0},  # the rest dropped
        {"q": 256 / 60_000, "batch": 256, "examples": 60_000, "steps": 60 * 235, "epochs": 60.0},  # or taken along
    ],
)
def test_numbers_that_were_rounded_do_not_contradict(changed: dict) -> None:
    assert checked(claiming("8", **changed)).standing is Standing.HOLDS


def test_a_number_below_all_that_its_accountant_gives_contradicts_and_the_bound_is_told_too() -> None:
    verdict = checked(claiming("9.34", accountant="strong"))
    assert verdict.standing is Standing.CONTRADICTORY
    assert "gives 14.3, and 9.34 is claimed" in verdict.sentence
    assert "at most 0.9481" in verdict.sentence


def test_a_budget_above_what_its_accountant_gives_holds_and_is_told() -> None:
    budget = Claim(printed_epsilon("8.0"), 1e-5, q=0.01, sigma=1.1, steps=1000, sampler="poisson", accountant="rdp")
    verdict = checked(budget)
    assert verdict.standing is Standing.HOLDS
    assert "gives 2.09: 8.0 is more" in verdict.notes[0]
    assert checked(claiming("3.39", accountant="mma")).standing is Standing.HOLDS  # PIGDO, section 5.2
    assert not any("as a budget" in each for each in checked(claiming("1.70", accountant="mma")).notes)


def test_what_a_library_computes_may_be_off_by_a_percent_and_not_by_ten() -> None:
    assert not any("budget" in each for each in checked(claiming("0.955", accountant="pld")).notes)
    assert any("budget" in each for each in checked(claiming("1.05", accountant="pld")).notes)


def test_what_is_refuted_is_refuted_whoever_counted() -> None:
    for accountant in ("gdp", "moments"):
        assert checked(claiming("0.5", accountant=accountant)).standing is Standing.REFUTED


@pytest.mark.parametrize(
    ("gone", "word"),
    [("delta", "delta"), ("sigma", "noise multiplier"), ("steps", "steps or epochs"), ("q", "sampling rate q")],
)
def test_a_number_that_is_missing_is_named_and_nothing_is_certified(gone: str, word: str) -> None:
    verdict = checked(claiming("1.26", **{gone: None}))
    assert verdict.standing is Standing.INSUFFICIENT
    assert word in verdict.sentence
    assert verdict.certificate is None


def test_without_an_epsilon_there_is_a_certificate_and_no_verdict() -> None:
    verdict = checked(ABADI)
    assert verdict.standing is Standing.INSUFFICIENT
    assert "does not say epsilon. Epsilon is proven to lie between 0.946 and 0.949." in verdict.sentence
    assert verdict.certificate


def test_an_empty_claim_says_everything_that_is_missing() -> None:
    verdict = checked(Claim())
    assert verdict.standing is Standing.INSUFFICIENT
    assert all(word in verdict.sentence for word in ("q", "sigma", "steps", "delta", "epsilon"))


def test_epochs_leave_open_how_many_steps_and_the_bounds_hold_for_all() -> None:
    claim = Claim(Printed("3.01"), 1e-5, batch=256, examples=60_000, sigma=1.1, epochs=60.0, sampler="poisson")
    setting = setting_of(claim)
    assert (setting.fewest, setting.most) == (14_040, 14_100)
    least, most = (checked(replace(claim, epochs=None, steps=steps)).certificate for steps in (14_040, 14_100))
    found = checked(claim).certificate
    assert found
    assert least
    assert most
    assert (found.bounds.lower, found.bounds.upper) == (least.bounds.lower, most.bounds.upper)


@pytest.mark.parametrize("sampler", ["fixed_order", "shuffle", "random_allocation"])
def test_a_lower_bound_holds_where_examples_are_replaced_and_an_upper_one_does_not(sampler: str) -> None:
    claim = claiming("500", sampler=sampler, sigma=1.0)
    own, other = (checked(replace(claim, adjacency=each)).certificate for each in (None, "replace_one"))
    assert own
    assert other
    assert other.bounds.lower == own.bounds.lower
    assert math.isinf(other.bounds.upper)
    assert checked(replace(claim, adjacency="replace_one")).standing is Standing.UNPROVEN
    low = replace(claim, epsilon=Printed("1.0"), adjacency="replace_one")
    assert checked(low).standing is Standing.REFUTED


def test_poisson_batches_cost_the_same_where_an_example_is_zeroed() -> None:
    own, other = (checked(claiming("1.26", adjacency=each)).certificate for each in ("add_remove", "zero_out"))
    assert own
    assert other
    assert own.bounds == other.bounds


def test_what_is_proven_for_replaced_examples_proves_nothing_where_they_are_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setting, "sampler_bounds", lambda *_: Bounds(2.0, 3.0, Kind.CERTIFIED))
    assert checked(claiming("1.26", sampler="fixed_size")).standing is Standing.REFUTED
    found = checked(claiming("1.26", sampler="fixed_size", adjacency="add_remove"))
    assert found.standing is Standing.UNPROVEN
    assert found.certificate
    assert found.certificate.bounds.lower == 0.0


def test_steps_that_are_not_all_alike_are_judged_as_they_are() -> None:
    mechanism = Mechanism((Release(0.01, 4.0, 5_000), Release(0.01, 2.0, 5_000)))
    verdict = checked(Claim(Printed("1.26"), 1e-5, mechanism=mechanism))
    assert verdict.standing is Standing.REFUTED
    assert checked(Claim(Printed("1.26"), 1e-5, mechanism=mechanism, sampler="shuffle")).standing is Standing.UNPROVEN


def test_a_sampler_that_gives_up_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(*_: object) -> Bounds:
        raise RuntimeError("Counting takes too long here.")

    monkeypatch.setattr(setting, "sampler_bounds", given_up)
    verdict = checked(claiming("3"))
    assert (verdict.standing, verdict.sentence) == (Standing.INSUFFICIENT, "Counting takes too long here.")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"delta": 1.0}, r"delta=1.0 in \(0, 1\)"),
        ({"delta": -1e-5}, "delta=-1e-05"),
        ({"sigma": -1.0}, "sigma=-1.0"),
        ({"q": 1.5}, "q=1.5"),
        ({"batch": 0}, "batch=0"),
        ({"examples": 1.5}, "examples=1.5"),
        ({"steps": 10**10}, "steps=10000000000"),
        ({"epochs": -2.0}, "epochs=-2.0"),
        ({"epochs": math.inf}, "epochs=inf"),
        ({"sampler": "weighted"}, "sampler='weighted' to be one of: poisson"),
        ({"adjacency": "edge"}, "adjacency='edge'"),
        ({"accountant": "abadi"}, "accountant='abadi'"),
    ],
)
def test_a_value_out_of_its_range_is_named(values: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Claim(**values)


def test_epochs_that_are_too_many_steps_are_a_sentence() -> None:
    verdict = checked(Claim(printed_epsilon(3), 1e-5, q=1e-9, sigma=1.0, epochs=5.0))
    assert verdict.standing is Standing.INSUFFICIENT
    assert "epochs=5.0" in verdict.sentence


def test_a_delta_that_protects_nobody_is_told() -> None:
    verdict = checked(claiming("1.26", examples=1000))
    assert not any("not below 1/n" in each for each in verdict.notes)
    assert any("not below 1/n" in each for each in checked(claiming("1.26", examples=100_000)).notes)


@pytest.mark.parametrize("sigma", [1e-6, 0.01, 0.015, 0.02, 0.03, 1e9])
@pytest.mark.parametrize("sampler", ["poisson", "shuffle", "fixed_order"])
def test_noise_of_any_size_has_a_verdict(sigma: float, sampler: str) -> None:
    verdict = checked(claiming("3.0", sigma=sigma, sampler=sampler))
    assert verdict.standing in (Standing.HOLDS, Standing.UNPROVEN, Standing.REFUTED)
    assert (sigma > 1) == (verdict.standing is Standing.HOLDS)
