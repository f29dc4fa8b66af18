"""Truncated Poisson batches: all draws of few records, 60 digits, a mixture by a reference library,
Poisson's limit.
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import mpmath
import numpy as np
import pytest

from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.rounding import ALLOWANCE, RESERVED
from dpcore.privacy.ends import CROSSING
from dpcore.privacy.sampling import SAMPLERS, truncated
from dpcore.privacy.sampling.round_laws import upper_bounds
from dpcore.privacy.sampling.truncated import (
    MARGIN,
    TruncatedPoisson,
    coins_of,
    displacing_laws,
    truncated_laws,
)
from tests.privacy.law_curve import of_law

FEW = [(0.4, 2, 4), (0.7, 3, 5), (0.2, 1, 4), (0.9, 4, 5)]  # q, largest batch, records


def all_draws(q: float, largest: int, n: int) -> dict[tuple[bool, tuple[int, ...]], Fraction]:
    """The exact chance that record 0 is left or not, beside exactly these others."""
    p, found = Fraction(q), {}
    for coins in product([0, 1], repeat=n):
        drawn = [record for record, coin in enumerate(coins) if coin]
        chance = p ** len(drawn) * (1 - p) ** (n - len(drawn))
        size = min(len(drawn), largest)
        for kept in combinations(drawn, size):
            key = 0 in kept, tuple(each for each in kept if each)
            found[key] = found.get(key, Fraction(0)) + chance / comb(len(drawn), size)
    return found


@pytest.mark.parametrize(("q", "largest", "n"), FEW)
def test_the_coins_are_those_of_all_draws_of_few_records(q: float, largest: int, n: int) -> None:
    draws, coins = all_draws(q, largest, n), coins_of(q, largest, n)
    beside = {(there, size): Fraction(0) for there in (True, False) for size in range(largest + 1)}
    for (there, others), chance in draws.items():
        beside[there, len(others)] += chance
    for size in range(largest - 1):
        assert beside[True, size] == Fraction(q) * (beside[True, size] + beside[False, size])
    assert beside[True, largest] == 0
    full = beside[True, largest - 1] + beside[False, largest - 1]
    few = sum(beside[there, size] for there in (True, False) for size in range(largest - 1))
    exact = float(beside[True, largest - 1] / full)
    assert exact <= coins.rate <= exact * (1 + 3 * MARGIN)
    assert (
        float(beside[True, largest - 1])
        <= coins.full * coins.rate
        <= float(beside[True, largest - 1]) * (1 + 3 * MARGIN)
    )
    assert float(few) <= coins.few <= float(few) + 2 * MARGIN
    seen = float(sum(chance for (there, _), chance in draws.items() if there))
    assert seen * (1 - 1e-7) <= coins.seen <= seen


@pytest.mark.parametrize(
    ("q", "largest", "n"),
    [
        (0.01, 50, 5000),
        (0.01, 28, 5000),
        (0.01, 120, 5000),
        (1e-4, 130, 10**6),
        (0.01, 100_500, 10**7),
        (1e-6, 1300, 10**9),
    ],
)
def test_the_coins_are_on_the_safe_side_of_sixty_digits(q: float, largest: int, n: int) -> None:
    def beyond(trials: int, least: int) -> tuple[mpmath.mpf, mpmath.mpf]:
        """P(M >= least) and P(M = least)."""
        exact = mpmath.mpf(q)
        log_binomial = mpmath.loggamma(trials + 1) - mpmath.loggamma(least + 1)
        log_binomial -= mpmath.loggamma(trials - least + 1)
        log_chance = least * mpmath.log(exact) + (trials - least) * mpmath.log1p(-exact)
        first = mpmath.exp(log_binomial + log_chance)
        total, term, at = mpmath.mpf(0), first, least
        while at <= trials and term > total * mpmath.mpf(10) ** -40:
            total, at = total + term, at + 1
            term *= mpmath.mpf(trials - at + 1) / at * exact / (1 - exact)
        return total, first

    with mpmath.workdps(60):
        reach, equal = beyond(n, largest)
        told = mpmath.mpf(largest) / n * reach
        rate, few = (
            reach / (reach + equal * (1 - mpmath.mpf(q)) / q),
            1 - beyond(n - 1, largest - 1)[0],
        )
        coins = coins_of(q, largest, n)
        assert rate <= coins.rate <= rate * (1 + 3 * MARGIN)
        assert told <= mpmath.mpf(coins.full) * coins.rate <= told * (1 + 3 * MARGIN)
        assert few <= mpmath.mpf(coins.few) + coins.full
        assert coins.seen <= q * few + told <= coins.seen * (1 + 5 * MARGIN)


@pytest.mark.parametrize(("q", "largest", "n"), FEW)
def test_no_other_records_make_a_step_tell_more_than_the_mixture(
    q: float, largest: int, n: int
) -> None:
    sigma, draws = 0.7, all_draws(q, largest, n)
    x = np.linspace(-9, 9, 6001)
    both = (
        truncated_laws(coins_of(q, largest, n), q, sigma, 0.02, 1e-14),
        displacing_laws(q, largest, n, sigma, 0.02, 1e-14),
    )
    epsilon = np.array([0.0, 0.3, 1.0])
    upper = [
        np.minimum(*(of_law(law, epsilon) for law in laws))
        for laws in zip(*((each.remove, each.add) for each in both), strict=True)
    ]
    reached = 0.0
    for others in product([-1.0, 0.0, 1.0], repeat=n - 1):
        without_it = np.array([sum(others[each - 1] for each in kept) for _, kept in draws])
        record = np.array([there for there, _ in draws])
        sums = np.stack([record + without_it, without_it], axis=1)
        weight = np.array([float(each) for each in draws.values()])
        with_it, without = (
            weight @ np.exp(-0.5 * ((x - each[:, None]) / sigma) ** 2) for each in sums.T
        )
        with_it, without = with_it / with_it.sum(), without / without.sum()
        for place, factor in enumerate(np.exp(epsilon)):
            assert np.maximum(with_it - factor * without, 0).sum() <= upper[0][place] + 1e-6, others
            assert np.maximum(without - factor * with_it, 0).sum() <= upper[1][place] + 1e-6, others
        reached = max(reached, float(np.maximum(with_it - without, 0).sum()))
    assert reached > 0.7 * upper[0][0]  # and some come near
    curve = TruncatedPoisson(largest, n).curve(q, sigma, 1, 0.05)
    # All others of gradient 0.
    marginal = SAMPLERS["poisson"].curve(coins_of(q, largest, n).seen, sigma, 1, 0.05)
    assert curve.lower[0] == pytest.approx(marginal.lower[0], rel=1e-6)


def test_the_mixture_composes_as_that_of_the_reference_library() -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for q, sigma, steps, largest, n in [
        (0.01, 1.0, 1000, 64, 5000),
        (0.1, 2.0, 100, 1060, 10_000),
        (0.1, 2.0, 100, 910, 10_000),
    ]:
        coins = coins_of(q, largest, n)

        def one(rate: float, sigma: float = sigma) -> object:
            return pld.from_gaussian_mechanism(
                sigma, sampling_prob=rate, value_discretization_interval=1e-3
            )

        rest = 1 - coins.few - coins.full
        cut = one(coins.rate).compute_mixture(pld.identity(1e-3), coins.full / (coins.full + rest))
        theirs = (
            one(q).compute_mixture(cut, coins.few).self_compose(steps).get_epsilon_for_delta(1e-5)
        )
        laws = truncated_laws(coins, q, sigma, 0.1 * q / sigma, 1e-12)
        assert upper_bounds(laws, np.array([steps]), np.array([1e-5]))[0] == pytest.approx(
            theirs, rel=5e-3
        ), (
            q,
            largest,
        )
        curve = TruncatedPoisson(largest, n).curve(q, sigma, steps, 1e-5)
        published = pld.from_truncated_subsampled_gaussian_mechanism(
            n, q, largest, sigma, value_discretization_interval=1e-3
        )
        assert curve.lower[0] <= published.self_compose(steps).get_epsilon_for_delta(1e-5), (
            q,
            largest,
        )
        assert curve.epsilon[0] <= 1.005 * min(
            theirs, published.self_compose(steps).get_epsilon_for_delta(1e-5)
        )


@pytest.mark.parametrize(("q", "sigma"), [(0.01, 1.0), (0.3, 0.6), (0.2, 4.0), (1.0, 2.0)])
def test_the_pair_of_a_displaced_record_has_its_two_closed_forms(q: float, sigma: float) -> None:
    """At epsilon >= 0 that of N(2) and N(1) beside N(0), and the other way round that of N(1) and
    N(0).
    """
    laws = displacing_laws(
        q, 1, 10**6, sigma, 0.02 * q / sigma, 1e-14
    )  # nearly all batches are cut, most records left out
    cut = 10**-6 * (1 - (1 - q) ** 10**6 - 10**6 * q * (1 - q) ** (10**6 - 1)) / q
    for epsilon in np.array([0.0, 0.4, 1.0]) * q / sigma:
        factor, x = np.exp(epsilon), np.linspace(-30, 40, 700_001)
        none, one, two = (
            np.exp(-0.5 * ((x - at) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi)) * 1e-4
            for at in (0, 1, 2)
        )
        with_it, without = (1 - q) * none + q * two, (1 - q) * none + q * one
        for law, exact in (
            (laws.remove, np.maximum(with_it - factor * without, 0).sum()),
            (laws.add, np.maximum(without - factor * none, 0).sum()),
        ):
            found = of_law(law, np.array([epsilon]))[0] / cut
            assert found == pytest.approx(exact, rel=0.01), (epsilon, exact)
            assert found >= exact * (1 - 1e-4)


def test_where_nothing_is_cut_it_is_poisson_and_the_cost_falls_to_that() -> None:
    q, sigma, steps, n = 512 / 60_000, 1.068, [117, 4680], 60_000
    poisson = SAMPLERS["poisson"].curve(q, sigma, steps, 1e-5)
    for largest, rel in ((n, 0), (2 * n, 0), (1000, 1e-9), (700, 1e-4), (602, 4e-3)):
        curve = TruncatedPoisson(largest, n).curve(q, sigma, steps, 1e-5)
        assert curve.epsilon == pytest.approx(poisson.epsilon, rel=rel), largest
        assert curve.lower == pytest.approx(poisson.lower, rel=max(rel, 1e-7)), largest
    costs = [
        float(TruncatedPoisson(each, n).curve(q, sigma, 4680, 1e-5).epsilon[0])
        for each in (400, 512, 560, 620)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[1] > 2 * poisson.epsilon[1]  # half of all batches are full


def test_what_full_batches_leave_of_delta_is_never_too_much_nor_too_little_to_hold_the_reserve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T g r in rational numbers, beside deltas from just above it to far above it."""
    asked: list[tuple[float, float]] = []
    real = truncated.poisson_bounds

    def counted(q: float, sigma: float, steps: np.ndarray, delta: np.ndarray) -> EpsilonBounds:
        asked.extend(zip(steps.tolist(), delta.tolist(), strict=True))
        return real(q, sigma, steps, delta)

    monkeypatch.setattr(truncated, "poisson_bounds", counted)
    monkeypatch.setattr(
        truncated, "upper_bounds", lambda laws, steps, delta: np.full(steps.shape, np.inf)
    )
    generator, shares = np.random.default_rng(15), []
    for _ in range(40):
        examples, steps = int(generator.integers(20, 500)), int(generator.integers(1, 50))
        q = float(generator.uniform(0.01, 0.2))
        largest = min(int(q * examples + 6 * (q * examples) ** 0.5) + 1, examples - 1)
        coins = coins_of(q, largest, examples)
        cut = steps * Fraction(coins.full) * Fraction(coins.rate)
        delta = float(cut) * float(1 + 10 ** generator.uniform(-12, 2))
        if not 1e-40 < delta < 0.5:
            continue
        asked.clear()
        found = TruncatedPoisson(largest, examples).curve(q, 1.0, steps, delta).last
        left = [each for _, each in asked[1:]]  # behind the lower end
        shares += left
        assert np.isfinite(found.value) == bool(left), "no other bound is asked here"
        assert bool(left) == (cut < Fraction(0.9) * Fraction(delta))
        for each in left:
            assert Fraction(ALLOWANCE) * Fraction(each) > 10**6 * Fraction(RESERVED) * Fraction(
                delta
            )
            assert Fraction(each) < (Fraction(delta) - cut) * (1 - Fraction(1e-12)), (
                "its rounding is charged"
            )
            assert Fraction(each) > (Fraction(delta) - cut) * (1 - Fraction(1e-8))
    assert len(shares) > 5


