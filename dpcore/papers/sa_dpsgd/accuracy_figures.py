"""Figure 3 (d) and (e) from recorded runs: accuracy against epsilon, charged soundly and as the paper does."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from dpcore.papers.paper import Drawing, Line
from dpcore.papers.records import OnTheWay, recorded
from dpcore.papers.sa_dpsgd.numbers import DELTA
from dpcore.papers.sa_dpsgd.runs import METHODS, WORDS, run
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.plan import plan

ID = "001"
PANELS = {"Figure 3 (d)": "MNIST", "Figure 3 (e)": "Fashion-MNIST"}
ANNEALED = "SA-DPSGD"


def course_of(title: str, method: str) -> tuple[OnTheWay, ...]:
    """Return the tests on the way of the first recorded run that has them."""
    record = recorded(ID, run(title, method))
    return next((each.course for each in record.runs if each.course), ()) if record else ()


def accuracy_lines(title: str) -> tuple[Line, ...]:
    """Draw accuracy in percent against epsilon of every recorded method, and of the accepted steps alone."""
    lines = []
    for method in METHODS:
        course, charged = course_of(title, method), plan(run(title, method)).mechanism
        if not course or charged is None:
            continue
        lines.append(_line(method, course, [each.step for each in course], charged))
        if method == ANNEALED:
            counted = [each for each in course if each.accepted]
            lines.append(
                _line(f"{method}, accepted steps alone", counted, [each.accepted or 0 for each in counted], charged)
            )
    return tuple(lines)


def _line(name: str, course: Sequence[OnTheWay], steps: Sequence[int], charged: Mechanism) -> Line:
    """Draw the tests of a run against the epsilon of its steps; tests at the same step share an epsilon."""
    counts, places = np.unique(steps, return_inverse=True)
    epsilon = ACCOUNTANTS[CERTIFIED].curve(charged, counts.tolist(), DELTA).epsilon[places]
    return Line(name, epsilon, np.array([100 * each.accuracy for each in course]))


DRAWINGS = tuple(
    Drawing(
        **WORDS["accuracy_figures"],
        place=place,
        title=f"Accuracy against epsilon on {title}, delta = 1e-5",
        lines=partial(accuracy_lines, title),
    )
    for place, title in PANELS.items()
    if all(course_of(title, each) for each in METHODS)
)
