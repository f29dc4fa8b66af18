"""The numbers of the file for one batch and sigma, at each stop of the epochs.

Each is asked for, and rounded, as the live lab does it: epsilon of the whole mechanism alone.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.labfile.codes import nearest_code, text_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import FloatArray, Mechanism, Reading
from dpcore.privacy.report.attack_risk import Risks, of_hundred, risks_of
from dpcore.privacy.report.numbers import outward, rounded, short
from dpcore.privacy.report.verdict import Verdict, Worth, judged

OTHERS = DEFAULT_ACCOUNTANTS  # the accountants beside the certified band
WORTHS = tuple(Worth)
WORTH_BITS = 3
# Slopes of the lines of the lower trade-off curve, as epsilons, and parts of 1 of their deltas.
SLOPES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.4, 1.8, 2.3, 3.0, 4.0, 5.0, 6.5, 9.0)
DELTA_PARTS = 500
# False-positive rates at which the upper trade-off curve has its corners, and parts of 1 there.
ALPHAS = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BETA_PARTS = 200
CERTAIN = 1001  # thousandths, of an attacker who may become certain
# The numbers of a stop, in their order; the first ones are codes.
CODES = ("lower", "upper", *OTHERS, *(f"{name} ratio" for name in OTHERS))
BOUNDS = (
    True,
    True,
    *(ACCOUNTANTS[name].kind.is_bound for name in OTHERS),
    *(False for _ in OTHERS),
)
COUNTS = ("worths", "people", "sure")
PLANES = len(CODES) + len(COUNTS) + len(SLOPES) + len(ALPHAS)


class Row(NamedTuple):
    """The numbers of one batch and sigma, and the texts that their codes do not give."""

    numbers: list[list[int]]  # for each stop of the epochs
    apart: list[tuple[int, int, str]]  # stop of the epochs, place of the code, text


def steps_of(epochs: float, n: int, batch: int) -> int:
    """The epochs in steps, rounded up as in training.

    >>> steps_of(5, 10_000, 256)
    196
    """
    return math.ceil(epochs * n / batch - 1e-9)


def mechanism_at(n: int, batch: int, sigma: float, epochs: float) -> Mechanism:
    """The mechanism of the lab at a stop."""
    return Mechanism.constant(batch / n, sigma, steps_of(epochs, n, batch))


def row_of(n: int, delta: float, epochs: tuple[float, ...], batch: int, sigma: float) -> Row:
    """The row of one batch and sigma.

    >>> row = row_of(100, 1e-5, (1.0,), 100, 4.0)
    >>> len(row.numbers[0]) == PLANES, row.apart
    (True, [])
    """
    numbers = []
    apart = []
    for place, length in enumerate(epochs):
        texts, counts = _stop(mechanism_at(n, batch, sigma, length), delta)
        codes = []
        for number, text in enumerate(texts):
            code = nearest_code(text)
            codes.append(code)
            if text_of(code, BOUNDS[number]) != text:
                apart.append((place, number, text))
        numbers.append([*codes, *counts])
    return Row(numbers, apart)


def _stop(mechanism: Mechanism, delta: float) -> tuple[list[str], list[int]]:
    """The texts of the codes of one stop, and its other numbers."""
    found = ACCOUNTANTS[CERTIFIED].spent(mechanism, delta)
    lower = found.lower or 0.0  # none is proven where the numerics gave up
    certified = replace(found, lower=lower)
    epsilons = [outward(lower, math.floor), outward(certified.value, math.ceil)]
    ratios = []
    worths = WORTHS.index(judged(certified, certified).worth)
    for bit, name in enumerate(OTHERS, 1):
        reading = ACCOUNTANTS[name].spent(mechanism, delta)
        verdict = judged(reading, certified)
        epsilons.append(_written(reading))
        ratios.append(_ratio(reading, certified, verdict))
        worths |= WORTHS.index(verdict.worth) << WORTH_BITS * bit
    band = tradeoff_bounds(mechanism)
    risks = risks_of(band, delta)
    counts = [worths, of_hundred(risks), _thousandths(risks), *_tangents(band), *_corners(band)]
    return [*epsilons, *ratios], counts


def _written(reading: Reading) -> str:
    if math.isinf(reading.value):
        return "infinite"
    return rounded(reading.value, reading.kind)


def _ratio(reading: Reading, certified: Reading, verdict: Verdict) -> str:
    """The ratio to the certified value as tables have it; "infinite" where they have none."""
    compared = math.isfinite(reading.value) and math.isfinite(certified.value)
    if not compared or not math.isfinite(verdict.ratio):
        return "infinite"
    return short(verdict.ratio)


def _thousandths(risks: Risks) -> int:
    """The largest certainty about a single person, in thousandths, rounded up."""
    if risks.empty or risks.sure >= 1:
        return CERTAIN
    return math.ceil(1000 * risks.sure)


def _tangents(band: Band) -> list[int]:
    """The deltas of lines that are nowhere above the lower curve, rounded up.

    A convex curve lies below its chords, so that points on it would not do.
    """
    return _up(DELTA_PARTS, band.lower.delta(np.array(SLOPES)))


def _corners(band: Band) -> list[int]:
    """Type II errors on the upper curve or above it; it lies below the chords between them."""
    return _up(BETA_PARTS, band.upper.beta(np.array(ALPHAS)))


def _up(parts: int, shares: FloatArray) -> list[int]:
    """Shares in parts of 1, rounded up, also where the product was rounded down."""
    exact = np.nextafter(parts * shares, np.inf)
    return np.minimum(np.ceil(exact), parts).astype(int).tolist()
