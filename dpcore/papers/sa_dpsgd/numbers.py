"""Accounting of paper 001: epsilon by its Theorem 1, acceptance, and figures.

Its letters: tau accepted steps, alpha the order, Q the temperature, mu0 the largest number of
rejections in a row.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpcore.papers.comparison import certified
from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting, setting_of
from dpcore.papers.paper import Drawing, Line
from dpcore.papers.records import OnTheWay, recorded
from dpcore.papers.sa_dpsgd.runs import ANNEALED, DATA, METHODS, WORDS, run
from dpcore.papers.words import with_numbers
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.renyi import binomial_log_moments
from dpcore.training.plan import plan

DELTA = 1e-5
BUDGET = 3.0  # epsilon
MAX_ORDER = 64
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


def _figure_3() -> tuple[Line, ...]:
    column = setting("MNIST")
    tau = whole_epochs("MNIST")
    limit = DATA["MNIST"]["limit"]
    steps = np.arange(1, 41) * (tau // 40)  # (40,)
    x = steps.astype(np.float64)
    by_theorem = [theorem_1(column.q, column.sigma, each) for each in x.tolist()]
    lines = [Line("Accepted steps, by Theorem 1", x, np.array(by_theorem))]
    # Proposals to each accepted step, and how many of them are rejected, fixed beforehand.
    for proposals, rejected in ((1, "none"), (2, "half"), (limit + 1, f"{limit} of {limit + 1}")):
        curve = ACCOUNTANTS[CERTIFIED].curve(
            column.after(proposals * tau), proposals * steps, DELTA
        )
        lines.append(Line(f"Certified, {rejected} rejected", x, curve.epsilon, CERTIFIED))
    return tuple(lines)


def _equation_3() -> tuple[Line, ...]:
    rise = np.geomspace(1e-7, 1e-4, 121)
    counts = (1, 100, 1000, whole_epochs("MNIST"))
    return tuple(
        Line(f"after {tau:,} accepted steps", rise, acceptance(rise, tau)) for tau in counts
    )


def _figure_4b() -> tuple[Line, ...]:
    column = setting("MNIST")
    epochs = []
    for batch in BATCHES.tolist():
        q = batch / column.n
        epochs.append(affordable(q, column.sigma, BUDGET) * batch / column.n)
    return (Line("epochs for epsilon 3", BATCHES.astype(np.float64), np.array(epochs)),)


def course_of(title: str, method: str) -> tuple[OnTheWay, ...]:
    """Return the tests on the way of the first recorded run that has them."""
    record = recorded(ID, run(title, method))
    runs = record.runs if record else ()
    return next((each.course for each in runs if each.course), ())


def accuracy_lines(title: str) -> tuple[Line, ...]:
    """Draw accuracy in percent against epsilon of every recorded method.

    SA-DPSGD has a second line, which charges the accepted steps alone.
    """
    lines = []
    for method in METHODS:
        course = course_of(title, method)
        charged = plan(run(title, method)).mechanism
        if not course or charged is None:
            continue
        lines.append(_accuracy_line(method, course, [each.step for each in course], charged))
        if method == ANNEALED:
            counted = [each for each in course if each.accepted]
            accepted = [each.accepted or 0 for each in counted]
            name = f"{method}, accepted steps alone"
            lines.append(_accuracy_line(name, counted, accepted, charged))
    return tuple(lines)


def _accuracy_line(
    name: str, course: Sequence[OnTheWay], steps: Sequence[int], charged: Mechanism
) -> Line:
    """Draw the tests of a run against the epsilon of its steps."""
    counts, places = np.unique(steps, return_inverse=True)  # tests may share a step
    curve = ACCOUNTANTS[CERTIFIED].curve(charged, counts.tolist(), DELTA)
    accuracies = np.array([100 * each.accuracy for each in course])
    return Line(name, curve.epsilon[places], accuracies)


def _accuracy_drawings() -> tuple[Drawing, ...]:
    """Return the panels whose runs are all recorded."""
    drawings = []
    for place, data in PANELS.items():
        if all(course_of(data, method) for method in METHODS):
            title = f"Accuracy against epsilon on {data}, delta = 1e-5"
            texts = WORDS["accuracy_figures"]
            lines = partial(accuracy_lines, data)
            drawings.append(Drawing(**texts, place=place, title=title, lines=lines))
    return tuple(drawings)


ID = "001"
PANELS = {"Figure 3 (d)": "MNIST", "Figure 3 (e)": "Fashion-MNIST"}
ENTRIES = tuple(itertools.chain.from_iterable(_entries(name) for name in NAMES))
DRAWN = WORDS["drawings"]
DRAWINGS = (
    Drawing(**DRAWN["figure_3"], lines=_figure_3),
    Drawing(**DRAWN["equation_3"], lines=_equation_3),
    Drawing(**DRAWN["figure_4b"], lines=_figure_4b),
)
ACCURACIES = _accuracy_drawings()
