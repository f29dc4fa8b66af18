"""Accounting of paper 001: epsilon by its Theorem 1, as printed and as its proof means it,
acceptance, and figures.

Its letters: tau accepted steps, alpha the order, Q the temperature, mu0 the largest number of
rejections in a row.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting, setting_of
from dpcore.papers.paper import Drawing, Line
from dpcore.papers.records import OnTheWay, recorded
from dpcore.papers.sa_dpsgd.runs import DATA, METHODS, WORDS, run
from dpcore.papers.words import with_numbers
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.renyi import binomial_log_moments
from dpcore.training.plan import plan

DELTA, BUDGET, MAX_ORDER = 1e-5, 3.0, 64
NAMES = tuple(DATA)
Q0 = 10.0
# For Figure 4b, whose own values are only in the image.
BATCHES = np.array([64, 128, 256, 512, 1024, 2048])


def setting(name: str) -> PrintedSetting:
    """Return Table 2's column."""
    found = setting_of(run(name, "DP-SGD"))
    assert found
    return found


def whole_epochs(name: str) -> int:
    """Count the steps of its epochs, each without the last partial batch."""
    return int(setting(name).epochs) * (setting(name).n // setting(name).batch)


@cache
def _costs(q: float, sigma: float, printed: bool) -> tuple[FloatArray, FloatArray]:
    """Return the orders alpha = 2..64 and a step's ln A(alpha), A being the sum of equation (8), or
    A as printed.
    """
    orders = np.arange(2, MAX_ORDER + 1.0)
    logarithms = binomial_log_moments(q, sigma)[: orders.size]
    return orders, np.exp(np.minimum(logarithms, 700.0)) if printed else logarithms


def theorem_1(q: float, sigma: float, tau: float, printed: bool = False) -> float:
    """Return epsilon of tau steps by Theorem 1: as its proof means it, or without a logarithm, as
    equation (4) has it.

    min over alpha of tau ln A(alpha) / (alpha - 1) + ln(1/delta) / (alpha - 1).

    >>> [round(theorem_1(512 / 60_000, 1.23, 4680, printed), 1) for printed in (False, True)]
    [3.0, 364.2]
    """
    orders, costs = _costs(q, sigma, printed)
    return float(np.min((tau * costs - math.log(DELTA)) / (orders - 1)))


def affordable(q: float, sigma: float, epsilon: float, printed: bool = False) -> int:
    """Return the most steps that epsilon pays for by Theorem 1, as its proof means it or as
    equation (4) has it.

    >>> [affordable(512 / 60_000, 1.23, 3.0, printed) for printed in (False, True)]
    [4698, 27]
    """
    orders, costs = _costs(q, sigma, printed)
    return max(0, math.floor(float(np.max((epsilon * (orders - 1) + math.log(DELTA)) / costs))))


def acceptance(rise: FloatArray, tau: int) -> FloatArray:
    """Return the chance of equation (3) of accepting a step that raises the loss, after tau
    accepted steps.

    >>> acceptance(np.array([0.0, 1e-4, 1e-3]), 4680).round(4).tolist()
    [1.0, 0.0093, 0.0]
    """
    return np.exp(-np.maximum(rise, 0.0) * Q0 * tau)


def proven_epsilon(name: str, steps: int) -> float:
    """Return a proven upper bound of epsilon after so many steps of Table 2's column."""
    mechanism = Mechanism.constant(setting(name).q, setting(name).sigma, steps)
    return ACCOUNTANTS[CERTIFIED].spent(mechanism, DELTA).value


def saved_share(name: str, accuracy: str) -> float:
    """Return the share of AUTO-S's steps that SA-DPSGD saves by Table 3, counting only accepted
    steps.
    """
    *_, other, own = DATA[name]["reaches"][accuracy]
    q, sigma = setting(name).q, setting(name).sigma
    return 1 - affordable(q, sigma, own) / affordable(q, sigma, other)


def _entries(name: str) -> tuple[Computed, ...]:
    column, tau, limit = setting(name), whole_epochs(name), DATA[name]["limit"]
    q, sigma, proposals = column.q, column.sigma, (limit + 1) * tau
    numbers = {
        "name": name,
        "epochs": column.epochs,
        "tau": tau,
        "limit": limit,
        "proposals": proposals,
    }
    numbers |= {
        "as_printed": affordable(q, sigma, BUDGET, printed=True),
        "meant": affordable(q, sigma, BUDGET),
    }
    texts = {place: with_numbers(entry, **numbers) for place, entry in WORDS["entries"].items()}
    return (
        Computed(
            **texts["table_2"],
            setting=column,
            claim=PrintedClaim(Mechanism.constant(q, sigma, tau), DELTA),
            ours=lambda: theorem_1(q, sigma, tau),
            bound=True,
        ),
        Computed(
            **texts["equation_4"],
            setting=column,
            ours=lambda: theorem_1(q, sigma, tau, printed=True),
        ),
        Computed(
            **texts["table_1"],
            setting=replace(column, epochs=(limit + 1) * column.epochs),
            ours=lambda: proven_epsilon(name, proposals),
            bound=True,
        ),
    )


def _figure_3() -> tuple[Line, ...]:
    name = "MNIST"
    q, sigma, tau, limit = (
        setting(name).q,
        setting(name).sigma,
        whole_epochs(name),
        DATA[name]["limit"],
    )
    steps = np.arange(1, 41) * (tau // 40)
    x = steps.astype(np.float64)
    lines = [
        Line(
            "Accepted steps, by Theorem 1",
            x,
            np.array([theorem_1(q, sigma, each) for each in x.tolist()]),
        )
    ]
    # Fixed beforehand.
    for proposals, rejected in ((1, "none"), (2, "half"), (limit + 1, f"{limit} of {limit + 1}")):
        every = Mechanism.constant(q, sigma, proposals * tau)
        curve = ACCOUNTANTS[CERTIFIED].curve(every, proposals * steps, DELTA)
        lines.append(Line(f"Certified, {rejected} rejected", x, curve.epsilon, CERTIFIED))
    return tuple(lines)


def _equation_3() -> tuple[Line, ...]:
    rise, end = np.geomspace(1e-7, 1e-4, 121), whole_epochs("MNIST")
    return tuple(
        Line(f"after {tau:,} accepted steps", rise, acceptance(rise, tau))
        for tau in (1, 100, 1000, end)
    )


def _figure_4b() -> tuple[Line, ...]:
    n, sigma = setting("MNIST").n, setting("MNIST").sigma
    epochs = [affordable(each / n, sigma, BUDGET) * each / n for each in BATCHES.tolist()]
    return (Line("epochs for epsilon 3", BATCHES.astype(np.float64), np.array(epochs)),)


ENTRIES = tuple(entry for name in NAMES for entry in _entries(name))
LINES = {"figure_3": _figure_3, "equation_3": _equation_3, "figure_4b": _figure_4b}
DRAWINGS = tuple(Drawing(**WORDS["drawings"][name], lines=lines) for name, lines in LINES.items())
ID = "001"
PANELS = {"Figure 3 (d)": "MNIST", "Figure 3 (e)": "Fashion-MNIST"}
ANNEALED = "SA-DPSGD"


def course_of(title: str, method: str) -> tuple[OnTheWay, ...]:
    """Return the tests on the way of the first recorded run that has them."""
    record = recorded(ID, run(title, method))
    return next((each.course for each in record.runs if each.course), ()) if record else ()


def accuracy_lines(title: str) -> tuple[Line, ...]:
    """Draw accuracy in percent against epsilon of every recorded method, and of the accepted steps
    alone.
    """
    lines = []
    for method in METHODS:
        course, charged = course_of(title, method), plan(run(title, method)).mechanism
        if not course or charged is None:
            continue
        lines.append(_line(method, course, [each.step for each in course], charged))
        if method == ANNEALED:
            counted = [each for each in course if each.accepted]
            lines.append(
                _line(
                    f"{method}, accepted steps alone",
                    counted,
                    [each.accepted or 0 for each in counted],
                    charged,
                )
            )
    return tuple(lines)


def _line(name: str, course: Sequence[OnTheWay], steps: Sequence[int], charged: Mechanism) -> Line:
    """Draw the tests of a run against the epsilon of its steps; tests at the same step share an
    epsilon.
    """
    counts, places = np.unique(steps, return_inverse=True)
    epsilon = ACCOUNTANTS[CERTIFIED].curve(charged, counts.tolist(), DELTA).epsilon[places]
    return Line(name, epsilon, np.array([100 * each.accuracy for each in course]))


ACCURACIES = tuple(
    Drawing(
        **WORDS["accuracy_figures"],
        place=place,
        title=f"Accuracy against epsilon on {title}, delta = 1e-5",
        lines=partial(accuracy_lines, title),
    )
    for place, title in PANELS.items()
    if all(course_of(title, each) for each in METHODS)
)
