"""All findings together: corrected for their number, and told as plain values."""

import itertools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.audit.bounds.binomial import two_sided
from dpcore.audit.bounds.exact import ALLOWED, GRADIENTS, HISTORY, audit_distances, audit_releases
from dpcore.audit.bounds.noise import audit_noise
from dpcore.audit.verdict import claimed_band, event_of, holm, judge
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism

WHOLE = Mechanism.constant(q=0.05, sigma=1.0, steps=50)
DELTA = 1e-5


def closed(p_values: dict[str, float]) -> dict[str, float]:
    """Holm's correction as a closed test: the largest Bonferroni p-value of any set of tests with
    the one in it.
    """
    names = list(p_values)
    sets = [
        part for size in range(1, len(names) + 1) for part in itertools.combinations(names, size)
    ]
    worth = {part: min(1.0, len(part) * min(p_values[name] for name in part)) for part in sets}
    return {name: max(worth[part] for part in sets if name in part) for name in names}


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holms_correction_is_the_closed_test_of_bonferroni(values: list[float]) -> None:
    p_values = {str(place): value for place, value in enumerate(values)}
    assert holm(p_values) == pytest.approx(closed(p_values))


def test_with_every_claim_true_some_audit_fails_no_more_often_than_the_confidence_allows() -> None:
    rng, trials = np.random.default_rng(0), 4000
    failed = sum(min(holm(dict(enumerate(rng.random(8)))).values()) <= 0.05 for _ in range(trials))
    # 4.9 %, where tests are independent.
    assert two_sided(failed, trials, 1 - (1 - 0.05 / 8) ** 8) > 0.01


def found(*sigmas: float) -> list:
    noise = [np.random.default_rng(0).normal(0, sigma, 10_000) for sigma in sigmas]
    events = [event_of("noise", audit_noise(each, WHOLE, DELTA)) for each in noise]
    return [replace(each, audit=str(place)) for place, each in enumerate(events)]


def test_what_fails_is_what_rejects_after_the_correction() -> None:
    verdict = judge(found(1.0, 0.5, 1.1), WHOLE, DELTA, 0.95)
    assert verdict.failed == ("1",)
    assert dict(verdict.p_values)["0"] > 0.05
    band = ACCOUNTANTS["pld"].curve(WHOLE, 50, DELTA).last
    assert (verdict.claimed_lower, verdict.claimed_upper) == (band.lower, band.value)


def test_an_audit_that_cannot_test_takes_nothing_of_the_confidence() -> None:
    (one,) = found(0.5)
    silent = replace(one, audit="silent", p_value=None, epsilon=None)
    estimate = replace(one, audit="estimate", p_value=None, epsilon=99.0, evidence="estimate")
    verdict = judge([one, silent, estimate], WHOLE, DELTA, 0.95)
    assert [name for name, _ in verdict.p_values] == ["0"]
    assert verdict.failed == ("0",)


def test_nothing_claimed_has_no_band_and_noise_without_an_upper_bound_has_the_lower_one() -> None:
    assert claimed_band(None, DELTA) == (None, None)
    lower, upper = claimed_band(Mechanism.constant(0.1, 0.01, 10), DELTA)
    assert upper is None
    assert lower is not None
    assert lower > 10_000


def test_an_infinite_epsilon_is_told_without_an_infinite_number() -> None:
    event = event_of("noise", audit_noise(np.zeros(100), WHOLE, DELTA))
    assert (event.epsilon, event.unbounded) == (None, True)
    assert json.dumps(asdict(event), allow_nan=False)
    assert all(math.isfinite(value) for _, value in event.figures)


def test_where_nothing_is_charged_what_was_measured_is_told_without_an_epsilon() -> None:
    event = event_of(
        "noise", audit_noise(np.ones(100), WHOLE, DELTA), "No epsilon: a demonstration."
    )
    assert event.epsilon is None
    assert event.shows.startswith(
        "No epsilon: a demonstration. Measured: projections 100, factor 1"
    )
    silent = event_of(
        "noise", audit_noise(np.full(3, np.nan), WHOLE, DELTA), "No epsilon: a demonstration."
    )
    assert silent.shows.startswith("Nothing can be shown")


@pytest.mark.parametrize("kind", [GRADIENTS, HISTORY])
def test_a_distance_beyond_rounding_is_certain_and_one_within_it_is_none(kind) -> None:
    assert audit_distances(kind, [0.0, 0.9 * ALLOWED], tried=2).p_value == 1.0
    assert audit_distances(kind, [0.0, 1.1 * ALLOWED], tried=2).p_value == 0.0
    nothing = audit_distances(kind, [], tried=0)
    assert nothing.p_value is None
    assert nothing.shows == "Nothing can be shown: no step had an example."


def test_a_release_that_is_not_charged_is_certain_and_costs_its_epsilon() -> None:
    more = Mechanism.constant(q=0.05, sigma=1.0, steps=60)
    finding = audit_releases(more, WHOLE, DELTA)
    assert finding.rejected
    assert finding.epsilon == ACCOUNTANTS["pld"].curve(more, 60, DELTA).last.lower
    assert finding.epsilon > (claimed_band(WHOLE, DELTA)[1] or 0)
    fewer = audit_releases(WHOLE, more, DELTA)
    assert not fewer.rejected
    assert fewer.epsilon is None
    assert fewer.shows == "50 noisy sums were released and 60 are charged."
    assert audit_releases(WHOLE, None, DELTA).rejected
