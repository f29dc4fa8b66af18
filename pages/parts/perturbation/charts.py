"""The charts of a comparison: what keeps its epsilon, and apart from it what does not."""

from collections.abc import Sequence

import streamlit as st

from dpcore.figures.perturbation import perturbation_alt, perturbation_figure
from dpcore.training.perturbation.methods import METHODS
from pages.parts.perturbation.results import Results
from pages.parts.results.exports import chart
from pages.parts.shell.present import chart_size

TITLES = {"accuracy": "Accuracy against epsilon", "gap": "Optimality gap against epsilon"}
APART = (
    "**Drawn apart: not private for this model.** These methods were asked for an epsilon that nothing proves: a "
    "condition of their theorem fails here, or there is none. The table below says which."
)


def charts(found: Results, picked: Sequence[str]) -> None:
    """Accuracy and gap side by side: of the methods that keep their epsilon, then of those that do not."""
    if any(found.spreads("accuracy", kept=True)):
        _pair(found, picked, kept=True)
    if any(found.spreads("accuracy", kept=False)):
        st.markdown(APART)
        _pair(found, picked, kept=False)
    for each in _reasons(found):
        st.warning(each)


def _pair(found: Results, picked: Sequence[str], *, kept: bool) -> None:
    beside = st.container(key="beside" if kept else "fan").columns(2, gap="medium")
    for column, measure in zip(beside, TITLES, strict=True):
        spreads = found.spreads(measure, kept=kept)
        levels = found.levels(measure) if kept else found.levels(measure)[-1:]
        here = [name for name in picked if any(each.method == name for each in spreads)]
        figure = perturbation_figure(
            spreads, measure, levels=levels, kept=kept, picked=here, epsilons=found.request.epsilons, size=chart_size()
        )
        alt = perturbation_alt(spreads, measure, levels=levels, kept=kept)
        title = TITLES[measure] if kept else f"{TITLES[measure]}, not private"
        with column:
            chart(figure, f"{measure}_{'kept' if kept else 'apart'}", alt, title, None)


def _reasons(found: Results) -> list[str]:
    """Why results are missing, each reason once."""
    named: dict[tuple[str, str], list[str]] = {}
    for each in found.skipped:
        named.setdefault((each.method, each.reason), []).append("" if each.epsilon is None else f"{each.epsilon:g}")
    return [f"{METHODS[method].title}{_at(epsilons)}: {reason}" for (method, reason), epsilons in named.items()]


def _at(epsilons: list[str]) -> str:
    return f" at epsilon {', '.join(epsilons)}" if any(epsilons) else ""