def test_ends_that_cross_are_not_pushed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        truncated, "upper_bounds", lambda laws, steps, delta: np.full(steps.shape, 0.01)
    )
    found = TruncatedPoisson(600, 60_000).curve(512 / 60_000, 1.068, 4680, 1e-5).last
    assert np.isinf(found.value)
    assert found.note == CROSSING


def test_every_batch_full_or_of_one_record_is_answered_and_nonsense_is_named() -> None:
    for largest, q in ((1, 0.1), (5, 1.0), (1, 1.0), (10, 0.999)):
        curve = TruncatedPoisson(largest, 50).curve(q, 1.0, [1, 20], 1e-5)
        assert np.all(curve.lower <= curve.epsilon), (largest, q)
        assert np.isfinite(curve.epsilon).all(), (largest, q)
    # 1 of 50 is seen: too few for this delta.
    assert TruncatedPoisson(1, 50).curve(0.5, 0.01, 1, 0.1).lower[0] == 0
    for numbers, name in (
        ((0, 5), "largest"),
        ((5, 0), "examples"),
        ((5, 10**9 + 1), "examples"),
        ((1.5, 5), "largest"),
    ):
        with pytest.raises(ValueError, match=f"Expected {name}="):
            TruncatedPoisson(*numbers)  # type: ignore[arg-type]


def test_much_noise_hides_who_makes_room() -> None:
    # Half of all batches are full.
    curve = TruncatedPoisson(500, 50_000).curve(0.01, 4.0, 10_000, 1e-5)
    poisson = SAMPLERS["poisson"].curve(0.01, 4.0, 10_000, 1e-5)
    assert curve.lower[0] < poisson.lower[0] < curve.epsilon[0] < 1.2 * poisson.epsilon[0]


def test_a_rate_so_small_that_its_lattice_is_coarser_still_has_a_band() -> None:
    curve = TruncatedPoisson(110, 10**7).curve(1e-5, 0.8, 100_000, 1e-6)
    poisson = SAMPLERS["poisson"].curve(1e-5, 0.8, 100_000, 1e-6)
    assert poisson.lower[0] < curve.epsilon[0] < 3 * poisson.epsilon[0]
