"""Verdicts where the claim does not name its sampler or adjacency, and where numbers stand beside what was released."""

import json
from dataclasses import replace

import pytest

from dpcore.claims import Claim, Printed, Standing, checked
from dpcore.claims.reading import read_claim
from dpcore.privacy.mechanism import Release

SAID = {"zero-out": "zero_out", "add/remove": "add_remove", "replace-one": "replace_one"}
ABADI = Claim(delta=1e-5, q=0.01, sigma=4.0, steps=10_000, sampler="poisson")
SHUFFLED = Claim(Printed("3.0"), 1e-5, batch=512, examples=60_000, sigma=1.068, epochs=40.0, sampler="shuffle")


@pytest.mark.parametrize("sampler", ["shuffle", "fixed_order", "random_allocation", "fixed_size", "poisson"])
def test_an_adjacency_that_is_not_said_is_named(sampler: str) -> None:
    claim = replace(ABADI, epsilon=Printed("500"), sampler=sampler, steps=200)
    name = {"fixed_size": "replace-one", "poisson": "add/remove"}.get(sampler, "zero-out")
    verdict = checked(claim)
    assert any(each.startswith(f"The claim names no adjacency: judged under {name}: ") for each in verdict.notes)
    told = (f"Under {name} adjacency " in verdict.sentence, f"under {name} adjacency: for" in verdict.review)
    assert told == ((sampler != "poisson",) * 2)
    said = checked(replace(claim, adjacency=SAID[name]))
    assert "Under" not in said.sentence
    assert not any("adjacency: judged" in each for each in said.notes)


def test_a_sampler_that_is_not_said_is_a_condition_of_the_verdict() -> None:
    for epsilon, standing in (("3.1", Standing.HOLDS), ("2.0", Standing.REFUTED), ("3.000", Standing.UNPROVEN)):
        verdict = checked(replace(SHUFFLED, epsilon=Printed(epsilon), sampler=None, steps=4680, epochs=None))
        assert verdict.standing is standing
        assert verdict.sentence.startswith("If its batches are Poisson's, epsilon is ")
        assert " if its batches are Poisson's: for Poisson batches" in verdict.review
        said = checked(replace(verdict.claim, sampler="poisson"))
        assert "If its" not in said.sentence


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ({"sigma": 0.5}, "has sigma = 1.1, and 0.5 is claimed"),
        ({"q": 0.02}, "has q = 0.01, and 0.02 is claimed"),
        ({"batch": 200, "examples": 10_000}, "is q = 0.02, and 0.01 is released"),
        ({"epochs": 20.0}, "are 10 epochs, and 20 are claimed"),
        ({"steps": 999}, "are 1,000 steps, and 999 are claimed"),
    ],
)
@pytest.mark.parametrize("releases", [[Release(0.01, 1.1, 1000)], [Release(0.01, 1.1, 900), Release(0.01, 1.0, 100)]])
def test_a_number_beside_what_was_released_has_to_fit_all_of_it(
    beside: dict, words: str, releases: list[Release]
) -> None:
    state = {"history": [[each.sigma, each.q, each.count] for each in releases]}
    claim = replace(read_claim(json.dumps(state)).claim, epsilon=Printed("8"), delta=1e-5)
    assert checked(claim).standing is Standing.HOLDS
    verdict = checked(replace(claim, **beside))
    assert verdict.standing is Standing.CONTRADICTORY
    assert words in verdict.sentence


def test_a_number_beside_a_history_as_json_has_to_fit_it() -> None:
    state = {"history": [[1.1, 0.01, 1000]], "epsilon": 3, "delta": 1e-5}
    assert checked(read_claim(json.dumps(state)).claim).standing is Standing.HOLDS
    for beside in ({"noise_multiplier": 0.5}, {"sample_rate": 0.02}, {"epochs": 20}):
        assert checked(read_claim(json.dumps(state | beside)).claim).standing is Standing.CONTRADICTORY
    fits = {"noise_multiplier": 1.1, "batch_size": 100, "dataset_size": 10_000, "epochs": 10}
    assert checked(read_claim(json.dumps(state | fits)).claim).standing is Standing.HOLDS


def test_the_rate_that_opacus_takes_fits_batch_and_examples() -> None:
    claim = Claim(Printed("8"), 1e-5, 1 / 118, 512, 60_000, 1.1, steps=1180, sampler="poisson")
    assert checked(claim).standing is Standing.HOLDS
    assert checked(replace(claim, q=1 / 119)).standing is Standing.CONTRADICTORY
