"""The choices of a paper and of verdicts, and the names of its parts in the address."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from dpcore.figures.style import DOUBTFUL, GREY, HOLDS, REFUTED
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import Outcome
from dpcore.papers.paper import Paper
from dpcore.privacy.report.glossary import help_on
from pages.parts.controls.widgets import choice_by_title, several

Thing = TypeVar("Thing")
SIGNS = {  # of an outcome, with its colour: neither speaks alone
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
    """Draw the choice of verdicts: all of them unless some are chosen."""
    options = [each.value for each in Outcome]
    title = lambda each: f"{SIGNS[Outcome(each)][0]} {each}"  # noqa: E731
    chosen = several(st, "Only numbers with these verdicts", options, "verdict", (), title, help_on("outcome"))
    return [*chosen] or options


def sign(outcome: Outcome) -> str:
    """The mark of an outcome, in its colour."""
    mark, color = SIGNS[outcome]
    return f'<b class=sign style="color:{color}">{mark}</b>'


def by_name(title: Callable[[Thing], str], things: Sequence[Thing]) -> dict[str, Thing]:
    """Things by what the address calls them: their title, with a letter where several have the same.

    >>> [*by_name(str, ["Figure 5 (1)", "Table 2", "Table 2"])]
    ['figure-5-1', 'table-2-a', 'table-2-b']
    """
    plain = [re.sub("[^a-z0-9]+", "-", title(each).lower()).strip("-") for each in things]
    again = [plain[:place].count(each) for place, each in enumerate(plain)]
    return {
        f"{name}-{chr(ord('a') + count)}" if plain.count(name) > 1 else name: each
        for name, count, each in zip(plain, again, things, strict=True)
    }
