"""Random allocation: the certified band against quadrature, convolution, simulation and other tools' brackets."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import lognorm

from dpcore.privacy.sampling import SAMPLERS, law_bounds
from dpcore.privacy.sampling.allocation_law import Ratio, _mean_of, allocation_laws, contracted, spread
from tests.privacy.law_curve import of_law

SAMPLER = SAMPLERS["random_allocation"]


def above(sigma: float, heights: np.ndarray) -> np.ndarray:
    """E(w - s)_+ of one ratio, in closed form."""
    place = sigma * np.log(heights) + 0.5 / sigma
    return ndtr(1 / sigma - place) - heights * ndtr(-place)


def above_of(ratio: Ratio, heights: np.ndarray) -> np.ndarray:
    values = ratio.first + ratio.grid * np.arange(ratio.mass.size)
    lost = max(1 - float(ratio.mass @ values), 0.0)
    return np.array([ratio.mass @ np.maximum(values - each, 0.0) for each in heights]) + lost


@pytest.mark.parametrize("sigma", [0.4, 0.7, 1.0, 2.0, 8.0, 40.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 1.5])
def test_the_laws_of_a_ratio_lie_on_either_side_of_it(sigma: float, share: float) -> None:
    deviation = float(np.sqrt(np.expm1(sigma**-2)))
    grid = max(share * deviation, np.exp(0.5 / sigma**2 + 6 / sigma) / 2**17)
    heights = np.exp(np.linspace(-6, 6, 60) / sigma)
    exact = above(sigma, heights)
    upper, lower = spread(sigma, grid, 1e-9), contracted(sigma, grid, 1e-9)
    assert np.all(above_of(upper, heights) >= exact - 1e-13)
    below = above_of(lower, heights) - max(1 - float(lower.mass @ (lower.first + grid * np.arange(lower.mass.size))), 0)
    assert np.all(below <= exact + 1e-13)
    for ratio in (upper, lower):
        assert ratio.mass.sum() == pytest.approx(1, abs=1e-12)
        assert np.all(ratio.mass >= 0)
    if grid < 0.1 * deviation:
        assert np.all(above_of(upper, heights) - exact <= 0.02 * deviation)
        assert np.all(exact - below <= 0.02 * deviation)


def test_the_law_of_the_sum_is_the_plain_convolution() -> None:
    ratio = spread(1.0, 0.5, 1e-3)
    values = ratio.grid * np.arange(ratio.mass.size)
    with_record, without = ratio.mass * values, ratio.mass
    for _ in range(3):
        with_record, without = np.convolve(with_record, ratio.mass), np.convolve(without, ratio.mass)
    for record, plain in ((True, with_record), (False, without)):
        found = _mean_of(ratio, 4, record)
        at = np.rint(4 * found.t / ratio.grid).astype(int)
        inside = (at >= 0) & (at < plain.size)
        assert np.abs(found.mass[inside] - plain[at[inside]]).max() < 1e-15
        assert np.abs(found.mass[~inside]).sum() < 1e-12
        assert found.infinite == pytest.approx(1 - with_record.sum() if record else 0, abs=1e-12)


def exact_two_steps(sigma: float, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """delta of an epoch of two steps in both directions: one ratio by its closed form, the other by quadrature."""
    z = np.linspace(-10, 10, 40_001)
    weight = np.exp(-0.5 * z**2)
    weight = weight / weight.sum()
    other = np.exp(z / sigma - 0.5 / sigma**2)
    remove, add = [], []
    for epsilon in epsilons:
        # E(t - e^eps)_+ = E(w - s)_+/2 with s = 2 e^eps - w', and (1 - e^eps t)_+ = e^eps/2 (2 e^-eps - w' - w)_+.
        gap = 2 * np.exp(epsilon) - other
        up = np.where(gap > 0, above(sigma, np.maximum(gap, 1e-300)), 1 - gap)
        remove.append(weight @ up / 2)
        gap = 2 * np.exp(-epsilon) - other
        down = np.where(gap > 0, above(sigma, np.maximum(gap, 1e-300)) + gap - 1, 0.0)
        add.append(np.exp(epsilon) * (weight @ down) / 2)
    return np.array(remove), np.array(add)


@pytest.mark.parametrize("sigma", [0.8, 1.5, 4.0])
def test_two_steps_agree_with_their_quadrature(sigma: float) -> None:
    epsilons = np.array([0.0, 0.2, 0.5, 1.0]) / sigma
    remove, add = exact_two_steps(sigma, epsilons)
    found = allocation_laws(2, sigma, 1e-9, 0.2)
    rounding = 1e-7  # of the quadrature at the kink of the hockey stick
    for law, exact in ((found.laws.remove, remove), (found.laws.add, add)):
        assert np.all(of_law(law, epsilons) >= exact - rounding)
        assert of_law(law, epsilons) == pytest.approx(exact, abs=2e-3)
    assert np.all(of_law(found.laws.dominated, epsilons) <= remove + rounding)
    assert of_law(found.laws.dominated, epsilons) == pytest.approx(remove, abs=2e-3)


@pytest.mark.parametrize(
    ("steps", "sigma", "epochs", "delta", "low", "high"),
    [  # brackets of certified tools, or an anchor within 1 % (the last one: 3.634, and within 1.2 %)
        (10, 1.0, 1, 1e-5, 2.178, 2.196),
        (30, 1.82, 1, 1e-5, 0.365, 0.399),
        (100, 1.0, 1, 1e-5, 0.615, 0.627),
        (117, 1.068, 40, 1e-5, 2.879, 2.937),
        (30, 1.82, 40, 1e-5, 2.814, 2.870),
        (234, 0.7, 20, 1e-5, 3.598, 3.6755),
    ],
)
def test_golden_numbers_within_the_brackets_of_certified_tools(
    steps: int, sigma: float, epochs: int, delta: float, low: float, high: float
) -> None:
    curve = SAMPLER.curve(1 / steps, sigma, epochs * steps, delta)
    assert curve.lower is not None
    lower, upper = float(curve.lower[0]), float(curve.epsilon[0])
    assert low < lower <= upper < high
    assert upper <= 1.01 * lower


@pytest.mark.parametrize(
    ("steps", "sigma", "epochs", "delta", "least"), [(1000, 0.35, 1, 1e-6, 10.165), (1000, 0.5, 1, 1e-6, 4.1)]
)
def test_with_little_noise_it_is_certified_too(
    steps: int, sigma: float, epochs: int, delta: float, least: float
) -> None:
    curve = SAMPLER.curve(1 / steps, sigma, epochs * steps, delta)
    assert curve.lower is not None
    assert least < curve.lower[0] <= curve.epsilon[0] <= 1.001 * curve.lower[0]


@pytest.mark.parametrize(
    ("steps", "sigma", "delta", "add"), [(10, 1.0, 1e-5, 1.365), (30, 1.82, 1e-5, 0.364), (100, 1.0, 1e-5, 0.422)]
)
def test_golden_numbers_of_the_other_direction(steps: int, sigma: float, delta: float, add: float) -> None:
    """The add direction alone, which the band does not show, as the other one is larger."""
    laws = allocation_laws(steps, sigma, 1e-12, 0.2).laws
    found = law_bounds._upper(laws.add, np.array([1]), np.array([delta]))
    assert float(found[0]) == pytest.approx(add, rel=0.01)
    assert float(found[0]) < law_bounds._upper(laws.remove, np.array([1]), np.array([delta]))[0]


def simulated(steps: int, sigma: float, epsilon: float, samples: int, seed: int) -> tuple[float, float]:
    """delta of one epoch in the remove direction, and its standard error: the record's own step by quadrature.

    In half of the samples one other step is drawn as far out as it takes to matter, and all are weighed accordingly:
    another step that happens to be large is rare, but makes up some of delta.
    """
    random = np.random.default_rng(seed)
    x = 1 + sigma * np.linspace(-9, 9, 1201)
    weight = np.exp(-0.5 * ((x - 1) / sigma) ** 2)
    weight, own = weight / weight.sum(), np.exp((x - 0.5) / sigma**2)
    far = sigma**2 * (epsilon + np.log(steps)) + 0.5
    found = []
    for _ in range(samples // 500):
        places = sigma * random.standard_normal((500, steps - 1))
        places[np.arange(250), random.integers(0, steps - 1, 250)] += far
        drawn = 0.5 + 0.5 * np.exp((far * places - 0.5 * far**2) / sigma**2).mean(axis=1)
        rest = np.exp((places - 0.5) / sigma**2).sum(axis=1)
        found.append(np.maximum(1 - np.exp(epsilon) * steps / (own + rest[:, None]), 0) @ weight / drawn)
    each = np.concatenate(found)
    return float(each.mean()), float(each.std() / np.sqrt(each.size))


@pytest.mark.parametrize(
    ("steps", "sigma", "delta"),
    [(10, 1.0, 1e-3), *(pytest.param(*each, marks=pytest.mark.long) for each in ((100, 1.0, 1e-5), (1000, 0.5, 1e-6)))],
)
def test_delta_agrees_with_a_simulation(steps: int, sigma: float, delta: float) -> None:
    """And the simulation rejects an epsilon that is 6 % off, so that it would have seen one."""
    curve = SAMPLER.curve(1 / steps, sigma, steps, delta)
    assert curve.lower is not None
    lower, upper = float(curve.lower[0]), float(curve.epsilon[0])
    at_lower, error = simulated(steps, sigma, lower, 20_000, 1)
    at_upper, _ = simulated(steps, sigma, upper, 20_000, 1)
    assert at_lower >= delta - 5 * error
    assert at_upper <= delta + 5 * error
    assert simulated(steps, sigma, 0.94 * lower, 20_000, 1)[0] > delta + 5 * error
    assert simulated(steps, sigma, 1.06 * upper, 20_000, 1)[0] < delta - 5 * error


def test_the_oracle_of_one_ratio_is_the_lognormal() -> None:
    values = lognorm(s=1.0, scale=np.exp(-0.5)).rvs(400_000, random_state=3)
    assert above(1.0, np.array([2.0]))[0] == pytest.approx(np.maximum(values - 2, 0).mean(), rel=0.03)


def test_where_the_lattice_fails_a_known_order_is_the_upper_end() -> None:
    for sigma in (0.02, 0.08):
        curve = SAMPLER.curve(0.01, sigma, 100, 1e-5)
        order = SAMPLERS["fixed_order"].curve(0.01, sigma, 100, 1e-5)
        assert curve.epsilon[0] <= order.epsilon[0]
        assert curve.note
