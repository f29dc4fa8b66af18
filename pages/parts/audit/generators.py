"""How far two generators of normal numbers reach: the trainer's own, and torch's, counted while the audit goes on."""

import math
from html import escape

import streamlit as st
from scipy.special import ndtr

from dpcore.audit.bounds.generator import chance_of_none
from dpcore.privacy.report.numbers import outward, short
from pages.parts.audit.audit_results import AuditResults
from pages.parts.results.tables import scrolling

TITLE = "How far normal numbers reach"
HEADS = ("Drawn", "Largest, by size", "Normal ones beyond it, expected", "Chance of none")
TORCH = "torch's float32 on a CPU"
SAID = (
    "The first is the trainer's noise over what is charged, the second what libraries draw noise from by default. "
    "Where far more than none are expected beyond the largest, noise ends where normal noise does not, and a release "
    "beyond that proves who took part, whatever is claimed. The chance of none is the p-value of one test alone."
)


def generators(found: AuditResults) -> None:
    """Draw the table, as far as it is counted; nothing where nobody asked for the count."""
    if found.request.torch_draws and (rows := generator_rows(found)):
        st.html(f"<h2 class=part>{TITLE}</h2>{generators_table(rows)}")
        st.caption(SAID)


def generator_rows(found: AuditResults) -> list[tuple[str, int, float]]:
    """Name, draws, and the largest of them, of each generator."""
    rows, own = [], found.finding("generator")
    figures = dict(own.figures) if own else {}
    if "largest" in figures:
        rows.append(("the trainer's noise", int(figures["draws"]), figures["largest"]))
    if found.counted:
        rows.append((TORCH, found.counted.draws, found.counted.largest))
    return rows


def generators_table(rows: list[tuple[str, int, float]]) -> str:
    """An HTML table of these generators."""
    heads = "".join(f"<th scope=col class=number>{each}</th>" for each in HEADS)
    top = f"<thead><tr><th scope=col>Generator</th>{heads}</tr></thead>"
    body = "".join(_row(*each) for each in rows)
    return scrolling(TITLE, f"<table class='verdicts generators'>{top}<tbody>{body}</tbody></table>")


def _row(name: str, draws: int, largest: float) -> str:
    beyond = 2 * draws * float(ndtr(-largest))
    none = outward(chance_of_none(draws, largest), math.ceil)
    cells = (f"{draws:,}", f"{largest:.3f}", short(beyond), none)
    shown = "".join(
        f'<td class=number data-label="{head}">{cell}</td>' for head, cell in zip(HEADS, cells, strict=True)
    )
    return f"<tr><th scope=row>{escape(name)}</th>{shown}</tr>"
