"""Results of a comparison, from its events."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from dpcore.figures.perturbation import Level, Spread, method_style
from dpcore.figures.style import GREY
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import WORDS, nearest, percent
from dpcore.runs.history import all_of, last_of
from dpcore.runs.kinds import PERTURBATION, event_from_json
from dpcore.runs.record import Run, Status
from dpcore.training import perturbation
from dpcore.training.perturbation.events import Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.request import Request
from pages.parts.perturbation.conditions import TEXTS
from pages.parts.results.exports import Rows, csv_button, numbers_table
from pages.parts.results.tables import drawn_line, table
from pages.parts.shown_job import request_of

EXAMPLE = Path(perturbation.__file__).with_name("example.json")
NOT_KEPT = "✕"
BLIND = method_style(next(iter(METHODS)))._replace(
    color=GREY, dash="dot", glyph="···", label="Blind guess"
)


@dataclass(frozen=True)
class Results:
    """A comparison: its request and the results until now, read from its events."""

    run: Run | None  # None: the example
    request: Request
    events: Sequence[object]

    @cached_property
    def prepared(self) -> Prepared | None:
        return last_of(self.events, Prepared)

    @cached_property
    def measured(self) -> Sequence[Measured]:
        return all_of(self.events, Measured)

    @cached_property
    def skipped(self) -> Sequence[Skipped]:
        return all_of(self.events, Skipped)

    @cached_property
    def finished(self) -> Finished | None:
        return last_of(self.events, Finished)

    @property
    def done(self) -> int:
        """The number of results."""
        return len(self.measured) + len(self.skipped)

    def of(self, method: str, *, kept: bool) -> list[Measured]:
        """Return a method's results by rising epsilon, those that keep it or those that do not."""
        own = []
        for each in self.measured:
            at_an_epsilon = each.epsilon and each.private == kept
            if each.method == method and at_an_epsilon:
                own.append(each)
        return sorted(own, key=lambda each: each.epsilon or 0)

    def spreads(self, measure: str, *, kept: bool) -> list[Spread]:
        """Return a line for each method that has such results; `measure` is "accuracy" or "gap"."""
        spreads = []
        for method in self.request.methods:
            epsilons = []
            values = []
            for each in self.of(method, kept=kept):
                epsilons.append(each.epsilon or 0)
                values.append(each.accuracies if measure == "accuracy" else each.gaps)
            if epsilons:
                spreads.append(Spread(method, epsilons, values))
        return spreads

    def levels(self, measure: str) -> list[Level]:
        """Return the accuracies without noise, if measured, and of blind guessing."""
        if measure != "accuracy" or self.prepared is None:
            return []
        levels = []
        for each in self.measured:
            if each.epsilon is None:
                mean = float(np.mean(each.accuracies))
                levels.append(Level(method_style(each.method), mean))
        return [*levels, Level(BLIND, self.prepared.majority)]


@lru_cache(maxsize=1)
def example() -> Results:
    """Read the comparison that ships with the package: the default settings, measured once."""
    events = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return Results(None, Request(), [event_from_json(PERTURBATION.name, each) for each in events])


def finished(past: Sequence[Run], request: Request | None) -> Run | None:
    """Return the newest finished comparison of these settings, if there is one."""
    if request is None:
        return None
    for run in past:
        if run.status is Status.FINISHED and request_of(run) == request:
            return run
    return None


def numbers(found: Results) -> None:
    """Draw mean accuracies as a table; all numbers folded, and as CSV."""
    st.html(accuracy_table(found))
    st.caption(TEXTS["accuracies"].format(not_kept=NOT_KEPT))
    numbers_table("All numbers of the comparison", "comparison_numbers", lambda: file_rows(found))
    file = f"perturbation-{found.run.id if found.run else 'example'}.csv"
    csv_button("Download the comparison (CSV)", lambda: file_rows(found), file, "download")


def accuracy_table(found: Results) -> str:
    """Return an HTML table with a row for each method and a column for each epsilon."""
    epsilons = sorted(found.request.epsilons)
    heads = ["Method", *map("ε = {:g}".format, epsilons)]
    by_place = {(each.method, each.epsilon): each for each in found.measured}
    rows = []
    for name in found.request.methods:
        without = by_place.get((name, None))  # a method without noise: the same at each epsilon
        row = [f"{drawn_line(method_style(name))} {escape(METHODS[name].title)}"]
        for epsilon in epsilons:
            measured = without or by_place.get((name, epsilon))
            row.append(_cell(measured, marks=without is None))
        rows.append(row)
    return table("Accuracies", "measures", heads, rows)


def _cell(measured: Measured | None, *, marks: bool) -> str:
    if measured is None:
        return "–"
    mean = percent(float(np.mean(measured.accuracies)), gap="").removesuffix("%")
    if marks and not measured.private:
        return f"{mean} {NOT_KEPT}"
    return mean


def file_rows(found: Results) -> Rows:
    """Return a row for each method and epsilon, with the noise and both measures over seeds."""
    rows = []
    for each in found.measured:
        row = {
            "method": METHODS[each.method].title,
            "epsilon": each.epsilon,
            "epsilon is": _kind(each),
            "noise": float(nearest(each.noise)),
            "seeds": len(each.accuracies),
            **_summary("accuracy", each.accuracies),
            **_summary("gap", each.gaps),
            "not private because": " ".join(each.obstacles),
        }
        rows.append(row)
    return rows


def _kind(measured: Measured) -> str:
    if measured.epsilon is None:
        return "none"
    return WORDS[Kind.UPPER] if measured.private else "requested, not proven"


def _summary(name: str, over: tuple[float, ...]) -> dict[str, float]:
    return {
        f"{name}, mean": float(np.mean(over)),
        f"{name}, least": min(over),
        f"{name}, most": max(over),
    }
