"""Tables as HTML, with a row for each accountant and its verdict."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from dpcore.figures.style import Style, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.report.numbers import WORDS
from dpcore.privacy.report.verdict import SIGNS, Worth
from pages.parts.explain.terms import head, term

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
