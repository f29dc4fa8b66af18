"""Numbers of an attacker, and verdicts on accountants: closed forms, proven bounds, and sentences
that are earned.
"""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from riskcal.analysis import get_bayes_risk_for_mu
from scipy.stats import norm

from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import (
    Between,
    advantage,
    bayes_risk,
    mu_above,
    posterior,
    risks_of,
)
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.report.verdict import Worth, unavailable, verdict
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points
from tests import golden

MUS = [0.05, 0.5, 1.0, 3.0]


def holds(bounds: Between, value: float, slack: float = 0.0) -> bool:
    return bounds.lower - slack <= value <= bounds.upper + slack


def test_of_a_plain_gaussian_every_number_is_held() -> None:
    for mu in MUS:
        found = risks_of(tradeoff_bounds(Mechanism.constant(1.0, 2 / mu, 4)), 1e-5)
        assert holds(found.advantage, 2 * norm.cdf(mu / 2) - 1), mu
        assert holds(found.error, 2 * norm.cdf(-mu / 2)), mu
        for rate, bounds in found.true_positives.items():
            assert holds(bounds, norm.cdf(norm.ppf(rate) + mu)), mu
            assert bounds.upper - bounds.lower < 1e-3, mu
        assert holds(found.mu, mu), mu
        assert found.mu.upper < 1.01 * mu + 1e-3, mu
    for sigma, steps in [(1 / 12, 1), (0.05, 1), (0.2, 5000)]:
        found = risks_of(tradeoff_bounds(Mechanism.constant(1.0, sigma, steps)), 1e-5)
        # The exact one is 1 - 2e-22 and more.
        assert found.true_positives[0.01].lower < 1, (sigma, steps)
        assert 8 < found.mu.lower <= math.sqrt(steps) / sigma, (sigma, steps)


def test_without_sampling_mu_is_held_however_large() -> None:
    for steps, mu in product([1, 7], [8.0, 16.5, 20.0, 75.5, 1e6]):
        mechanism = Mechanism.constant(1.0, math.sqrt(steps) / mu, steps)
        found = risks_of(tradeoff_bounds(mechanism), 1e-5).mu
        with mpmath.workdps(60):
            assert (
                found.lower
                <= mpmath.sqrt(steps) / mpmath.mpf(mechanism.releases[0].sigma)
                <= found.upper
            )
        assert found.upper - found.lower < 1e-11 * mu, (steps, mu)


def test_the_bayes_risk_agrees_with_riskcal_and_with_a_search() -> None:
    for prior, mu in product([0.01, 0.3, 0.5, 0.9], MUS):
        alpha = norm.cdf(np.linspace(-9, 9, 20001))
        searched = np.min((1 - prior) * alpha + prior * Gaussian(mu).beta(alpha))
        assert bayes_risk(Gaussian(mu), prior) == pytest.approx(searched, abs=1e-6), (prior, mu)
        assert bayes_risk(Gaussian(mu), prior) == pytest.approx(
            float(get_bayes_risk_for_mu(mu, prior)), abs=1e-6
        )
    assert bayes_risk(Gaussian(1.0), 0.0) == bayes_risk(Gaussian(1.0), 1.0) == 0.0
    assert bayes_risk(Gaussian(0.0), 0.2) == pytest.approx(0.2)
    assert bayes_risk(Gaussian(math.inf), 0.2) == 0.0


@pytest.mark.parametrize(
    "f", [Pairs([0.2, 1.0, 2.0], [0.1, 0.03, 1e-3]), Points([0.01, 0.2], [0.05, 0.5])]
)
def test_no_smaller_mu_lies_below_the_curve(f: Pairs | Points) -> None:
    mu = mu_above(f, 1e-4)
    alpha = np.geomspace(1e-4, 0.5, 5000)
    alpha = alpha[f.beta(alpha) >= alpha]  # the rest is the mirror image
    assert np.all(Gaussian(mu).beta(alpha) <= f.beta(alpha) + 1e-12)
    assert np.any(Gaussian(mu * 0.999).beta(alpha) > f.beta(alpha))


def test_without_a_smallest_error_subsampling_would_count_for_nothing() -> None:
    # One step: mu of the certified band grows towards 1/sigma as smaller errors are let in, far
    # above the CLT's.
    mechanism = Mechanism.constant(0.01, 0.5, 1)
    grown = [risks_of(tradeoff_bounds(mechanism), delta).mu.lower for delta in (1e-2, 1e-4, 1e-6)]
    assert grown[0] < grown[1] < grown[2] < 2.0


def test_the_posterior_is_passed_no_more_often_than_promised() -> None:
    for mu, prior in product([0.25, 1.0, 3.0], [0.1, 0.5]):
        chance = 1e-3
        most = posterior(Gaussian(mu), prior, chance)
        loss = math.log(most / (1 - most)) - math.log(prior / (1 - prior))
        passed = norm.sf((loss - mu**2 / 2) / mu)
        assert passed <= chance, (mu, prior)
        # Markov's inequality costs something, but not much.
        exact = mu * norm.isf(chance) + mu**2 / 2
        assert loss < exact * 1.35 + 0.05, (mu, prior)
    assert posterior(Gaussian(0.0), 0.3, 1e-5) == pytest.approx(0.3)
    assert posterior(Gaussian(1.0), 0.0, 1e-5) == 0.0
    assert posterior(Pairs([], []), 0.5, 1e-5) == 1.0


