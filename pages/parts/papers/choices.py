"""Choices of a paper and of verdicts, and the names of its parts in the address."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from dpcore.figures.style import DOUBTFUL, GREY, HOLDS, REFUTED
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import Comparison, Outcome
from dpcore.papers.paper import Paper
from dpcore.privacy.report.glossary import help_on
from pages.parts.controls.widgets import choice_by_title, several

Thing = TypeVar("Thing")
SIGNS = {  # mark and colour of a verdict: neither speaks alone
    Outcome.REPRODUCED: ("✓", HOLDS),
    Outcome.DIFFERS: ("≠", DOUBTFUL),
    Outcome.REFUTED: ("✕", REFUTED),
    Outcome.UNTRAINED: ("–", GREY),
}


def chosen_paper() -> Paper:
    """Draw the choice of a paper."""
    titled = lambda name: f"{name} {PAPERS[name].short}"  # noqa: E731
    return PAPERS[choice_by_title("Paper", tuple(PAPERS), "paper", titled)]


def chosen_outcomes() -> list[str]:
    """Draw the choice of verdicts; without a choice all are shown."""
    options = [each.value for each in Outcome]
    title = lambda each: f"{SIGNS[Outcome(each)][0]} {each}"  # noqa: E731
    chosen = several(st, "Only numbers with these verdicts", options, "verdict", (), title, help_on("outcome"))
    return [*chosen] or options


def badge(outcome: Outcome) -> str:
    """Return a verdict as HTML: its mark and its word on its colour."""
    mark, color = SIGNS[outcome]
    return f'<span class=outcome style="--hue:{color}">{mark}\N{NO-BREAK SPACE}<b>{outcome.value}</b></span>'


def score(found: Sequence[Comparison]) -> str:
    """Return as HTML how many of a paper's numbers have each verdict."""
    counts = Counter(each.outcome for each in found)
    parts = (f"<span class=kept>{badge(each)} {counts[each]}</span>" for each in Outcome if counts[each])
    return f"<p class=promise>{' '.join(parts)}</p>"


def by_name(title: Callable[[Thing], str], things: Sequence[Thing]) -> dict[str, Thing]:
    """Return things by their names in the address: their titles, with a letter where several share one.

    >>> [*by_name(str, ["Figure 5 (1)", "Table 2", "Table 2"])]
    ['figure-5-1', 'table-2-a', 'table-2-b']
    """
    plain = [re.sub("[^a-z0-9]+", "-", title(each).lower()).strip("-") for each in things]
    again = [plain[:place].count(each) for place, each in enumerate(plain)]
    return {
        f"{name}-{chr(ord('a') + count)}" if plain.count(name) > 1 else name: each
        for name, count, each in zip(plain, again, things, strict=True)
    }
