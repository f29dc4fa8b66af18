"""Numbers in the remarks on paper 000."""

import math
from functools import partial

from dpcore.papers.pigdo import theorem_3
from dpcore.papers.pigdo.accuracies import IMPROVEMENTS
from dpcore.papers.pigdo.numbers import FIGURE_4_SETTING, STEPS
from dpcore.papers.pigdo.theorem_3 import DELTA, DOMINANT, WORDS, Lambda
from dpcore.papers.words import remarks
from dpcore.privacy.report.numbers import nearest, outward, short

FAILS_FROM = 1 / (1 + DOMINANT)  # the q from which sigma^2 > 10 q / (1 - q) fails at sigma = 1
RESTRICTED = 32  # lambda in section 5.2
MISCOUNTED = 60_000 / 50_000  # the published code takes CIFAR-10's q too small by this factor


def first_failing_epoch() -> int:
    """Return the first epoch of Figure 4 at which the conditions fail, at the order that the proof uses.

    >>> first_failing_epoch()
    116
    """
    q, sigma = FIGURE_4_SETTING.q, FIGURE_4_SETTING.sigma
    holds = partial(theorem_3.conditions_hold, q, sigma, which=Lambda.OWN)
    return next(epoch for epoch in range(1, STEPS) if not holds(round(epoch / q)))


def _numbers() -> dict[str, object]:
    q, sigma, order = FIGURE_4_SETTING.q, FIGURE_4_SETTING.sigma, 10
    sums = [short(sum(theorem_3.dropped_bounds(q, each, 3)) / (q / each) ** 3) for each in (1.0, 2.0)]
    ratios = [
        short(theorem_3.dropped_bounds(q, each, t)[2] / theorem_3.dropped_bounds(q, each, t + 1)[2])
        for each, t in ((1.0, 3), (2.0, 3), (2.0, 4))
    ]
    wrong = [each for each in IMPROVEMENTS if each.because]
    return {
        "least_order": nearest(theorem_3.least_order(q), 3),
        "own_order": nearest(theorem_3.own_order(q, sigma, STEPS), 3),
        "ratios": ratios,
        "least_q": outward(FAILS_FROM, math.ceil),
        "sums": sums,
        "third": short(math.comb(order + 1, 3) * theorem_3.dropped_bounds(q, 1.0, 3)[2] / (q * order) ** 2),
        "dominant_from": math.ceil(theorem_3.dominant_from(DELTA)),
        "first_failing": first_failing_epoch(),
        "restricted": RESTRICTED,
        "least": short(0.002 * STEPS / RESTRICTED),
        "mma": short(theorem_3.claimed(q, sigma, STEPS)),
        "more": nearest(100 * (math.sqrt(MISCOUNTED) - 1), 2),
        "count": len(wrong),
        "all": len(IMPROVEMENTS),
        "names": ", ".join(f"{each.printed} ({each.quantity.split(', %')[0]})" for each in wrong),
    }


REMARKS = remarks(WORDS, **_numbers())
