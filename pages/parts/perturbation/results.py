"""What a comparison has found so far, from its events."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from dpcore.figures.perturbation import Level, Spread, method_style
from dpcore.figures.style import GREY
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import WORDS, nearest, percent
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.perturbation.events import Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.request import Request
from pages.parts.jobs import all_of, last_of, scaled_seconds
from pages.parts.results.exports import Columns, csv_button, numbers_table
from pages.parts.results.tables import drawn_line, table

NOT_KEPT = "✕"
BLIND = method_style(next(iter(METHODS)))._replace(color=GREY, dash="dot", glyph="···", label="Blind guess")


@dataclass(frozen=True)
class Results:
    """A comparison: what was asked for, and what was found until now."""

    run: Run
    request: Request
    prepared: Prepared | None = None
    measured: tuple[Measured, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    seconds: float | None = None

    @property
    def done(self) -> int:
        """Results that there are."""
        return len(self.measured) + len(self.skipped)

    def of(self, method: str, *, kept: bool) -> list[Measured]:
        """A method's results by rising epsilon, of those that are kept, or that are not."""
        own = [each for each in self.measured if each.method == method and each.private == kept and each.epsilon]
        return sorted(own, key=lambda each: each.epsilon or 0)

    def spreads(self, measure: str, *, kept: bool) -> list[Spread]:
        """A line for each method that has such results; `measure` is "accuracy" or "gap"."""
        return [
            Spread(method, [each.epsilon or 0 for each in own],
                   [each.accuracies if measure == "accuracy" else each.gaps for each in own])
            for method in self.request.methods
            if (own := self.of(method, kept=kept))
        ]  # fmt: skip

    def levels(self, measure: str) -> list[Level]:
        """The accuracy without noise, where that was asked for, and of blind guessing."""
        if measure != "accuracy" or self.prepared is None:
            return []
        without = [
            Level(method_style(each.method), float(np.mean(each.accuracies)))
            for each in self.measured
            if each.epsilon is None
        ]
        return [*without, Level(BLIND, self.prepared.majority)]


def results(store: Store, run: Run) -> Results:
    """What the store has of a comparison; ValueError where this version does not know what was asked for."""
    events = [event for _, event in store.tail(run.id)]
    seconds = getattr(last_of(events, Finished), "seconds", None)
    found = last_of(events, Prepared), all_of(events, Measured), all_of(events, Skipped)
    return Results(run, run.request, *found, seconds)


def results_of(request: Request) -> int:
    """How many results a comparison has in the end."""
    return sum(len(request.epsilons) if METHODS[name].takes_epsilon else 1 for name in request.methods)


def work_of(request: Request) -> int:
    """What its time grows with, where data and model stay: fits, and steps of each."""
    return results_of(request) * request.seeds * request.steps


def expected_seconds(request: Request, past: Sequence[Run]) -> float | None:
    """By the latest comparison with these data and this model that has finished here; None where there is none."""
    return scaled_seconds(past, request, lambda run: work_of(request) / work_of(run.request))


def numbers(found: Results) -> None:
    """Mean accuracies as a table; every number behind it, and as CSV."""
    st.html(accuracy_table(found))
    st.caption(
        f"Test accuracy, measured: mean over seeds, in percent. {NOT_KEPT}: the method does not keep this epsilon. "
        "Each fit spends its epsilon anew; accuracies and gaps are exact figures of the data, which no epsilon covers."
    )
    numbers_table("All numbers of the comparison", "comparison_numbers", lambda: columns(found))
    csv_button("Download the comparison (CSV)", lambda: columns(found), f"perturbation-{found.run.id}.csv", "download")


def accuracy_table(found: Results) -> str:
    """An HTML table: a row for each method, a column for each epsilon."""
    epsilons = sorted(found.request.epsilons)
    heads = "".join(f"<th scope=col class=number>ε = {each:g}</th>" for each in epsilons)
    by_place = {(each.method, each.epsilon): each for each in found.measured}
    rows = []
    for name in found.request.methods:
        without = by_place.get((name, None))
        cells = "".join(_cell(without or by_place.get((name, each)), without is None) for each in epsilons)
        title = f"{drawn_line(method_style(name))} {escape(METHODS[name].title)}"
        rows.append(f"<tr><th scope=row>{title}</th>{cells}</tr>")
    return table("Accuracies", "measures", f"<th scope=col>Method</th>{heads}", rows)


def _cell(measured: Measured | None, marks: bool) -> str:
    if measured is None:
        return "<td class=number>–</td>"
    mean = percent(float(np.mean(measured.accuracies)), gap="").removesuffix("%")
    mark = f" {NOT_KEPT}" if marks and not measured.private else ""
    return f"<td class=number>{mean}{mark}</td>"


def columns(found: Results) -> Columns:
    """One row for each method and epsilon: what kind of number epsilon is, the noise, and both measures over seeds."""
    rows = found.measured
    return {
        "method": [METHODS[each.method].title for each in rows],
        "epsilon": [each.epsilon for each in rows],
        "epsilon is": [_kind(each) for each in rows],
        "noise": [float(nearest(each.noise)) for each in rows],
        "seeds": [len(each.accuracies) for each in rows],
        **_summary("accuracy", [each.accuracies for each in rows]),
        **_summary("gap", [each.gaps for each in rows]),
        "not private because": [" ".join(each.obstacles) for each in rows],
    }


def _kind(measured: Measured) -> str:
    if measured.epsilon is None:
        return "none"
    return WORDS[Kind.UPPER] if measured.private else "asked for, not kept"


def _summary(name: str, rows: list[tuple[float, ...]]) -> dict[str, list[float]]:
    means = [float(np.mean(each)) for each in rows]
    return {f"{name}, mean": means, f"{name}, least": list(map(min, rows)), f"{name}, most": list(map(max, rows))}
