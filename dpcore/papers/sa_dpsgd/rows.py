"""Rows of paper 001: epsilon by its Theorem 1, and runs of Tables 1 and 3 and of Figure 4.

paper.toml has the settings of its Table 2; momentum 0.9 is from their source (arXiv 2011.11660).
Letters: tau accepted steps, alpha the order, Q the temperature, mu0 the largest number of
rejections in a row.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from dpcore.papers.comparison import certified
from dpcore.papers.entry import (
    FEWER_POINTS,
    Computed,
    PrintedClaim,
    PrintedSetting,
    Row,
    Trained,
    setting_of,
    without_privacy,
)
from dpcore.papers.paper import SEEDS
from dpcore.papers.words import NONE, Values, computed, config_of, filled, grid, words_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.renyi import binomial_log_moments
from dpcore.training.config import RunConfig

WORDS = words_of("sa_dpsgd")
DATA: dict[str, dict[str, Any]] = WORDS["data"]
METHODS: dict[str, Values] = WORDS["methods"]
ANNEALED = "SA-DPSGD"
ACCURACY = ", test accuracy, %"  # the end of a quantity
# Epochs of proposals, for about as many accepted as Table 1 charges.
LONGER = {"MNIST": 52.0, "Fashion-MNIST": 170.0}
TEXTS = filled(WORDS["runs"], {"judges": METHODS[ANNEALED]["public"]})
DELTA = 1e-5
BUDGET = 3.0  # epsilon
MAX_ORDER = 64
Q0 = 10.0


def run(title: str, method: str, changed: Values = NONE) -> RunConfig:
    """Return a run of one of the paper's methods on one of its data sets."""
    data = DATA[title]
    limit: Values = {"sa_mu0": data["limit"]} if method == ANNEALED else NONE
    return config_of(WORDS["common"], data["run"], METHODS[method], limit, changed)


def setting(title: str) -> PrintedSetting:
    """Return Table 2's column."""
    found = setting_of(run(title, "DP-SGD"))
    assert found
    return found


def whole_epochs(title: str) -> int:
    """Count the steps of its epochs, each without the last partial batch."""
    column = setting(title)
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


def proven_epsilon(title: str, steps: int) -> float:
    """Return a proven upper bound of epsilon after so many steps of Table 2's column."""
    return certified(PrintedClaim(setting(title).after(steps), DELTA)).value


def _epsilons(title: str) -> Iterator[Computed]:
    """Yield the epsilons of Theorem 1, of equation (4), and of every proposal, on a data set."""
    column = setting(title)
    tau = whole_epochs(title)
    limit = DATA[title]["limit"]
    q = column.q
    sigma = column.sigma
    proposals = (limit + 1) * tau
    numbers = {
        "name": title,
        "epochs": column.epochs,
        "tau": tau,
        "limit": limit,
        "proposals": proposals,
        "as_printed": affordable(q, sigma, BUDGET, printed=True),
        "meant": affordable(q, sigma, BUDGET),
    }
    texts = WORDS["entries"]
    claim = PrintedClaim(column.after(tau), DELTA)
    longer = replace(column, epochs=(limit + 1) * column.epochs)
    meant = partial(theorem_1, q, sigma, tau)
    as_printed = partial(theorem_1, q, sigma, tau, printed=True)
    every = partial(proven_epsilon, title, proposals)
    yield computed(texts["table_2"], meant, column, claim, numbers)
    yield computed(texts["equation_4"], as_printed, column, numbers=numbers)
    yield computed(texts["table_1"], every, longer, numbers=numbers)


def _accuracy(
    place: str, title: str, method: str, printed: str, what: str = "", changed: Values = NONE
) -> Trained:
    """Return an accuracy of a method on a data set, maybe with changed settings."""
    return Trained(
        place,
        f"{title}, {method}{what}",
        printed,
        TEXTS["all_charged" if method == ANNEALED else "others"],
        within=FEWER_POINTS,
        config=run(title, method, changed),
    )


def _table_1(title: str) -> Iterator[Trained]:
    """Yield the accuracy of each method on a data set, and the one without privacy."""
    *private, without = DATA[title]["accuracies"]
    for method, printed in zip(METHODS, private, strict=True):
        row = _accuracy("Table 1", title, method, printed, ACCURACY)
        yield replace(row, seeds=SEEDS, watched=True)
    bare = without_privacy(run(title, "DP-SGD (tanh)"), lr=0.05)
    quantity = f"{title}, without privacy{ACCURACY}"
    yield Trained("Table 1", quantity, without, TEXTS["plain"], config=bare)


def _annealed() -> Iterator[Trained]:
    """Yield accuracies of SA-DPSGD for runs of more proposals, and with one changed setting."""
    place_of_annealed = list(METHODS).index(ANNEALED)
    for title, epochs in LONGER.items():
        printed = DATA[title]["accuracies"][place_of_annealed]
        what = f", {epochs:g} epochs of proposals{ACCURACY}"
        yield _accuracy("Table 1", title, ANNEALED, printed, what, {"epochs": epochs})
    for each in WORDS["free"]:
        what = f", {each['what']}{ACCURACY}"
        yield _accuracy(each["place"], "MNIST", ANNEALED, each["printed"], what, each["changed"])


def _table_3(title: str) -> Iterator[Trained]:
    """Yield each accuracy of a data set at the epsilon at which a method reaches it."""
    for printed, epsilons in DATA[title]["reaches"].items():
        for method, epsilon in zip(METHODS, epsilons, strict=True):
            if epsilon == math.inf:  # never reached
                continue
            what = f"{ACCURACY}, at epsilon {epsilon:g} by the classic conversion"
            stop = {"epochs": 160.0, "stop_epsilon": epsilon, "stop_accountant": "moments"}
            yield _accuracy("Table 3", title, method, printed, what, stop)


def _rows() -> Iterator[Row]:
    for title in DATA:
        yield from _epsilons(title)
    for title in DATA:
        yield from _table_1(title)
    yield from _annealed()
    for title in DATA:
        yield from _table_3(title)


ROWS = tuple(_rows())
REFERENCE = run("MNIST", ANNEALED)
GRIDS = tuple(grid({"note": TEXTS["grid"]} | each, REFERENCE) for each in WORDS["figure_4"])
