"""Foreign runs recounted by the certified accountant, and the price of choosing the best."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dpcore.claims.review import compared
from dpcore.claims.setup import Bounds
from dpcore.privacy.mechanism import Reading, Release
from dpcore.privacy.report.numbers import finite, outward, percent
from dpcore.runs.followed.budget import reading_of
from dpcore.runs.foreign.runs import ForeignRun, Found, LeftOut

ASSUMED = (
    "The values are as told, not observed. Epsilon holds if each step drew each example by itself"
    " at that rate, clipped its gradient, and drew that noise."
)

CHOSEN_BEFORE = (
    "That holds if no sigma, q or number of steps was chosen by the results of earlier runs, as in"
    " a grid or a random search."
)


class Recounted(NamedTuple):
    """A run, its certified epsilon, and the standing of the epsilon that was told."""

    run: ForeignRun
    reading: Reading
    standing: str  # as `dpcore.claims.verdict.Standing`; empty where nothing was told


class Price(NamedTuple):
    """The cost of choosing among runs."""

    reading: Reading  # of all of them together
    delta: float
    best: ForeignRun | None  # by accuracy; None where no accuracy was told


def recounted(run: ForeignRun) -> Recounted:
    """Count a run by the certified accountant, and compare what was told."""
    reading = reading_of((run.release,), run.request.delta)
    if run.epsilon is None:
        return Recounted(run, reading, "")
    bounds = Bounds(reading.lower or 0.0, reading.value, reading.kind, reading.note)
    standing, _ = compared(run.epsilon, bounds)
    return Recounted(run, reading, standing)


def price_of(runs: Sequence[ForeignRun]) -> Price:
    """The price of choosing the best of the runs: all of them together, at the smallest delta.

    **Guarantees:** whichever run is released, by whatever it is chosen, its epsilon is at most
    this, if sigma, q and steps of no run followed from the results of others. Source:
    dpcore/privacy/selection/README.md, Theorem 1.
    """
    releases: list[Release] = [run.release for run in runs]
    delta = min(run.request.delta for run in runs)
    tested = [run for run in runs if run.accuracy is not None]
    best = max(tested, key=lambda run: run.accuracy or 0.0, default=None)
    return Price(reading_of(releases, delta), delta, best)


def price_in_words(price: Price, found: Found) -> str:
    """The price of the best run in a few sentences."""
    said = []
    if price.best is not None:
        accuracy = percent(price.best.accuracy or 0.0)
        alone = recounted(price.best).reading
        said.append(f"Best: {named(price.best)}, accuracy {accuracy}; alone, epsilon {alone}.")
    if len(found.runs) > 1:
        said.append(_cost(price, len(found.runs)))
    else:
        said.append("It is the only run that could be counted.")
    if len({run.release for run in found.runs}) > 1:
        said.append(CHOSEN_BEFORE)
    if found.left_out:
        said.append(
            "Rows that were left out are not in this: if they trained on the data, choosing costs"
            " more."
        )
    return " ".join(said)


def _cost(price: Price, count: int) -> str:
    """The cost of releasing the best of several runs."""
    cost = price.reading
    if math.isinf(cost.value):
        return (
            f"Released as the best of {count} runs, it has no proven epsilon. {cost.note}".strip()
        )
    most = outward(cost.value, math.ceil)
    return (
        f"Released as the best of {count} runs, it costs epsilon of at most {most} at delta"
        f" {price.delta:g}, since all {count} used the data."
    )


def named(row: ForeignRun | LeftOut) -> str:
    """A row by its number and its own name."""
    return f"row {row.place} ({row.label})" if row.label else f"row {row.place}"


def as_object(ids: Sequence[str], found: Found) -> dict[str, Any]:
    """All that was found, for JSON."""
    runs = []
    for run, each in zip(ids, map(recounted, found.runs), strict=True):
        epsilon = [each.reading.lower or 0.0, each.reading.value]
        told = each.run.epsilon
        runs.append(
            {
                "id": run,
                "row": each.run.place,
                "name": each.run.label,
                **each.run.request.to_json(),
                "steps": each.run.release.count,
                "accuracy": each.run.accuracy,
                "told_epsilon": None if told is None else told.value,
                "certified_epsilon": epsilon,
                "kind": str(each.reading.kind),
                "standing": each.standing or None,
            }
        )
    price = price_of(found.runs)
    best = None
    if price.best is not None:
        best = ids[found.runs.index(price.best)]
    whole = {
        "runs": runs,
        "left_out": [each._asdict() for each in found.left_out],
        "remarks": [each._asdict() for each in found.remarks],
        "best": best,
        "epsilon_of_choosing": price.reading.value,
        "delta": price.delta,
        "said": price_in_words(price, found),
    }
    return finite(whole)
