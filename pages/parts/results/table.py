"""Tables: as HTML, with a row for each accountant and its verdict, and as files."""

import csv
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.report.kinds import WORDS
from dpcore.privacy.report.verdict import Status

MARKS = {  # sign and colour, both: neither speaks alone
    Status.SOUND_AND_TIGHT: ("✓", "#2e9150"),
    Status.LOOSE: ("↕", "#2b7bd3"),
    Status.CLAIMS_LESS: ("✕", "#cf4a5a"),
    Status.OUTSIDE: ("!", "#c9741a"),
    Status.UNDECIDED: ("?", "#808080"),
    Status.NOT_AVAILABLE: ("–", "#808080"),
}
STYLE = """<style>
.verdicts {width: 100%; border-collapse: collapse; font-size: .95rem}
.verdicts th, .verdicts td {padding: .45rem .7rem; text-align: left; border-bottom: 1px solid rgba(128,128,128,.3)}
.verdicts .number {text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap}
.verdicts thead .number {white-space: normal}
.verdicts td.verdict {min-width: 12rem}
.verdicts b.sign {display: inline-block; width: 1.2em}
@media (max-width: 640px) {
  .verdicts thead {display: none}
  .verdicts tr {display: block; padding: .5rem 0; border-bottom: 1px solid rgba(128,128,128,.3)}
  .verdicts td, .verdicts th {display: block; border: 0; padding: .1rem 0}
  .verdicts .number {text-align: left}
  .verdicts td[data-label]::before {content: attr(data-label) ": "; opacity: .8}
}
</style>"""


class Row(NamedTuple):
    """One line of a table: an accountant, its texts, and what they are worth."""

    accountant: str
    cells: tuple[str, ...]
    kind: Kind
    status: Status
    text: str


def verdict_rows(first: str, heads: Sequence[str], rows: Sequence[Row]) -> str:
    """An HTML table: the accountant under the head `first`, a number under each of `heads`, kind and verdict.

    On a narrow screen each row is a block whose cells carry their heads.
    """
    shown = "".join(f"<th scope=col class=number>{escape(head)}</th>" for head in heads)
    head = f"<th scope=col>{escape(first)}</th>{shown}<th scope=col>Kind</th><th scope=col>Verdict</th>"
    body = "".join(_line(row, heads) for row in rows)
    return f"{STYLE}{scrolling(f'<table class=verdicts><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')}"


def scrolling(table: str) -> str:
    """The table in a box of its own that scrolls sideways, by the keyboard too, where it is too wide for the page."""
    return f'<div style="overflow-x: auto" tabindex=0 role=region aria-label="Table">{table}</div>'


def sign(status: Status) -> str:
    """The mark of a verdict, in its colour."""
    mark, color = MARKS[status]
    return f'<b class=sign style="color:{color}">{mark}</b>'


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The rows under their header as CSV.

    >>> csv_text(["q", "note"], [(0.5, "a, b")])
    'q,note\\n0.5,"a, b"\\n'
    """
    out = io.StringIO()
    written = csv.writer(out, lineterminator="\n")
    written.writerow(header)
    written.writerows(rows)
    return out.getvalue()


def _line(row: Row, heads: Sequence[str]) -> str:
    style = style_of(row.accountant)
    glyph = f'<span aria-hidden=true style="color:{style.color}">{style.glyph}</span>'
    cells = "".join(
        f'<td class=number data-label="{escape(head)}">{escape(cell)}</td>'
        for head, cell in zip(heads, row.cells, strict=True)
    )
    return (
        f"<tr><th scope=row>{glyph} {escape(ACCOUNTANTS[row.accountant].title)}</th>{cells}"
        f"<td data-label=Kind>{WORDS[row.kind]}</td>"
        f"<td class=verdict>{sign(row.status)} {escape(row.text)}</td></tr>"
    )