def test_paper_004s_error_sums_come_out_and_the_certified_one_is_near_the_clts() -> None:
    row = golden.EXPERIMENTS[1]
    mechanism = Mechanism.constant(
        row.batch / row.examples, row.sigma, int(row.epochs * row.examples / row.batch)
    )
    pair = ACCOUNTANTS["moments"].curve(mechanism, [mechanism.steps], row.delta)
    by_moments = 1 - advantage(Pairs(pair.epsilon, pair.delta))
    by_clt = 1 - advantage(Gaussian(row.mu))  # the paper's sum is that of its mu as printed
    assert by_clt == pytest.approx(golden.ERROR_SUM_CLT, abs=golden.ERROR_SUM_TOLERANCE)
    assert by_moments == pytest.approx(golden.ERROR_SUM_MOMENTS, abs=golden.ERROR_SUM_TOLERANCE)
    certain = risks_of(tradeoff_bounds(mechanism), row.delta).error
    unrounded = 1 - advantage(Gaussian(mu_of(mechanism)))
    # In the middle of the curve the CLT promises a little less than is true; its epsilon, from the
    # tail, more.
    assert by_moments < unrounded < certain.lower <= certain.upper < unrounded + 0.002


@pytest.mark.parametrize(
    "call",
    [
        lambda: risks_of(tradeoff_bounds(Mechanism.constant(1.0, 1.0, 1)), 0.0),
        lambda: bayes_risk(Gaussian(1.0), 1.5),
    ],
)
def test_bad_values_are_named(call) -> None:
    with pytest.raises(ValueError, match=r"Expected (delta|prior)="):
        call()


INF = math.inf


def curve(
    epsilon: list[float], kind: Kind, lower: list[float] | None = None, note: str = ""
) -> Curve:
    steps = np.arange(1, len(epsilon) + 1)
    bound = None if lower is None else np.array(lower)
    return Curve(steps, np.full(len(epsilon), 1e-5), np.array(epsilon), bound, kind, note)


def band(lower: float = 0.99, upper: float = 1.0) -> Curve:
    return curve([upper], Kind.CERTIFIED, [lower])


def test_one_number_against_the_band() -> None:
    for epsilon, kind, note, worth, words in [
        (1.04, Kind.UPPER, "", Worth.SOUND_AND_TIGHT, "within 5 %"),
        (0.995, Kind.UPPER, "", Worth.SOUND_AND_TIGHT, "within 5 %"),
        (1.06, Kind.UPPER, "", Worth.LOOSE, "6 % above"),
        (18.2, Kind.UPPER, "", Worth.LOOSE, "18 times"),
        (1234.0, Kind.UPPER, "", Worth.LOOSE, "1,234 times"),
        (0.9, Kind.APPROXIMATE, "", Worth.CLAIMS_LESS, "9.1 % below the proven lower bound 0.99"),
        (0.995, Kind.APPROXIMATE, "", Worth.UNDECIDED, "Inside the certified band"),
        (1.2, Kind.APPROXIMATE, "", Worth.LOOSE, "not proven in general"),
        (1.2, Kind.CLAIMED, "", Worth.LOOSE, "not proven in general"),
        (
            1.2,
            Kind.CLAIMED,
            "Outside: sigma >= 1 (here 0.7).",
            Worth.OUTSIDE,
            "sigma >= 1 (here 0.7)",
        ),
        (0.9, Kind.CLAIMED, "Outside: sigma >= 1.", Worth.CLAIMS_LESS, "sigma >= 1"),
        (
            INF,
            Kind.UPPER,
            "The form does not exist.",
            Worth.NOT_AVAILABLE,
            "n/a, because the form does not",
        ),
        (3.3457e172, Kind.UPPER, "", Worth.LOOSE, "3.34e172 times the certified"),
        (
            0.0,
            Kind.APPROXIMATE,
            "",
            Worth.CLAIMS_LESS,
            "at least 99 % below the proven lower bound 0.990.",
        ),
    ]:
        found = verdict(curve([epsilon], kind, note=note), band())
        assert found.worth is worth, (epsilon, kind, note)
        assert words in found.text, (epsilon, kind, note)
        assert found.ratio == epsilon, (epsilon, kind, note)


