"""The numbers of a comparison: mean accuracy by method and epsilon in sight, everything behind and in a file."""

from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpcore.figures.perturbation import method_style
from dpcore.privacy.report.numbers import WORDS, nearest, percent
from dpcore.privacy.types import Kind
from dpcore.training.perturbation.events import Measured
from dpcore.training.perturbation.methods import METHODS
from pages.parts.perturbation.results import Results
from pages.parts.results.exports import Columns, csv_button, numbers_table
from pages.parts.results.tables import drawn_line, scrolling

NOT_KEPT = "✕"


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
    rows = ""
    for name in found.request.methods:
        without = by_place.get((name, None))
        cells = "".join(_cell(without or by_place.get((name, each)), without is None) for each in epsilons)
        rows += f"<tr><th scope=row>{drawn_line(method_style(name))} {escape(METHODS[name].title)}</th>{cells}</tr>"
    head = f"<thead><tr><th scope=col>Method</th>{heads}</tr></thead>"
    return scrolling("Accuracies", f"<table class=measures>{head}<tbody>{rows}</tbody></table>")


def _cell(measured: Measured | None, marks: bool) -> str:
    if measured is None:
        return "<td class=number>–</td>"
    mean = percent(float(np.mean(measured.accuracies)), gap="").removesuffix("%")
    mark = f" {NOT_KEPT}" if marks and not measured.private else ""
    return f"<td class=number>{mean}{mark}</td>"


def columns(found: Results) -> Columns:
    """One row for each method and epsilon: what kind of number epsilon is, the noise, and both measures over seeds."""
    table: dict[str, list[Any]] = {}
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
        for name, value in row.items():
            table.setdefault(name, []).append(value)
    return table


def _kind(measured: Measured) -> str:
    if measured.epsilon is None:
        return "none"
    return WORDS[Kind.UPPER] if measured.private else "asked for, not kept"


def _summary(name: str, values: tuple[float, ...]) -> dict[str, float]:
    return {f"{name}, mean": float(np.mean(values)), f"{name}, least": min(values), f"{name}, most": max(values)}
