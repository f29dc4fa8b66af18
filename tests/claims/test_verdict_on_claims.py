"""Verdicts on claims: each kind, at its edge, what a wrong proof would have said, and printed
claims with theirs.
"""

import json
import math
import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.claims import Claim, Printed, Standing, judge, printed_epsilon, setup
from dpcore.claims.reading import read
from dpcore.claims.setup import Bounds, setup_of
from dpcore.claims.verdict import as_object
from dpcore.claims.worked import EXAMPLES
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Kind, Mechanism, Release
from dpcore.privacy.report.glossary import ARXIV
from dpcore.privacy.selection.best_of import read_runs

# Certified: 0.9461 to 0.9481.
ABADI = Claim(delta=1e-5, q=0.01, sigma=4.0, steps=10_000, sampler="poisson")
SHUFFLED = Claim(
    Printed("3.0"), 1e-5, batch=512, examples=60_000, sigma=1.068, epochs=40.0, sampler="shuffle"
)


def claiming(epsilon: str, claim: Claim = ABADI, **changed) -> Claim:
    return replace(claim, epsilon=Printed(epsilon), **changed)


def test_a_claim_is_judged_by_its_digits() -> None:
    for epsilon, standing in [
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
    ]:
        verdict = judge(claiming(epsilon))
        assert verdict.standing is standing, (epsilon, standing)
        assert epsilon in verdict.sentence, (epsilon, standing)
        assert verdict.certificate, (epsilon, standing)
        assert (verdict.room is not None) == (standing is Standing.HOLDS), (epsilon, standing)


@given(st.floats(0.05, 20.0), st.integers(0, 4))
@settings(max_examples=25, deadline=None)
def test_what_is_refuted_is_below_the_proof_and_what_holds_is_above(
    value: float, places: int
) -> None:
    text = f"{value:.{places}f}"
    if float(text) == 0:
        return
    verdict = judge(claiming(text))
    bounds = verdict.certificate.bounds
    lower, upper = bounds.lower, bounds.upper
    printed = Printed(text)
    assert (verdict.standing is Standing.REFUTED) == (printed.high < lower)
    assert (verdict.standing is Standing.HOLDS) == (printed.value >= upper)


def test_shuffled_batches_that_are_accounted_as_poisson_are_refuted() -> None:
    verdict = judge(SHUFFLED)
    assert verdict.standing is Standing.REFUTED
    assert verdict.certificate.bounds.lower >= 3.546
    # Which is where the number comes from.
    assert [each.accountant for each in verdict.given_by] == ["pld"]
    assert "zero-out adjacency" in verdict.review
    assert judge(replace(SHUFFLED, sampler="poisson")).standing is not Standing.REFUTED
    verdict = judge(replace(SHUFFLED, epsilon=Printed("20")))
    assert verdict.standing is Standing.UNPROVEN
    assert "may be true" in verdict.sentence
    assert judge(replace(SHUFFLED, epsilon=Printed("43"))).standing is Standing.HOLDS
    verdict = judge(replace(SHUFFLED, sampler=None))
    told = re.search(
        r"Poisson sampling is assumed.* shuffled .* at least ([\d.]+)[.]$", verdict.notes[0]
    )
    assert told
    assert float(told[1]) >= 3.54


def test_numbers_that_do_not_fit_one_another_contradict_unless_they_were_rounded() -> None:
    for changed, words in [
        ({"q": 0.02, "batch": 600, "examples": 60_000}, "is q = 0.01, not the claimed 0.02"),
        ({"q": None, "batch": 60, "examples": 50}, "A batch of 60 is larger than the 50 examples."),
        ({"epochs": 50.0}, "50 epochs are 5,000 steps, not the claimed 10,000"),
        (
            {"mechanism": Mechanism.constant(0.01, 4.0, 9)},
            "The mechanism has 9 steps, not the claimed 10,000.",
        ),
    ]:
        verdict = judge(claiming("1.26", **changed))
        assert verdict.standing is Standing.CONTRADICTORY, (changed, words)
        assert words in verdict.sentence, (changed, words)
        assert words in verdict.review, (changed, words)
        assert verdict.certificate is None, (changed, words)
    for changed in [
        {"batch": 600, "examples": 60_000, "epochs": 100.0},
        {"q": 0.0043, "batch": 256, "examples": 60_000, "steps": 14_062, "epochs": 60.0},
        # The rest dropped.
        {"q": 256 / 60_000, "batch": 256, "examples": 60_000, "steps": 60 * 234, "epochs": 60.0},
        # Or taken along.
        {"q": 256 / 60_000, "batch": 256, "examples": 60_000, "steps": 60 * 235, "epochs": 60.0},
    ]:
        assert judge(claiming("8", **changed)).standing is Standing.HOLDS, changed