def test_without_a_finite_band_nothing_is_decided_but_a_low_claim_still_is() -> None:
    unknown = band(0.5, INF)
    assert verdict(curve([1.0], Kind.UPPER), unknown).worth is Worth.UNDECIDED
    assert verdict(curve([0.4], Kind.APPROXIMATE), unknown).worth is Worth.CLAIMS_LESS
    assert verdict(unknown, unknown).worth is Worth.NOT_AVAILABLE
    for kind, epsilon in product(
        [Kind.UPPER, Kind.APPROXIMATE, Kind.CLAIMED, Kind.CERTIFIED], [0.0, 0.4, 1.0, 1e300, INF]
    ):
        assert math.isnan(verdict(curve([epsilon], kind), band(0.5, INF)).ratio), (kind, epsilon)
    nothing = curve([INF], Kind.CERTIFIED, [0.0], note="sigma=0.01 is below 0.05.")
    assert verdict(nothing, nothing).text == "n/a, because sigma=0.01 is below 0.05."
    assert unavailable("") == ""
    assert unavailable("RDP is infinite.") == "n/a, because RDP is infinite."


POSITIVE = st.floats(min_value=0.0, allow_nan=False)


@given(value=POSITIVE, digits=st.integers(1, 8))
@example(value=5e-324, digits=4)
@example(value=9.9999e-301, digits=4)
@example(value=1e-300, digits=4)
@example(value=1.7976931348623157e308, digits=4)
@example(value=999_999.5, digits=4)
@example(value=INF, digits=4)
def test_a_bound_in_words_is_on_the_safe_side_and_short(value: float, digits: int) -> None:
    low, high = (outward(value, way, digits) for way in (math.floor, math.ceil))
    if math.isinf(value):
        assert low == high == "infinite"
        return
    assert float(low) <= value <= float(high)
    assert max(len(low), len(high)) <= 16
    if value >= 1e-300:
        assert float(low) >= value * (1 - 1.01 * 10 ** (1 - digits))


@given(epsilon=POSITIVE, ends=st.tuples(POSITIVE, POSITIVE).map(sorted), kind=st.sampled_from(Kind))
@example(epsilon=1e300, ends=[1e-300, 1e-300], kind=Kind.UPPER)
def test_no_number_is_too_extreme_for_a_verdict(
    epsilon: float, ends: list[float], kind: Kind
) -> None:
    lower, upper = ends[0] if math.isfinite(ends[0]) else 0.0, ends[1]
    found = verdict(curve([epsilon], kind), curve([upper], Kind.CERTIFIED, [lower]))
    assert len(found.text) < 200
    assert math.isnan(found.ratio) == math.isinf(upper)
    assert "value is 0" not in found.text or upper == 0


def test_beside_a_wide_band_nothing_is_called_tight_itself_included() -> None:
    assert verdict(band(), band()).worth is Worth.SOUND_AND_TIGHT
    assert verdict(band(0.5, 1.0), band(0.5, 1.0)).worth is Worth.LOOSE
    for kind, epsilon in product([Kind.UPPER, Kind.APPROXIMATE], [0.7, 1.0, 1.04]):
        found = verdict(curve([epsilon], kind), band(0.5, 1.0))
        assert found.worth is Worth.UNDECIDED, (kind, epsilon)
        assert "within 5 %" not in found.text, (kind, epsilon)
        assert verdict(curve([1.06], kind), band(0.5, 1.0)).worth is Worth.LOOSE, (kind, epsilon)
        assert verdict(curve([1.04], kind), band(0.96, 1.0)).worth is Worth.SOUND_AND_TIGHT, (
            kind,
            epsilon,
        )


def test_zero_epsilon_is_judged_without_dividing_by_it() -> None:
    nothing = band(0.0, 0.0)
    assert verdict(curve([0.0], Kind.UPPER), nothing).worth is Worth.SOUND_AND_TIGHT
    loose = verdict(curve([0.1], Kind.UPPER), nothing)
    assert (loose.worth, loose.ratio) == (Worth.LOOSE, INF)
    assert "value is 0" in loose.text


def test_curves_that_do_not_match_are_refused_and_a_note_is_about_the_last_point() -> None:
    claim = curve([2.0, 2.0], Kind.CLAIMED, note="Outside.")
    assert verdict(claim, curve([1.0, 1.0], Kind.CERTIFIED, [0.99, 0.99])).worth is Worth.OUTSIDE
    with pytest.raises(ValueError, match="same steps and delta"):
        verdict(curve([1.0, 2.0], Kind.UPPER), band())
    with pytest.raises(ValueError, match="proven lower bound"):
        verdict(curve([1.0], Kind.UPPER), curve([1.0], Kind.UPPER))


def test_the_central_limit_and_mma_claim_less_than_is_proven() -> None:
    for anchor in golden.EXACT[2:7]:
        assert judged("gdp", *anchor[:4]) is Worth.CLAIMS_LESS, anchor
    assert judged("mma", 0.01, 1.0, 100, 1e-5) is Worth.CLAIMS_LESS


def judged(name: str, q: float, sigma: float, steps: int, delta: float) -> Worth:
    mechanism = Mechanism.constant(q, sigma, steps)
    each, certified = (ACCOUNTANTS[one].curve(mechanism, steps, delta) for one in (name, "pld"))
    return verdict(each, certified).worth
