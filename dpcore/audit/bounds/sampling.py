"""Tests of Poisson sampling, from the presence of some examples, the canaries, in each batch.

Under Poisson sampling each test counts independent events of known probability, so each p-value is
exactly binomial. README.md lists the faults that each test catches.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from dpcore import check
from dpcore.audit.bounds.binomial import at_least, rate_above, rate_below, two_sided
from dpcore.audit.bounds.finding import CONFIDENCE, Finding, Flags, bonferroni, flags, nothing
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.report.numbers import nearest

MIN_INCLUSIONS = 5.0  # expected in all: with fewer, no test can reject


class SamplingTest(NamedTuple):
    name: str
    p_value: float
    sentence: str


def audit_sampling(
    included: ArrayLike,
    q: float,
    *,
    batch_sizes: ArrayLike | None = None,
    examples: int | None = None,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Test the presence of canaries in batches, (steps, canaries), against Poisson sampling at the
    rate q.

    The p-value combines several tests, and the sentence is that of the smallest of theirs.
    `batch_sizes` (steps,), if known, count whole batches out of `examples`. Steps are in their
    order and begin with an epoch. Canaries are chosen before any batch is drawn. Errors: ValueError
    if shapes do not fit, or if sizes come without the number of examples.

    >>> drawn = np.random.default_rng(0).random((200, 50)) < 0.1
    >>> audit_sampling(drawn, 0.1).rejected
    False
    >>> drawn_twice = drawn | np.roll(drawn, 1, axis=0)
    >>> audit_sampling(drawn_twice, 0.1).rejected
    True
    """
    check.in_range(0, 1, ends="(]", q=q)
    inside = flags("included", included, dimensions=2)
    steps, canaries = inside.shape
    if inside.size * q < MIN_INCLUSIONS:
        expected = nearest(inside.size * q, 2)
        note = (
            f"Nothing can be shown: {canaries} canaries in {steps} steps are drawn {expected} times"
            " on average."
        )
        return nothing(note, confidence, steps=steps, canaries=canaries)
    parts = [_rate(inside, q)]
    if steps > 1:
        parts += [_windows(inside, q), _preferred(inside, q), _repeated(inside, q)]
    if canaries > 1:
        parts += [_neighbours(inside, q), _inseparable(inside, q)]
    if batch_sizes is not None:
        sizes = np.asarray(batch_sizes, dtype=np.float64)
        if sizes.shape != (steps,):
            raise ValueError(
                f"Expected batch_sizes of shape {sizes.shape} to have shape ({steps},)."
            )
        parts += _size_tests(sizes, examples, q)
    drawn = int(inside.sum())
    error = (1 - confidence) / 2
    return Finding(
        confidence=confidence,
        p_value=bonferroni(part.p_value for part in parts),
        shows=min(parts, key=lambda part: part.p_value).sentence,
        figures={
            "steps": steps,
            "canaries": canaries,
            "parts": tuple(parts),
            # bounds of the rate, together at the confidence
            "rate_above": float(rate_above(drawn, inside.size, error)),
            "rate_below": float(rate_below(drawn, inside.size, error)),
        },
    )


def _rate(inside: Flags, q: float) -> SamplingTest:
    drawn = int(inside.sum())
    sentence = (
        f"A canary enters a batch at the rate {nearest(drawn / inside.size)}; q is {nearest(q)}."
    )
    return SamplingTest("rate", float(two_sided(drawn, inside.size, q)), sentence)


def _windows(inside: Flags, q: float) -> SamplingTest:
    """Count canaries drawn exactly once in 1/q steps: all of them in a shuffle, 37 % by coins."""
    length = min(max(round(1 / q), 2), len(inside))
    count = len(inside) // length
    times = inside[: count * length].reshape(count, length, -1).sum(axis=1)  # (windows, canaries)
    once = int(np.count_nonzero(times == 1))
    chance = length * q * (1 - q) ** (length - 1)
    sentence = (
        f"Canaries are drawn exactly once in {length} steps in"
        f" {nearest(100 * once / times.size, 3)} % of cases; {nearest(100 * chance, 3)} % are"
        " expected."
    )
    return SamplingTest("once an epoch", float(two_sided(once, times.size, chance)), sentence)