def test_a_number_is_compared_with_what_its_accountant_gives() -> None:
    verdict = judge(claiming("9.34", accountant="strong"))
    assert verdict.standing is Standing.CONTRADICTORY
    assert "gives 14.3, not the claimed 9.34" in verdict.sentence
    assert "at most 0.9481" in verdict.sentence
    budget = Claim(
        printed_epsilon("8.0"),
        1e-5,
        q=0.01,
        sigma=1.1,
        steps=1000,
        sampler="poisson",
        accountant="rdp",
    )
    verdict = judge(budget)
    assert verdict.standing is Standing.HOLDS
    assert "gives 2.09. The claimed 8.0 is larger" in verdict.notes[0]
    # PIGDO, section 5.2.
    assert judge(claiming("3.39", accountant="mma")).standing is Standing.HOLDS
    assert not any(
        "as a budget" in each for each in judge(claiming("1.70", accountant="mma")).notes
    )
    assert not any("budget" in each for each in judge(claiming("0.955", accountant="pld")).notes)
    assert any("budget" in each for each in judge(claiming("1.05", accountant="pld")).notes)
    for accountant in ("gdp", "moments"):
        assert judge(claiming("0.5", accountant=accountant)).standing is Standing.REFUTED


@pytest.mark.parametrize(
    ("epsilon", "sigma", "standing"),
    [
        ("2.16", 0.9863, Standing.HOLDS),  # the accountant gives 2.1690, which was cut
        ("2.17", 0.9863, Standing.HOLDS),  # or rounded
        ("2.169", 0.9863, Standing.HOLDS),
        ("2.1600", 0.9863, Standing.HOLDS),  # 0.42 % less: a sigma that was rounded
        ("2.1400", 0.9863, Standing.CONTRADICTORY),
        ("2", 0.9863, Standing.HOLDS),
        ("1.9", 0.9863, Standing.CONTRADICTORY),
        ("1.2", 0.9863, Standing.REFUTED),
    ],
)
def test_a_proven_claim_holds_where_its_accountant_prints_another_digit(
    epsilon: str, sigma: float, standing: Standing
) -> None:
    claim = Claim(
        Printed(epsilon), 1e-5, q=0.01, sigma=sigma, steps=1000, sampler="poisson", accountant="rdp"
    )
    verdict = judge(claim)
    assert verdict.standing is standing
    told = any("may be this number cut off" in each for each in verdict.notes)
    assert told == (epsilon in ("2.16", "2.1600")), "a number that is given needs no remark"


@pytest.mark.parametrize("sigma", [0.012, 0.002, 1e-6])
@pytest.mark.parametrize(
    "sampler", [None, "poisson", "shuffle", "shuffle_once", "random_allocation", "fixed_size"]
)
def test_a_deviation_in_place_of_a_multiplier_is_refuted(sigma: float, sampler: str | None) -> None:
    """A deviation divided by the batch, in place of the multiplier 1.068."""
    verdict = judge(
        Claim(printed_epsilon("2.7"), 1e-5, 512 / 60_000, sigma=sigma, steps=4680, sampler=sampler)
    )
    assert verdict.standing is Standing.REFUTED
    assert verdict.certificate
    assert verdict.certificate.bounds.lower > 10 / (2 * sigma**2)
    assert CERTIFIED not in [each.accountant for each in verdict.given_by]


