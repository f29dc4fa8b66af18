"""The tables of an audit: what each audit tests, leaves untested and found, and how far normal numbers reach."""

import math
from html import escape

import streamlit as st
from scipy.special import ndtr

from dpcore.audit.bounds.generator import chance_of_none
from dpcore.audit.events import Measured
from dpcore.figures.style import GREY, HOLDS, REFUTED
from dpcore.privacy.report.numbers import outward, short
from pages.parts.audit.audit_results import AuditResults, is_estimate
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.tables import head_cells, row_cells, table

SMALLEST_P = 1e-300  # below it a p-value of a finite sample is a rounding
HEADS = ("Result", "p-value", "Epsilon at least", "What it tests", "What it leaves untested")
FAILS, PASSES, UNTOLD, WAITING = "fails", "passes", "cannot tell", "waits for the others"
SIGNS = {FAILS: ("✕", REFUTED), PASSES: ("✓", HOLDS), UNTOLD: ("?", GREY), WAITING: ("…", GREY)}
TITLE = "What each audit found"
REACH_TITLE = "How far normal numbers reach"

REACH_HEADS = ("Drawn", "Largest, by size", "Normal ones beyond it, expected", "Chance of none")
TORCH_NAME = "torch's float32 on a CPU"
REACH = (
    "The first is the trainer's noise over what is charged, the second what libraries draw noise from by default. "
    "Where far more than none are expected beyond the largest, noise ends where normal noise does not, and a release "
    "beyond that proves who took part, whatever is claimed. The chance of none is the p-value of one test alone."
)


def findings(found: AuditResults) -> None:
    """Draw the table; once all is there, as a file too."""
    heads = f"<th scope=col>Audit</th>{head_cells(HEADS, 'audits')}"
    made = table(TITLE, "verdicts audits", heads, (_row(found, each) for each in found.measured))
    st.html(f"<h2 class=part>{TITLE}</h2>{made}")
    if found.judged:
        csv_button("Download the audit (CSV)", lambda: columns(found), f"audit-{found.run.id}.csv", "download_audit")


def result_of(found: AuditResults, each: Measured) -> str:
    """What an audit came to, in a word or two."""
    if each.p_value is None:
        return UNTOLD
    if found.judged is None:
        return WAITING
    return FAILS if each.audit in found.failed else PASSES


def epsilon_text(each: Measured) -> str:
    """What an audit shows of epsilon, and what kind of number that is."""
    if each.unbounded:
        return f"infinite ({each.evidence})"
    if each.epsilon is None:
        return "–"
    number = f"≈ {short(each.epsilon)}" if is_estimate(each) else outward(each.epsilon, math.floor)
    return f"{number} ({each.evidence})"


def _row(found: AuditResults, each: Measured) -> str:
    result = result_of(found, each)
    mark, color = SIGNS[result]
    sign = f'<b class=sign style="color:{color}" aria-hidden=true>{mark}</b> {result}'
    p_value = found.p_values.get(each.audit, each.p_value)  # corrected for the number of audits where all are known
    shown = "–" if p_value is None else outward(p_value, math.ceil) if p_value > SMALLEST_P else f"< {SMALLEST_P:g}"
    plain = (shown, epsilon_text(each), each.tests, each.untested)
    title = f"<th scope=row>{escape(each.title)}<small>{escape(each.shows)}</small></th>"
    return f"<tr>{title}<td data-label=Result>{sign}</td>{row_cells(HEADS[1:], plain)}</tr>"


def columns(found: AuditResults) -> Columns:
    """A row for each audit, as a file."""
    rows = found.measured
    return {
        "audit": [each.title for each in rows],
        "result": [result_of(found, each) for each in rows],
        "p-value": [each.p_value for each in rows],
        "p-value, corrected": [found.p_values.get(each.audit) for each in rows],
        "epsilon at least": [math.inf if each.unbounded else each.epsilon for each in rows],
        "evidence": [each.evidence for each in rows],
        "shows": [each.shows for each in rows],
        "tests": [each.tests for each in rows],
        "leaves untested": [each.untested for each in rows],
    }


def generators(found: AuditResults) -> None:
    """Draw how far the trainer's normal numbers and torch's reach, as far as it is counted while the audit goes on.

    Nothing where nobody asked for the count.
    """
    rows, own = [], found.finding("generator")
    figures = dict(own.figures) if own else {}
    if "largest" in figures:
        rows.append(_generator_row("the trainer's noise", int(figures["draws"]), figures["largest"]))
    if found.counted:
        rows.append(_generator_row(TORCH_NAME, found.counted.draws, found.counted.largest))
    if found.request.torch_draws and rows:
        heads = "".join(f"<th scope=col class=number>{each}</th>" for each in REACH_HEADS)
        made = table(REACH_TITLE, "verdicts generators", f"<th scope=col>Generator</th>{heads}", rows)
        st.html(f"<h2 class=part>{REACH_TITLE}</h2>{made}")
        st.caption(REACH)


def _generator_row(name: str, draws: int, largest: float) -> str:
    beyond = 2 * draws * float(ndtr(-largest))
    none = outward(chance_of_none(draws, largest), math.ceil)
    cells = (f"{draws:,}", f"{largest:.3f}", short(beyond), none)
    return f"<tr><th scope=row>{escape(name)}</th>{row_cells(REACH_HEADS, cells, number=True)}</tr>"
