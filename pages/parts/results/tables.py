"""Tables as HTML, most with a row for each accountant and its verdict; and images."""

import math
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpcore.figures.style import Style, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.html_table import html_table
from dpcore.privacy.report.numbers import WORDS, marked, outward, short
from dpcore.privacy.report.statement import statement
from dpcore.privacy.report.verdict import Verdict, Worth, lowered, unavailable, verdict
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.followed.words import as_told
from dpcore.runs.record import Run
from pages.parts.controls.widgets import BOUND
from pages.parts.results import cache
from pages.parts.results.odds import head, sign, term

HEADS = ("Epsilon", "÷\N{NO-BREAK SPACE}certified")
FORMS = ("text", "Markdown")  # of a statement
PIXELS = 56  # of an image's width


class VerdictRow(NamedTuple):
    """One row of a table: an accountant, its texts, and its verdict."""

    accountant: str
    cells: tuple[str, ...]
    kind: Kind
    worth: Worth
    text: str


def verdict_rows(name: str, first: str, heads: Sequence[str], rows: Sequence[VerdictRow]) -> str:
    """An HTML table: accountants under the head `first`, numbers under `heads`, kind, verdict."""
    lines = []
    for row in rows:
        title = escape(ACCOUNTANTS[row.accountant].title)
        line = [
            f"{drawn_line(style_of(row.accountant))} {title}",
            *map(escape, row.cells),
            term(row.kind, f"{place_of(name)}-{row.accountant}", WORDS[row.kind]),
            f"{sign(row.worth)} {escape(row.text)}",
        ]
        lines.append(line)
    return table(name, "verdicts", (first, *heads, "Kind", "Verdict"), lines, heads)


def table(
    name: str,
    kind: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[str] = (),
    words: Mapping[str, str] = {},
) -> str:
    """An HTML table of a kind in the style sheet, in a box that scrolls, by the keyboard too.

    No two tables of a page have the same name: it is read out. The glossary explains the heads by
    its entries for them or by those that `words` names; for the rest see `html_table`.
    """
    place = place_of(name)
    explained = {text: head(text, place) for text in heads}
    for text, word in words.items():
        explained[text] = term(word, place, text)
    made = html_table(heads, rows, kind=kind, numbers=numbers, explained=explained)
    return f'<div class=scrolling tabindex=0 role=region aria-label="{escape(name)}">{made}</div>'


def place_of(name: str) -> str:
    """The place of a table's words on the page."""
    return name.lower().replace(" ", "-")


def image(shades: np.ndarray, alt: str, caption: str = "") -> str:
    """A figure of bytes as HTML: grey (h, w), or grey and opacity (h, w, 2)."""
    size = f"width={PIXELS} height={PIXELS * shades.shape[0] // shades.shape[1]}"
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><img src="{image_source(shades)}" {size} alt="{escape(alt)}">{note}</figure>'


def image_source(shades: np.ndarray) -> str:
    """An image of bytes as an address that holds it: as for `image`, or colours (h, w, 3)."""
    from PIL import Image  # here, not above: few pages draw one

    file = BytesIO()
    Image.fromarray(shades).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


def drawn_line(style: Style) -> str:
    """A piece of the line of a chart as HTML, which a screen reader skips."""
    return (
        f'<span class=line aria-hidden=true data-line="{style.glyph}"'
        f' style="color:{style.color}"></span>'
    )


def verdict_table(curves: Mapping[str, Curve]) -> str:
    """An HTML table of accountants: epsilon, ratio to the certified value, kind, verdict."""
    band = curves[CERTIFIED]
    rows = [_row(name, curve, band) for name, curve in curves.items()]
    return verdict_rows("Verdicts", "Accountant", HEADS, rows)


def epsilon_sentence(band: Curve, delta: str, *, apart: bool = False) -> str:
    """The proven range of epsilon after the whole mechanism, and the adjacency, in a sentence.

    With `apart` the sentence begins with the sampler, Poisson batches.
    """
    of = f"**{Poisson.title}**, {Poisson.adjacency}: " if apart else ""
    upper = float(band.epsilon[-1])
    lower = band.lower
    if lower is None or math.isinf(upper):
        words = f"{of}There is no certified epsilon at delta = {delta}: {lowered(band.note)}"
        if lower is not None and lower[-1] > 0:
            words += f" It is at least {outward(lower[-1], math.floor)}."
        return words
    low = outward(lower[-1], math.floor)
    high = outward(upper, math.ceil)
    adjacency = "" if apart else f" ({Poisson.adjacency})"
    return (
        f"{of}Proven: after all steps, epsilon is **{low}** to **{high}** at delta ="
        f" {delta}{adjacency}."
    )


def _row(name: str, curve: Curve, band: Curve) -> VerdictRow:
    nothing = Verdict(Worth.UNDECIDED, "There is no certified value to compare with.", math.nan)
    judged = nothing if band.lower is None else verdict(curve, band)
    value = float(curve.epsilon[-1])
    finite = math.isfinite(value)
    compared = finite and math.isfinite(judged.ratio) and math.isfinite(float(band.epsilon[-1]))
    cells = (
        marked(value, curve.kind, curve.last.lower),
        f"{short(judged.ratio)} ×" if compared else "–",
    )
    text = judged.text if finite or curve is band else unavailable(curve.note or judged.text)
    return VerdictRow(name, cells, curve.kind, judged.worth, text)


def card(
    mechanism: Mechanism,
    curve: Curve,
    accountant: str,
    n: float,
    *,
    ends: bool = False,
    seed: int | None = None,
    followed: Run | None = None,
) -> None:
    """Draw the privacy statement in an expander, which costs nothing while it is closed.

    The `curve` of the accountant ends with the whole mechanism; `n` is the number of training
    examples; a run that still goes on `ends` later; `seed` belongs to a run with a fixed seed. A
    `followed` run's settings are those that its program told.
    """
    icon = ":material/description:"
    box = st.expander(
        "Privacy statement, to copy", icon=icon, key="statement_card", on_change="rerun"
    )
    if not box.open:
        return
    found = cache.risks(mechanism, float(curve.delta[-1]))
    made = statement(mechanism, curve, ACCOUNTANTS[accountant], found, n, seed)
    if followed:
        made = as_told(made, followed)
    with box:
        form = st.segmented_control(
            "Copy as", FORMS, default=FORMS[0], required=True, key="statement", **BOUND
        )
        text = made.text() if form == "text" else made.markdown()
        st.code(text.strip(), language=None, wrap_lines=True)
        when = "This is what holds at the end of the run. " if ends else ""
        st.caption(f"{when}The button in the upper right corner of the box copies it.")