@pytest.mark.parametrize(
    ("epsilon", "runs", "standing"),
    [
        ("3.01", None, Standing.HOLDS),
        ("3.01", "10", Standing.UNPROVEN),
        ("11.3", "10", Standing.HOLDS),
        ("4.44", "geometric:10", Standing.UNPROVEN),
        ("4.46", "geometric:10", Standing.HOLDS),
        ("2.9", "geometric:10", Standing.REFUTED),
    ],
)
def test_a_claim_may_be_held_to_the_choice_of_the_best_run(
    epsilon: str, runs: str | None, standing: Standing
) -> None:
    number = runs and read_runs(runs)
    claim = Claim(
        printed_epsilon(epsilon),
        1e-5,
        512 / 60_000,
        sigma=1.068,
        steps=4680,
        sampler="poisson",
        runs=number or None,
    )
    verdict = judge(claim)
    assert verdict.standing is standing
    assert not runs or "the best of" in str(verdict.certificate.setup)
    assert as_object(verdict)["claim"].get("runs") == runs
    other = judge(replace(claim, sampler="shuffle"))
    assert other.standing in (Standing.REFUTED, Standing.UNPROVEN)
    assert not runs or math.isinf(other.certificate.bounds.upper)


def test_a_number_that_is_missing_is_named_and_nothing_is_certified() -> None:
    for gone, word in [
        ("delta", "delta"),
        ("sigma", "noise multiplier"),
        ("steps", "steps or epochs"),
        ("q", "sampling rate q"),
    ]:
        verdict = judge(claiming("1.26", **{gone: None}))
        assert verdict.standing is Standing.INSUFFICIENT, (gone, word)
        assert word in verdict.sentence, (gone, word)
        assert verdict.certificate is None, (gone, word)
    verdict = judge(ABADI)
    assert verdict.standing is Standing.INSUFFICIENT
    assert (
        "does not state epsilon. Epsilon is proven to lie between 0.946 and 0.949."
        in verdict.sentence
    )
    assert verdict.certificate
    verdict = judge(Claim())
    assert verdict.standing is Standing.INSUFFICIENT
    assert all(word in verdict.sentence for word in ("q", "sigma", "steps", "delta", "epsilon"))
    verdict = judge(Claim(printed_epsilon(3), 1e-5, q=1e-9, sigma=1.0, epochs=5.0))
    assert verdict.standing is Standing.INSUFFICIENT
    assert "epochs=5.0" in verdict.sentence
    verdict = judge(claiming("1.26", examples=1000))
    assert not any("not below 1/n" in each for each in verdict.notes)
    assert any("not below 1/n" in each for each in judge(claiming("1.26", examples=100_000)).notes)


def test_epochs_leave_open_how_many_steps_and_the_bounds_hold_for_all() -> None:
    claim = Claim(
        Printed("3.01"), 1e-5, batch=256, examples=60_000, sigma=1.1, epochs=60.0, sampler="poisson"
    )
    found = setup_of(claim)
    assert (found.fewest, found.most) == (14_040, 14_100)
    least, most = (
        judge(replace(claim, epochs=None, steps=steps)).certificate for steps in (14_040, 14_100)
    )
    found = judge(claim).certificate
    assert (found.bounds.lower, found.bounds.upper) == (least.bounds.lower, most.bounds.upper)


def test_a_lower_bound_holds_where_examples_are_replaced_and_an_upper_one_does_not() -> None:
    for sampler in ["fixed_order", "shuffle", "random_allocation"]:
        claim = claiming("500", sampler=sampler, sigma=1.0)
        own, other = (
            judge(replace(claim, adjacency=each)).certificate for each in (None, "replace_one")
        )
        assert other.bounds.lower == own.bounds.lower, sampler
        assert math.isinf(other.bounds.upper), sampler
        assert judge(replace(claim, adjacency="replace_one")).standing is Standing.UNPROVEN, sampler
        low = replace(claim, epsilon=Printed("1.0"), adjacency="replace_one")
        assert judge(low).standing is Standing.REFUTED, sampler
    own, other = (
        judge(claiming("1.26", adjacency=each)).certificate for each in ("add_remove", "zero_out")
    )
    assert own.bounds == other.bounds


