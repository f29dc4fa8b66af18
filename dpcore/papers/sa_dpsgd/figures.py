"""Figures 3 and 4b and equation (3) of paper 001, drawn again."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dpcore.papers.paper import Drawing, Line, Lines
from dpcore.papers.records import OnTheWay, recorded
from dpcore.papers.sa_dpsgd.rows import (
    ANNEALED,
    BUDGET,
    DATA,
    DELTA,
    METHODS,
    WORDS,
    acceptance,
    affordable,
    run,
    setting,
    theorem_1,
    whole_epochs,
)
from dpcore.papers.words import drawing
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.plan import plan

ID = "001"
PANELS = {"d": "MNIST", "e": "Fashion-MNIST"}  # of Figure 3
# For Figure 4b, whose own values are only in the image.
BATCHES = np.array([64, 128, 256, 512, 1024, 2048])


def _figure_3() -> Lines:
    column = setting("MNIST")
    tau = whole_epochs("MNIST")
    limit = DATA["MNIST"]["limit"]
    steps = np.arange(1, 41) * (tau // 40)  # (40,)
    x = steps.astype(np.float64)
    by_theorem = [theorem_1(column.q, column.sigma, each) for each in x.tolist()]
    lines = [Line("Accepted steps, by Theorem 1", x, np.array(by_theorem))]
    # Proposals to each accepted step, and how many of them are rejected, fixed beforehand.
    for proposals, rejected in ((1, "none"), (2, "half"), (limit + 1, f"{limit} of {limit + 1}")):
        charged = column.after(proposals * tau)
        curve = ACCOUNTANTS[CERTIFIED].curve(charged, proposals * steps, DELTA)
        lines.append(Line(f"Certified, {rejected} rejected", x, curve.epsilon, CERTIFIED))
    return lines


def _equation_3() -> Lines:
    rise = np.geomspace(1e-7, 1e-4, 121)
    counts = (1, 100, 1000, whole_epochs("MNIST"))
    return [Line(f"after {tau:,} accepted steps", rise, acceptance(rise, tau)) for tau in counts]


def _figure_4b() -> Lines:
    column = setting("MNIST")
    epochs = []
    for batch in BATCHES.tolist():
        q = batch / column.n
        epochs.append(affordable(q, column.sigma, BUDGET) * batch / column.n)
    return [Line("epochs for epsilon 3", BATCHES.astype(np.float64), np.array(epochs))]


def course_of(title: str, method: str) -> tuple[OnTheWay, ...]:
    """Return the tests on the way of the first recorded run that has them."""
    record = recorded(ID, run(title, method))
    runs = record.runs if record else ()
    return next((each.course for each in runs if each.course), ())


def accuracy_lines(title: str) -> Lines:
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
    return lines


def _accuracy_line(
    name: str, course: Sequence[OnTheWay], steps: Sequence[int], charged: Mechanism
) -> Line:
    """Draw the tests of a run against the epsilon of its steps."""
    counts, places = np.unique(steps, return_inverse=True)  # tests may share a step
    curve = ACCOUNTANTS[CERTIFIED].curve(charged, counts.tolist(), DELTA)
    accuracies = np.array([100 * each.accuracy for each in course])
    return Line(name, curve.epsilon[places], accuracies)


def _drawings() -> Iterator[Drawing]:
    """Yield the figures, and of Figure 3 the panels of accuracies whose runs are all recorded."""
    texts = WORDS["drawings"]
    yield drawing(texts["figure_3"], _figure_3)
    yield drawing(texts["equation_3"], _equation_3)
    yield drawing(texts["figure_4b"], _figure_4b)
    for panel, title in PANELS.items():
        if all(course_of(title, method) for method in METHODS):
            lines = partial(accuracy_lines, title)
            yield drawing(texts["accuracies"], lines, {"panel": panel, "data": title})


DRAWINGS = tuple(_drawings())
