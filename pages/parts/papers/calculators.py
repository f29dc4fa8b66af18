"""A paper's tables of formulas, filled in for numbers of the reader's own."""

from html import escape

import streamlit as st

from dpcore import check
from dpcore.papers import Paper
from dpcore.papers.paper import Calculator
from dpcore.papers.paper import Quantity as Asked
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import Quantity
from pages.parts.controls.widgets import number
from pages.parts.results.tables import scrolling

BESIDE = 2  # fields in a row


def show_calculators(paper: Paper) -> None:
    """Draw each calculator with its fields."""
    for each in paper.calculators:
        st.subheader(f"{each.place}: {each.title}", anchor=False)
        values = _asked(paper, each)
        try:
            st.html(_table(each, values))
        except ValueError as error:
            st.error(str(error))
        if each.note:
            st.caption(each.note)


def _asked(paper: Paper, calculator: Calculator) -> dict[str, float]:
    values = {}
    for first in range(0, len(calculator.asks), BESIDE):  # row by row: on a narrow screen they stay in their order
        beside = calculator.asks[first : first + BESIDE]
        for column, asked in zip(st.columns(BESIDE, gap="medium"), beside, strict=False):
            with column:
                values[asked.name] = number(_quantity(f"{paper.id}_{asked.name}", asked))
    return values


def _quantity(key: str, asked: Asked) -> Quantity:
    accept = lambda value: check.in_range(asked.low, asked.high, **{asked.name: value})  # noqa: E731
    if asked.whole:
        accept = lambda value: check.whole(int(asked.low), int(asked.high), **{asked.name: value})  # noqa: E731
    return Quantity(
        key, asked.label, show(asked.usual), asked.low, asked.high, accept, whole=asked.whole, coarse=True,
        name=asked.name,
    )  # fmt: skip


def _table(calculator: Calculator, values: dict[str, float]) -> str:
    heads = "".join(f"<th scope=col>{escape(each)}</th>" for each in calculator.columns)
    rows = "".join(
        f"<tr><th scope=row>{escape(first)}</th>"
        + "".join(
            f'<td data-label="{escape(head)}">{escape(cell)}</td>'
            for head, cell in zip(calculator.columns[1:], rest, strict=True)
        )
        + "</tr>"
        for first, *rest in calculator.rows(values)
    )
    table = f"<table class='verdicts findings'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return scrolling(calculator.place, table)