def test_what_is_proven_for_replaced_examples_proves_nothing_where_they_are_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setup, "sampler_bounds", lambda *_: Bounds(2.0, 3.0, Kind.CERTIFIED))
    assert judge(claiming("1.26", sampler="fixed_size")).standing is Standing.REFUTED
    found = judge(claiming("1.26", sampler="fixed_size", adjacency="add_remove"))
    assert found.standing is Standing.UNPROVEN
    assert found.certificate
    assert found.certificate.bounds.lower == 0.0


def test_steps_that_are_not_all_alike_are_judged_as_they_are() -> None:
    mechanism = Mechanism((Release(0.01, 4.0, 5_000), Release(0.01, 2.0, 5_000)))
    verdict = judge(Claim(Printed("1.26"), 1e-5, mechanism=mechanism))
    assert verdict.standing is Standing.REFUTED
    assert (
        judge(Claim(Printed("1.26"), 1e-5, mechanism=mechanism, sampler="shuffle")).standing
        is Standing.UNPROVEN
    )


def test_a_sampler_that_gives_up_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(*_: object) -> Bounds:
        raise RuntimeError("Counting takes too long here.")

    monkeypatch.setattr(setup, "sampler_bounds", given_up)
    verdict = judge(claiming("3"))
    assert (verdict.standing, verdict.sentence) == (
        Standing.INSUFFICIENT,
        "Counting takes too long here.",
    )


def test_a_value_out_of_its_range_is_named() -> None:
    for values, words in [
        ({"delta": 1.0}, "delta=1.0 to be above 0 and below 1"),
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
    ]:
        with pytest.raises(ValueError, match=words):
            Claim(**values)


def test_noise_of_any_size_has_a_verdict() -> None:
    for sampler, sigma in product(
        ["poisson", "shuffle", "fixed_order"], [1e-6, 0.01, 0.015, 0.02, 0.03, 1e9]
    ):
        verdict = judge(claiming("3.0", sigma=sigma, sampler=sampler))
        assert verdict.standing in (Standing.HOLDS, Standing.UNPROVEN, Standing.REFUTED), (
            sampler,
            sigma,
        )
        assert (sigma > 1) == (verdict.standing is Standing.HOLDS), (sampler, sigma)


SAID = {"zero-out": "zero_out", "add/remove": "add_remove", "replace-one": "replace_one"}


def test_an_adjacency_that_is_not_said_is_named() -> None:
    for sampler in ["shuffle", "fixed_order", "random_allocation", "fixed_size", "poisson"]:
        claim = replace(ABADI, epsilon=Printed("500"), sampler=sampler, steps=200)
        name = {"fixed_size": "replace-one", "poisson": "add/remove"}.get(sampler, "zero-out")
        verdict = judge(claim)
        assert any(
            each.startswith(f"The claim names no adjacency. Assumed is {name}: ")
            for each in verdict.notes
        )
        told = (
            f"Under {name} adjacency " in verdict.sentence,
            f"under {name} adjacency. For" in verdict.review,
        )
        assert told == ((sampler != "poisson",) * 2), sampler
        said = judge(replace(claim, adjacency=SAID[name]))
        assert "Under" not in said.sentence, sampler
        assert not any("no adjacency" in each for each in said.notes), sampler


def test_a_sampler_that_is_not_said_is_a_condition_of_the_verdict() -> None:
    for epsilon, standing in (
        ("3.1", Standing.HOLDS),
        ("2.0", Standing.REFUTED),
        ("3.000", Standing.UNPROVEN),
    ):
        verdict = judge(
            replace(SHUFFLED, epsilon=Printed(epsilon), sampler=None, steps=4680, epochs=None)
        )
        assert verdict.standing is standing
        assert verdict.sentence.startswith("If batches are Poisson-sampled, epsilon is ")
        assert " if batches are Poisson-sampled. For Poisson batches" in verdict.review
        said = judge(replace(verdict.claim, sampler="poisson"))
        assert "If batches" not in said.sentence


