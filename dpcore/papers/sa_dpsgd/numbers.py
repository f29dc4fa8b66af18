"""Accounting of paper 001: epsilon by its Theorem 1, and acceptance.

Its letters: tau accepted steps, alpha the order, Q the temperature, mu0 the largest number of
rejections in a row.
"""

import itertools
import math
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpcore.papers.comparison import certified
from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting, setting_of
from dpcore.papers.sa_dpsgd.runs import DATA, WORDS, run
from dpcore.papers.words import with_numbers
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.renyi import binomial_log_moments

DELTA = 1e-5
BUDGET = 3.0  # epsilon
MAX_ORDER = 64
NAMES = tuple(DATA)
Q0 = 10.0


def setting(name: str) -> PrintedSetting:
    """Return Table 2's column."""
    found = setting_of(run(name, "DP-SGD"))
    assert found
    return found


def whole_epochs(name: str) -> int:
    """Count the steps of its epochs, each without the last partial batch."""
    column = setting(name)
    return int(column.epochs) * (column.n // column.batch)


@cache
def _costs(q: float, sigma: float, printed: bool) -> tuple[FloatArray, FloatArray]:
    """Return the orders alpha = 2..64 and a step's ln A(alpha), or A as printed.

    A is the sum of equation (8).
    """
    orders = np.arange(2, MAX_ORDER + 1.0)
    logarithms = binomial_log_moments(q, sigma)[: orders.size]
    if printed:
        return orders, np.exp(np.minimum(logarithms, 700.0))
    return orders, logarithms


def theorem_1(q: float, sigma: float, tau: float, printed: bool = False) -> float:
    """Return epsilon of tau steps by Theorem 1.

    As its proof means it, or without a logarithm, as equation (4) has it:
    min over alpha of tau ln A(alpha) / (alpha - 1) + ln(1/delta) / (alpha - 1).

    >>> [round(theorem_1(512 / 60_000, 1.23, 4680, printed), 1) for printed in (False, True)]
    [3.0, 364.2]
    """
    orders, costs = _costs(q, sigma, printed)
    return float(np.min((tau * costs - math.log(DELTA)) / (orders - 1)))


def affordable(q: float, sigma: float, epsilon: float, printed: bool = False) -> int:
    """Return the most steps that epsilon pays for by Theorem 1.

    As its proof means it, or without a logarithm, as equation (4) has it.

    >>> [affordable(512 / 60_000, 1.23, 3.0, printed) for printed in (False, True)]
    [4698, 27]
    """
    orders, costs = _costs(q, sigma, printed)
    steps = (epsilon * (orders - 1) + math.log(DELTA)) / costs  # (orders,)
    return max(0, math.floor(float(np.max(steps))))


def acceptance(rise: FloatArray, tau: int) -> FloatArray:
    """Return the chance to accept a step that raises the loss, after tau accepted: equation (3).

    >>> acceptance(np.array([0.0, 1e-4, 1e-3]), 4680).round(4).tolist()
    [1.0, 0.0093, 0.0]
    """
    return np.exp(-np.maximum(rise, 0.0) * Q0 * tau)


def proven_epsilon(name: str, steps: int) -> float:
    """Return a proven upper bound of epsilon after so many steps of Table 2's column."""
    return certified(PrintedClaim(setting(name).after(steps), DELTA)).value


def saved_share(name: str, accuracy: str) -> float:
    """Return the share of AUTO-S's steps that SA-DPSGD saves by Table 3.

    Only accepted steps count.
    """
    *_, auto_s, annealed = DATA[name]["reaches"][accuracy]
    column = setting(name)
    own = affordable(column.q, column.sigma, annealed)
    other = affordable(column.q, column.sigma, auto_s)
    return 1 - own / other


def _entries(name: str) -> tuple[Computed, ...]:
    """Return the epsilons of Theorem 1, of equation (4), and of every proposal, on a data set."""
    column = setting(name)
    tau = whole_epochs(name)
    limit = DATA[name]["limit"]
    q = column.q
    sigma = column.sigma
    proposals = (limit + 1) * tau
    numbers = {
        "name": name,
        "epochs": column.epochs,
        "tau": tau,
        "limit": limit,
        "proposals": proposals,
        "as_printed": affordable(q, sigma, BUDGET, printed=True),
        "meant": affordable(q, sigma, BUDGET),
    }
    texts = WORDS["entries"]
    return (
        Computed(
            **with_numbers(texts["table_2"], **numbers),
            setting=column,
            claim=PrintedClaim(column.after(tau), DELTA),
            ours=partial(theorem_1, q, sigma, tau),
            bound=True,
        ),
        Computed(
            **with_numbers(texts["equation_4"], **numbers),
            setting=column,
            ours=partial(theorem_1, q, sigma, tau, printed=True),
        ),
        Computed(
            **with_numbers(texts["table_1"], **numbers),
            setting=replace(column, epochs=(limit + 1) * column.epochs),
            ours=partial(proven_epsilon, name, proposals),
            bound=True,
        ),
    )


ENTRIES = tuple(itertools.chain.from_iterable(_entries(name) for name in NAMES))
