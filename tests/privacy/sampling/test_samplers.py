"""What every sampler keeps to, whatever it draws; and the ones with a closed form."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from dpcore.privacy.types import Kind

ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
ADJACENCIES = {"add/remove", "zero-out", "replace-one"}


@ALL
def test_it_says_what_it_is(sampler: Sampler) -> None:
    assert sampler.title
    assert sampler.note.endswith(".")
    assert sampler.source
    assert sampler.adjacency in ADJACENCIES


@ALL
@pytest.mark.parametrize(("q", "sigma"), [(0.1, 1.0), (1 / 30, 1.82), (1.0, 2.0)])
def test_bounds_are_in_order_and_never_fall_with_the_steps(sampler: Sampler, q: float, sigma: float) -> None:
    steps = np.arange(0, 3 * steps_of_epoch(q) + 1, max(steps_of_epoch(q) // 4, 1))
    curve = sampler.curve(q, sigma, steps, 1e-5)
    assert curve.kind is Kind.CERTIFIED
    assert curve.lower is not None
    assert curve.epsilon[0] == curve.lower[0] == 0
    assert np.all(curve.lower <= curve.epsilon)
    assert np.all(np.diff(curve.epsilon) >= -1e-9)
    assert np.all(np.diff(curve.lower) >= -1e-9)
    assert np.isfinite(curve.epsilon).all()


@ALL
def test_a_point_of_the_curve_is_a_point_of_the_profile(sampler: Sampler) -> None:
    steps = 2 * steps_of_epoch(0.1)
    point, profile = sampler.curve(0.1, 1.0, steps, 1e-5), sampler.profile(0.1, 1.0, steps, [1e-5, 1e-3])
    assert point.lower is not None
    assert profile.lower is not None
    assert profile.epsilon[0] == pytest.approx(float(point.epsilon[0]), rel=1e-2)
    assert profile.lower[0] == pytest.approx(float(point.lower[0]), rel=1e-2)
    assert profile.epsilon[1] < profile.epsilon[0]


@ALL
@pytest.mark.parametrize("sigma", [1e-3, 0.01, 0.015, 0.02, 0.0225, 0.025, 0.03, 0.035, 0.04, 0.05])
def test_noise_however_little_is_answered_in_order(sampler: Sampler, sigma: float) -> None:
    """Warnings are errors: no overflow, and no index beyond the end."""
    curve = sampler.curve(0.01, sigma, [100, 200, 500, 1000], 1e-5)
    assert curve.lower is not None
    assert np.all(curve.lower <= curve.epsilon)
    assert np.all(np.diff(curve.lower) >= 0)
    assert np.isfinite(curve.epsilon).all() or curve.note.endswith(".")
    if sampler.adjacency == "zero-out":
        most = SAMPLERS["fixed_order"].curve(0.01, sigma, [100, 200, 500, 1000], 1e-5).epsilon
        assert np.all(curve.epsilon <= most)


def exactly_alike(sampler: Sampler, q: float, sigma: float, steps: int) -> float:
    """1 less the total variation of what a record changes at most: by quadrature for one step, or in closed form."""
    if sampler.by_epoch:
        return float(2 * ndtr(-np.sqrt(-(-steps // steps_of_epoch(q))) / (2 * sigma)))
    assert steps == 1
    x = np.linspace(-12 * sigma - 2, 12 * sigma + 2, 200_001)
    without, there, other = (np.exp(-0.5 * ((x - place) / sigma) ** 2) for place in (0.0, 1.0, -1.0))
    pair = ((1 - q) * without + q * there, without)
    if sampler.name == "poisson_replace_one":
        pair = (pair[0], (1 - q) * without + q * other)
    elif sampler.name == "fixed_size":
        pair = ((1 - q) * other + q * there, other)
    return float(np.minimum(*pair).sum() / without.sum())


@ALL
@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.1, 1.0, 1), (0.5, 2.0, 1), (0.9, 0.7, 1), (1.0, 3.0, 1)])
def test_a_delta_that_covers_all_that_is_told_leaves_no_epsilon(
    sampler: Sampler, q: float, sigma: float, steps: int
) -> None:
    """And one below that leaves some: what is alike is neither more nor less than it is."""
    alike = exactly_alike(sampler, q, sigma, steps)
    curve = sampler.curve(q, sigma, steps, 1 - alike * (1 - 1e-5))
    assert (curve.lower, curve.epsilon) == (np.zeros(1), np.zeros(1))
    below = sampler.curve(q, sigma, steps, 0.9 * (1 - alike))
    assert below.epsilon[0] > 0 or sampler.name == "random_allocation"  # which hides more than the order that is known


@ALL
def test_a_delta_next_to_one_is_answered(sampler: Sampler) -> None:
    curve = sampler.curve(0.01, 1.0, [0, 100, 1000], 1 - 2e-16)
    assert curve.lower is not None
    assert curve.lower.tolist() == curve.epsilon.tolist() == [0, 0, 0]
    far = sampler.curve(0.1, 0.5, 300, 1 - 1e-15)  # where something is still told
    assert far.lower is not None
    assert far.lower[0] == 0 <= far.epsilon[0]


def test_what_would_take_minutes_is_refused_by_a_sentence() -> None:
    curve = SAMPLERS["fixed_size"].curve(5e-5, 1.0, [0, 1000], 1e-5)
    assert curve.epsilon.tolist() == [0, np.inf]
    assert (
        curve.note == "Nothing is counted for batches of a fixed size where q is below 0.0001: it would take minutes."
    )
    far = SAMPLERS["random_allocation"].curve(1e-9, 1.0, 10**9, 1e-5)
    assert far.epsilon[0] == SAMPLERS["fixed_order"].curve(1e-9, 1.0, 10**9, 1e-5).epsilon[0]
    assert "1,000,000,000 steps is too long" in far.note


@ALL
def test_more_noise_never_costs_more(sampler: Sampler) -> None:
    curves = [sampler.curve(0.1, sigma, 20, 1e-5) for sigma in (0.8, 1.6, 3.2)]
    assert [float(curve.epsilon[0]) for curve in curves] == sorted((float(c.epsilon[0]) for c in curves), reverse=True)


@ALL
def test_nonsense_is_refused_by_name(sampler: Sampler) -> None:
    for arguments, name in [
        ((0.0, 1.0, 1, 1e-5), "q"),
        ((1.5, 1.0, 1, 1e-5), "q"),
        ((0.1, 0.0, 1, 1e-5), "sigma"),
        ((0.1, 1.0, -1, 1e-5), "steps"),
        ((0.1, 1.0, 1.5, 1e-5), "steps"),
        ((0.1, 1.0, [2, 1], 1e-5), "steps"),
        ((0.1, 1.0, 1, 0.0), "delta"),
        ((0.1, 1.0, 1, 1.0), "delta"),
    ]:
        with pytest.raises(ValueError, match=f"Expected {name}"):
            sampler.curve(*arguments)


@ALL
def test_where_every_record_is_in_every_batch_it_is_the_gaussian_mechanism(sampler: Sampler) -> None:
    twice = 2.0 if sampler.adjacency == "replace-one" else 1.0
    curve = sampler.curve(1.0, 3.0, [1, 4], 1e-5)
    exact = gaussian.epsilon_of(1e-5, twice * np.sqrt([1.0, 4.0]) / 3)
    assert curve.epsilon == pytest.approx(exact, rel=1e-5)
    assert np.all(curve.epsilon >= exact * (1 - 1e-12))
    assert curve.lower is not None
    assert np.all(curve.lower <= exact * (1 + 1e-12))


def test_poisson_batches_are_those_of_the_certified_accountant() -> None:
    steps = np.array([10, 100, 1000])
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(0.01, 1.0, 1000), steps, 1e-5)
    curve = SAMPLERS["poisson"].curve(0.01, 1.0, steps, 1e-5)
    assert band.lower is not None
    assert curve.lower is not None
    assert curve.epsilon.tolist() == band.epsilon.tolist()
    assert curve.lower.tolist() == band.lower.tolist()


@pytest.mark.parametrize(
    ("steps", "sigma", "epochs", "delta", "epsilon"),
    [
        (100, 1.0, 1, 1e-5, 4.377),
        (1000, 0.5, 1, 1e-6, 10.997),
        (1000, 0.35, 1, 1e-6, 17.08),
        (117, 1.068, 40, 1e-5, 42.04),
        (30, 1.82, 40, 1e-5, 20.21),
        (234, 0.7, 20, 1e-5, 46.89),
    ],
)
def test_golden_numbers_of_a_fixed_order(steps: int, sigma: float, epochs: int, delta: float, epsilon: float) -> None:
    curve = SAMPLERS["fixed_order"].curve(1 / steps, sigma, epochs * steps, delta)
    assert curve.epsilon[0] == pytest.approx(epsilon, rel=5e-4)
    mu = np.sqrt(epochs) / sigma
    at = float(curve.epsilon[0])
    assert ndtr(mu / 2 - at / mu) - np.exp(at) * ndtr(-mu / 2 - at / mu) == pytest.approx(delta, rel=1e-4)


def test_an_epoch_that_has_begun_counts_in_full_against_privacy() -> None:
    order = SAMPLERS["fixed_order"].curve(0.1, 1.0, [1, 10, 11, 20], 1e-5)
    assert order.epsilon[0] == order.epsilon[1]
    assert order.epsilon[2] == order.epsilon[3] > order.epsilon[1]
    for name in ("shuffle", "shuffle_once", "random_allocation"):
        curve = SAMPLERS[name].curve(0.1, 1.0, [1, 10, 11, 20], 1e-5)
        assert curve.lower is not None
        assert curve.lower[0] == 0  # and not yet in its favour
        assert curve.epsilon[0] == pytest.approx(float(curve.epsilon[1]), rel=1e-3)
        assert curve.lower[1] == pytest.approx(float(curve.lower[2]), rel=1e-3)
        assert curve.lower[3] > curve.lower[2]


def test_whatever_hides_the_order_costs_no_more_than_the_order() -> None:
    for q, sigma in ((0.1, 0.7), (0.01, 2.0)):
        steps = 3 * steps_of_epoch(q)
        most = SAMPLERS["fixed_order"].curve(q, sigma, steps, 1e-6).epsilon[0]
        for name in ("shuffle", "shuffle_once", "random_allocation"):
            assert SAMPLERS[name].curve(q, sigma, steps, 1e-6).epsilon[0] <= most