def test_a_number_beside_what_was_released_has_to_fit_all_of_it() -> None:
    for releases, (beside, words) in product(
        [[Release(0.01, 1.1, 1000)], [Release(0.01, 1.1, 900), Release(0.01, 1.0, 100)]],
        [
            ({"sigma": 0.5}, "has sigma = 1.1, not the claimed 0.5"),
            ({"q": 0.02}, "has q = 0.01, not the claimed 0.02"),
            ({"batch": 200, "examples": 10_000}, "is q = 0.02, not the released 0.01"),
            ({"epochs": 20.0}, "lasts 10 epochs, not the claimed 20"),
            ({"steps": 999}, "has 1,000 steps, not the claimed 999"),
        ],
    ):
        state = {"history": [[each.sigma, each.q, each.count] for each in releases]}
        claim = replace(read(json.dumps(state)).claim, epsilon=Printed("8"), delta=1e-5)
        assert judge(claim).standing is Standing.HOLDS, (releases, beside, words)
        verdict = judge(replace(claim, **beside))
        assert verdict.standing is Standing.CONTRADICTORY, (releases, beside, words)
        assert words in verdict.sentence, (releases, beside, words)


def test_numbers_beside_a_history_have_to_fit_it_as_the_rate_that_opacus_takes_does() -> None:
    state = {"history": [[1.1, 0.01, 1000]], "epsilon": 3, "delta": 1e-5}
    assert judge(read(json.dumps(state)).claim).standing is Standing.HOLDS
    for beside in ({"noise_multiplier": 0.5}, {"sample_rate": 0.02}, {"epochs": 20}):
        assert judge(read(json.dumps(state | beside)).claim).standing is Standing.CONTRADICTORY
    fits = {"noise_multiplier": 1.1, "batch_size": 100, "dataset_size": 10_000, "epochs": 10}
    assert judge(read(json.dumps(state | fits)).claim).standing is Standing.HOLDS
    claim = Claim(Printed("8"), 1e-5, 1 / 118, 512, 60_000, 1.1, steps=1180, sampler="poisson")
    assert judge(claim).standing is Standing.HOLDS
    assert judge(replace(claim, q=1 / 119)).standing is Standing.CONTRADICTORY


VERDICTS = {  # name -> standing, a bound that is proven, and whose number it is
    "moments": (Standing.HOLDS, "at most 0.9481", "moments"),
    "composition": (Standing.CONTRADICTORY, "gives 14.3, not the claimed 9.34", None),
    "cifar": (Standing.INSUFFICIENT, "the number of steps or epochs", None),
    "tutorial": (Standing.HOLDS, "at most 2.389", "moments"),
    "clt": (Standing.REFUTED, "at least 0.862", "gdp"),
    "clt-high": (Standing.HOLDS, "at most 28.1", "gdp"),
    "shuffled": (Standing.REFUTED, "proven to be at least", "moments"),
    "sa-dpsgd": (Standing.INSUFFICIENT, "the number of steps or epochs", None),
    "tanh": (Standing.HOLDS, "at most 2.38", "rdp"),
    "mma": (Standing.HOLDS, "at most 0.9481", None),
    "vaultgemma": (Standing.INSUFFICIENT, "sigma", None),
    "opacus-rdp": (Standing.HOLDS, "at most 6.7", "rdp"),
    "tiny-noise": (Standing.REFUTED, "at least 2.17e8", None),
    "opacus-prv": (Standing.UNPROVEN, "between 6.76", "pld"),
}


def test_each_worked_claim_has_its_verdict_and_a_source() -> None:
    for example in EXAMPLES:
        standing, words, accountant = VERDICTS[example.name]
        verdict = judge(example.claim)
        assert verdict.standing is standing, example
        assert words in verdict.sentence, example
        assert accountant is None or accountant in [each.accountant for each in verdict.given_by], (
            example
        )
    assert (
        len(EXAMPLES)
        == len({each.name for each in EXAMPLES})
        == len({each.title for each in EXAMPLES})
    )
    assert {standing for standing, _, _ in VERDICTS.values()} == set(Standing)
    for each in EXAMPLES:
        assert ARXIV.search(each.source) or re.search(r"\d{4}|\d[.]\d", each.source)
        assert each.place
        assert not each.note or each.note.endswith(".")
