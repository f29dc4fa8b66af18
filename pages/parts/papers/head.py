"""Choice, title and claims of a paper, its calculators, and the gaps of its proofs."""

import re
from html import escape

import streamlit as st

from dpcore import check
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.paper import Calculator, CheckedClaim, Paper
from dpcore.papers.paper import Quantity as Asked
from dpcore.training.settings import Slider
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import Quantity
from pages.parts.controls.widgets import choice_by_title, number
from pages.parts.results.odds import linked
from pages.parts.results.tables import table
from pages.parts.shell import menu

SENTENCE_END = re.compile(r"(?<=\.) +(?=[A-Z])")
BESIDE = 2  # fields in a row
OPEN = 3  # claims that are not folded
# A paper's claims -> what holds, once for all sessions.
_answers: dict[tuple[CheckedClaim, ...], list[str]] = {}


def chosen_paper() -> Paper:
    """Draw the choice of a paper."""
    name = choice_by_title("Paper", tuple(PAPERS), "paper", lambda name: PAPERS[name].short)
    return PAPERS[name]


def show_head(paper: Paper) -> None:
    """Draw the paper's title, source and subject."""
    sources = (escape(paper.authors), linked(paper.published))
    small = f"<small>{', '.join(filter(None, sources))}</small>"
    title = f"<h2>{escape(paper.title)}</h2>"
    st.html(f"<div class=paper-head>{title}{small}<br>{escape(paper.about)}</div>")


def show_claims(paper: Paper, *, now: bool = True) -> None:
    """Draw each claim of the paper with what holds of it.

    Placeholders stand for answers that are unknown and need not be there `now`.
    """
    claims = paper.findings
    if now and claims not in _answers:
        _answers[claims] = [claim.holds() for claim in claims]
    if not claims:
        return
    answers = _answers.get(claims) or ["Being computed …"] * len(claims)
    rows = []
    for claim, holds in zip(claims, answers, strict=True):
        rows.append((linked(claim.claim), _answer(holds)))
    st.subheader("What it claims, and what holds", anchor=False)
    heads = ("It claims", "What holds")
    st.html(table("Findings", "verdicts findings", heads, rows[:OPEN]))
    rest = rows[OPEN:]
    if rest:
        words = "1 more claim" if len(rest) == 1 else f"{len(rest)} more claims"
        box = st.expander(words)
        box.html(table("Further findings", "verdicts findings", heads, rest))


def _answer(holds: str) -> str:
    """What holds as HTML: the first sentence, and the others on a click.

    >>> _answer("No. See Abadi et al. 2016. So it is.")
    '<details><summary>No.</summary>See Abadi et al. 2016. So it is.</details>'
    """
    first, *rest = SENTENCE_END.split(holds, maxsplit=1)
    if not rest:
        return linked(holds)
    return f"<details><summary>{linked(first)}</summary>{linked(rest[0])}</details>"


def show_remarks(paper: Paper) -> None:
    """Draw the gaps of its proofs and the silences of its text, folded."""
    items = [f"<li><b>{escape(each.place)}.</b> {linked(each.text)}</li>" for each in paper.remarks]
    if items:
        box = st.expander(f"What the paper leaves out ({len(items)})")
        box.html(f"<ul class=remarks>{''.join(items)}</ul>")


def show_experiments(paper: Paper) -> None:
    """Draw a link for each comparison of the paper."""
    if not paper.experiments:
        return
    st.subheader("Compare it yourself", anchor=False)
    st.caption("You choose there what the paper does not name, such as steps, step size and delta.")
    for each in paper.experiments:
        asked = each.request
        epsilons = [format(epsilon, "g") for epsilon in asked.epsilons]
        controls = {"table": asked.dataset, "learner": asked.model, "epsilons": epsilons}
        menu.link("pages/perturbation.py", f"{each.place}: {each.title}", controls)


def show_calculators(paper: Paper) -> None:
    """Draw each calculator with its fields."""
    for each in paper.calculators:
        st.subheader(f"{each.place}: {each.title}", anchor=False)
        values = _asked(paper, each)
        try:
            rows = [[*map(escape, row)] for row in each.rows(values)]
            st.html(table(each.place, "verdicts findings", each.columns, rows))
        except ValueError as error:
            st.error(str(error))
        if each.note:
            st.caption(each.note)


def _asked(paper: Paper, calculator: Calculator) -> dict[str, float]:
    values = {}
    # Row by row, which keeps their order on a narrow screen.
    for first in range(0, len(calculator.asks), BESIDE):
        beside = calculator.asks[first : first + BESIDE]
        for column, asked in zip(st.columns(BESIDE, gap="medium"), beside, strict=False):
            with column:
                values[asked.name] = number(_quantity(f"{paper.id}_{asked.name}", asked))
    return values


def _quantity(key: str, asked: Asked) -> Quantity:

    def accept(value: float) -> None:
        if asked.whole:
            check.whole(int(asked.low), int(asked.high), **{asked.name: value})
        else:
            check.in_range(asked.low, asked.high, ends="[]", **{asked.name: value})

    slider = Slider(asked.low, asked.high, coarse=True)
    return Quantity(
        key, asked.label, show(asked.usual), slider, accept, whole=asked.whole, name=asked.name
    )