def _preferred(inside: Flags, q: float) -> SamplingTest:
    """Test whether canaries drawn more often in the first half of the steps are so in the
    independent second half.
    """
    half = len(inside) // 2
    times = inside[:half].sum(axis=0)
    order = np.argsort(-times, kind="stable")
    chosen = inside[half:, order[: max(len(order) // 2, 1)]]
    drawn = int(chosen.sum())
    sentence = (
        "The canaries drawn most in the first half of the steps enter a batch of the second half"
        f" at the rate {nearest(drawn / chosen.size)}; q is {nearest(q)}."
    )
    return SamplingTest("equal rates", float(at_least(drawn, chosen.size, q)), sentence)


def _repeated(inside: Flags, q: float) -> SamplingTest:
    """Test whether batches at any fixed distance share more canaries than by chance.

    For each distance L only the disjoint pairs (t, t + L) with t // L even are counted, so the
    count is Binomial(pairs * canaries, q^2).
    """
    steps, canaries = inside.shape
    common = _common(inside)
    distance = common.col - common.row
    kept = (distance > 0) & (common.row // np.maximum(distance, 1) % 2 == 0)
    seen = np.bincount(distance[kept], weights=common.data[kept], minlength=steps)[1:steps]
    pairs = _disjoint_pairs(steps)
    p_values = at_least(np.round(seen), pairs * canaries, q**2)
    worst = int(np.argmin(p_values))
    sentence = (
        f"Batches {worst + 1} steps apart share {int(seen[worst])} canaries; "
        f"{nearest(float(pairs[worst]) * canaries * q**2, 3)} are expected."
    )
    return SamplingTest("batches drawn anew", bonferroni(p_values.tolist()), sentence)


def _disjoint_pairs(steps: int) -> IntArray:
    """Count the t with t // L even and t + L below `steps`, for L = 1 ... steps - 1.

    >>> _disjoint_pairs(5).tolist()  # (0, 1), (2, 3); (0, 2), (1, 3); (0, 3), (1, 4); (0, 4)
    [2, 2, 2, 1]
    """
    distance = np.arange(1, steps)
    whole, rest = np.divmod(steps, 2 * distance)
    return whole * distance + np.maximum(rest - distance, 0)


def _neighbours(inside: Flags, q: float) -> SamplingTest:
    """Count batches with both canaries of a pair; each canary is in one pair."""
    even = inside.shape[1] // 2 * 2
    both = int((inside[:, :even:2] & inside[:, 1:even:2]).sum())
    cases = len(inside) * even // 2
    sentence = (
        f"Both canaries of a pair are in a batch {both} times; {nearest(cases * q**2, 3)} are"
        " expected."
    )
    return SamplingTest("pairs of examples", float(two_sided(both, cases, q**2)), sentence)


def _inseparable(inside: Flags, q: float) -> SamplingTest:
    """Test the pair of canaries that is most often in one batch."""
    steps, canaries = inside.shape
    common = _common(inside.T)
    different = common.row < common.col
    most = int(common.data[different].max(initial=0))
    pairs = canaries * (canaries - 1) // 2
    sentence = (
        f"The pair of canaries most often together shares {most} of {steps} batches; "
        f"{nearest(steps * q**2, 3)} are expected of one pair."
    )
    p_value = min(1.0, pairs * float(at_least(most, steps, q**2)))
    return SamplingTest("any two examples", p_value, sentence)


def _common(rows: Flags):
    """Count the columns that two rows share, as a sparse table."""
    sparse = csr_array(rows.astype(np.float64))
    return (sparse @ sparse.T).tocoo()


def _size_tests(sizes: FloatArray, examples: int | None, q: float) -> Iterator[SamplingTest]:
    """Test the mean batch size, and the share of sizes between the quartiles of Binomial(examples,
    q).
    """
    check.whole(1, examples=examples)
    number = int(examples or 0)
    check.in_range(0, number, batch_size=float(sizes.min(initial=0)))
    check.in_range(0, number, batch_size=float(sizes.max(initial=0)))
    total = float(sizes.sum())
    mean = (
        f"Batches have {nearest(total / sizes.size)} examples on average; {nearest(number * q)} are"
        " expected."
    )
    yield SamplingTest("mean batch", float(two_sided(total, sizes.size * number, q)), mean)
    low, high, chance = middle(number, q)
    within = int(np.count_nonzero((sizes >= low) & (sizes <= high)))
    expected = nearest(sizes.size * chance, 3)
    sentence = (
        f"{within} of {sizes.size} batches have {low} to {high} examples; {expected} are expected."
    )
    yield SamplingTest("spread of batches", float(two_sided(within, sizes.size, chance)), sentence)


def middle(examples: int, q: float) -> tuple[int, int, float]:
    """Return the quartiles of Binomial(examples, q) and the probability between them, ends
    included.

    >>> [round(each, 4) for each in middle(60_000, 512 / 60_000)]
    [497, 527, 0.5085]
    """
    size = np.arange(examples + 1)
    below = 1 - at_least(size + 1, examples, q)
    low = int(np.searchsorted(below, 0.25))
    high = int(np.searchsorted(below, 0.75))
    return low, high, float(at_least(low, examples, q) - at_least(high + 1, examples, q))
