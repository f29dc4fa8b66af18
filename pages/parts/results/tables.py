"""Tables as HTML, with a row for each accountant and its verdict."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from dpcore.figures.style import Style, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import WORDS, marked, outward, short
from dpcore.privacy.report.statement import statement
from dpcore.privacy.report.verdict import SIGNS, Verdict, Worth, lowered, unavailable, verdict
from dpcore.privacy.sampling.base import Poisson
from pages.parts.results import cache
from pages.parts.results.odds import head, term

COLORS = {  # of the signs of verdicts: neither speaks alone
    Worth.SOUND_AND_TIGHT: "#2e9150",
    Worth.LOOSE: "#2b7bd3",
    Worth.CLAIMS_LESS: "#cf4a5a",
    Worth.OUTSIDE: "#c9741a",
    Worth.UNDECIDED: "#808080",
    Worth.NOT_AVAILABLE: "#808080",
}


class VerdictRow(NamedTuple):
    """One line of a table: an accountant, its texts, and what they are worth."""

    accountant: str
    cells: tuple[str, ...]
    kind: Kind
    worth: Worth
    text: str


def verdict_rows(name: str, first: str, heads: Sequence[str], rows: Sequence[VerdictRow]) -> str:
    """An HTML table of this name: the accountant under the head `first`, numbers under `heads`, kind and verdict.

    On a narrow screen each row is a block whose cells carry their heads.
    """
    place = name.lower().replace(" ", "-")
    shown = "".join(f"<th scope=col class=number>{head(each, place)}</th>" for each in heads)
    columns = f"<th scope=col>{head(first, place)}</th>{shown}" + "".join(
        f"<th scope=col>{head(each, place)}</th>" for each in ("Kind", "Verdict")
    )
    body = "".join(_line(row, heads, place) for row in rows)
    return scrolling(name, f"<table class=verdicts><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>")


def scrolling(name: str, table: str) -> str:
    """The table in a box of its own that scrolls sideways, by the keyboard too, where it is too wide for the page.

    No two tables of a page have the same name: it is read out.
    """
    return f'<div class=scrolling tabindex=0 role=region aria-label="{escape(name)}">{table}</div>'


def sign(worth: Worth) -> str:
    """The mark of a verdict, in its colour."""
    return f'<b class=sign style="color:{COLORS[worth]}">{SIGNS[worth]}</b>'


def drawn_line(style: Style) -> str:
    """The line of a chart as HTML: a drawing, which is legible at 3:1, and which is not read out."""
    return f'<span class=line aria-hidden=true data-line="{style.glyph}" style="color:{style.color}"></span>'


def _line(row: VerdictRow, heads: Sequence[str], place: str) -> str:
    style = style_of(row.accountant)
    glyph = drawn_line(style)
    cells = "".join(
        f'<td class=number data-label="{escape(label)}">{escape(cell)}</td>'
        for label, cell in zip(heads, row.cells, strict=True)
    )
    return (
        f"<tr><th scope=row>{glyph} {escape(ACCOUNTANTS[row.accountant].title)}</th>{cells}"
        f"<td data-label=Kind>{term(row.kind, f'{place}-{row.accountant}', WORDS[row.kind])}</td>"
        f"<td class=verdict>{sign(row.worth)} {escape(row.text)}</td></tr>"
    )


HEADS = ("Epsilon", "÷\N{NO-BREAK SPACE}certified")


def verdict_table(curves: Mapping[str, Curve]) -> str:
    """An HTML table with one row an accountant: epsilon, ratio to the certified value, kind, verdict."""
    band = curves[CERTIFIED]
    return verdict_rows("Verdicts", "Accountant", HEADS, [_row(*each, band) for each in curves.items()])


def why_they_differ() -> str:
    """What each accountant makes of the noise."""
    return " ".join(
        ["**Why they differ.** All of them describe the same noise.", *(each.note for each in ACCOUNTANTS.values())]
    )


def epsilon_sentence(band: Curve, after: str, delta: str, *, apart: bool = False) -> str:
    """What is certain after the whole mechanism, in one sentence that begins with its length, `after_training`.

    It says for which adjacency. With `apart` it says first that it is about Poisson batches.
    """
    after = f"{f'**{Poisson.title}**, {Poisson.adjacency}: {lowered(after)}' if apart else after} at delta = {delta}"
    upper, lower = float(band.epsilon[-1]), band.lower
    if lower is None or math.isinf(upper):
        least = f" It is at least {outward(lower[-1], math.floor)}." if lower is not None and lower[-1] > 0 else ""
        return f"{after}, there is no certified epsilon: {lowered(band.note)}{least}"
    low, high = outward(lower[-1], math.floor), outward(upper, math.ceil)
    adjacency = "" if apart else f" ({Poisson.adjacency})"
    return f"{after}, epsilon is certified to lie between **{low}** and **{high}**{adjacency}."


def _judged(curve: Curve, band: Curve) -> Verdict:
    if band.lower is None:  # the certified accountant itself gave up
        return Verdict(Worth.UNDECIDED, "There is no certified value to compare with.", math.nan)
    return verdict(curve, band)


def _row(name: str, curve: Curve, band: Curve) -> VerdictRow:
    judged, value = _judged(curve, band), float(curve.epsilon[-1])
    finite = math.isfinite(value)
    compared = finite and math.isfinite(judged.ratio) and math.isfinite(float(band.epsilon[-1]))
    cells = (marked(value, curve.kind), f"{short(judged.ratio)} ×" if compared else "–")
    text = judged.text if finite else unavailable(curve.note or judged.text)
    return VerdictRow(name, cells, curve.kind, judged.worth, text)


FORMS = ("text", "Markdown")


def card(
    mechanism: Mechanism,
    curve: Curve,
    accountant: str,
    n: float,
    key: str,
    *,
    ends: bool = False,
    seed: int | None = None,
) -> None:
    """An expander, shut at first, that costs nothing until it is opened.

    `curve` is the accountant's, its last point that of the whole mechanism; `n` is the number of training examples;
    `ends` says that the mechanism is not over yet; `seed` is that of a run whose seed is fixed.
    """
    box = st.expander("Privacy statement, to copy", icon=":material/description:", key=key, on_change="rerun")
    if not box.open:
        return
    found = cache.risks(mechanism, float(curve.delta[-1]))
    made = statement(mechanism, curve, ACCOUNTANTS[accountant], found, n, seed)
    with box:
        form = st.segmented_control(
            "Copy as",
            FORMS,
            default=FORMS[0],
            required=True,
            key="statement",
            bind="query-params",
            persist_state="session",
        )
        text = made.text() if form == "text" else made.markdown()
        st.code(text.strip(), language=None, wrap_lines=True)
        when = "This is what holds at the end of the run. " if ends else ""
        st.caption(f"{when}The button in the upper right corner of the box copies it.")
