"""Verdicts: each sentence from the numbers that earn it."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.report.verdict import Worth, unavailable, verdict
from tests import golden

INF = math.inf


def curve(epsilon: list[float], kind: Kind, lower: list[float] | None = None, note: str = "") -> Curve:
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
        (1.2, Kind.CLAIMED, "Outside: sigma >= 1 (here 0.7).", Worth.OUTSIDE, "sigma >= 1 (here 0.7)"),
        (0.9, Kind.CLAIMED, "Outside: sigma >= 1.", Worth.CLAIMS_LESS, "sigma >= 1"),
        (INF, Kind.UPPER, "The form does not exist.", Worth.NOT_AVAILABLE, "n/a, because the form does not"),
        (3.3457e172, Kind.UPPER, "", Worth.LOOSE, "3.34e172 times the certified"),
        (0.0, Kind.APPROXIMATE, "", Worth.CLAIMS_LESS, "at least 99 % below the proven lower bound 0.990."),
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


def test_extreme_bounds_are_written_as_powers_of_ten() -> None:
    for value, low, high in [
        (1e-310, "0", "1e-300"),
        (1e-300, "1e-300", "1e-300"),
        (1.23456e-7, "1.23e-7", "1.24e-7"),
        (0.3, "0.300", "0.300"),
        (123456.0, "123000", "124000"),
        (1_234_567.0, "1.23e6", "1.24e6"),
        (3.3457e172, "3.34e172", "3.35e172"),
        (np.float64(2.5), "2.50", "2.50"),
        (INF, "infinite", "infinite"),
    ]:
        assert (outward(value, math.floor), outward(value, math.ceil)) == (low, high), (value, low, high)


@given(epsilon=POSITIVE, ends=st.tuples(POSITIVE, POSITIVE).map(sorted), kind=st.sampled_from(Kind))
@example(epsilon=1e300, ends=[1e-300, 1e-300], kind=Kind.UPPER)
def test_no_number_is_too_extreme_for_a_verdict(epsilon: float, ends: list[float], kind: Kind) -> None:
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
        assert verdict(curve([1.04], kind), band(0.96, 1.0)).worth is Worth.SOUND_AND_TIGHT, (kind, epsilon)


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
