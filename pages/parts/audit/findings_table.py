"""The tables of an audit: what each audit tests, leaves untested and found, and how far normal numbers reach."""

import math
from html import escape
from typing import Any

import streamlit as st
from scipy.special import ndtr

from dpcore.audit.bounds.generator import chance_of_none
from dpcore.audit.events import Measured
from dpcore.privacy.report.numbers import outward, short
from pages.parts.audit.audit_results import AuditResults, is_estimate
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.odds import head
from pages.parts.results.tables import scrolling

HEADS = ("Result", "p-value", "Epsilon at least", "What it tests", "What it leaves untested")
FAILS, PASSES, UNTOLD, WAITING = "fails", "passes", "cannot tell", "waits for the others"
SIGNS = {FAILS: ("✕", "#cf4a5a"), PASSES: ("✓", "#2e9150"), UNTOLD: ("?", "#808080"), WAITING: ("…", "#808080")}
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
    st.html(f"<h2 class=part>{TITLE}</h2>{findings_table(found)}")
    if found.judged:
        csv_button("Download the audit (CSV)", lambda: columns(found), f"audit-{found.run.id}.csv", "download_audit")


def findings_table(found: AuditResults) -> str:
    """An HTML table with a row for each audit."""
    heads = "".join(f"<th scope=col>{head(each, 'audits')}</th>" for each in HEADS)
    rows = "".join(_row(found, each) for each in found.measured)
    top = f"<thead><tr><th scope=col>Audit</th>{heads}</tr></thead>"
    return scrolling(TITLE, f"<table class='verdicts audits'>{top}<tbody>{rows}</tbody></table>")


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


def p_value_text(found: AuditResults, each: Measured) -> str:
    """The p-value, corrected for the number of audits where all of them are known."""
    value = found.p_values.get(each.audit, each.p_value)
    return "–" if value is None else outward(value, math.ceil)


def _row(found: AuditResults, each: Measured) -> str:
    result = result_of(found, each)
    mark, color = SIGNS[result]
    sign = f'<b class=sign style="color:{color}" aria-hidden=true>{mark}</b> {result}'
    plain = (p_value_text(found, each), epsilon_text(each), each.tests, each.untested)
    cells = "".join(f'<td data-label="{name}">{escape(text)}</td>' for name, text in zip(HEADS[1:], plain, strict=True))
    title = f"<th scope=row>{escape(each.title)}<small>{escape(each.shows)}</small></th>"
    return f"<tr>{title}<td data-label=Result>{sign}</td>{cells}</tr>"


def columns(found: AuditResults) -> Columns:
    """A row for each audit, as a file."""
    table: dict[str, list[Any]] = {}
    for each in found.measured:
        row = {
            "audit": each.title,
            "result": result_of(found, each),
            "p-value": each.p_value,
            "p-value, corrected": found.p_values.get(each.audit),
            "epsilon at least": math.inf if each.unbounded else each.epsilon,
            "evidence": each.evidence,
            "shows": each.shows,
            "tests": each.tests,
            "leaves untested": each.untested,
        }
        for name, value in row.items():
            table.setdefault(name, []).append(value)
    return table


def generators(found: AuditResults) -> None:
    """Draw how far the trainer's normal numbers and torch's reach, as far as it is counted while the audit goes on.

    Nothing where nobody asked for the count.
    """
    if found.request.torch_draws and (rows := generator_rows(found)):
        st.html(f"<h2 class=part>{REACH_TITLE}</h2>{generators_table(rows)}")
        st.caption(REACH)


def generator_rows(found: AuditResults) -> list[tuple[str, int, float]]:
    """Name, draws, and the largest of them, of each generator."""
    rows, own = [], found.finding("generator")
    figures = dict(own.figures) if own else {}
    if "largest" in figures:
        rows.append(("the trainer's noise", int(figures["draws"]), figures["largest"]))
    if found.counted:
        rows.append((TORCH_NAME, found.counted.draws, found.counted.largest))
    return rows


def generators_table(rows: list[tuple[str, int, float]]) -> str:
    """An HTML table of these generators."""
    heads = "".join(f"<th scope=col class=number>{each}</th>" for each in REACH_HEADS)
    top = f"<thead><tr><th scope=col>Generator</th>{heads}</tr></thead>"
    body = "".join(_generator_row(*each) for each in rows)
    return scrolling(REACH_TITLE, f"<table class='verdicts generators'>{top}<tbody>{body}</tbody></table>")


def _generator_row(name: str, draws: int, largest: float) -> str:
    beyond = 2 * draws * float(ndtr(-largest))
    none = outward(chance_of_none(draws, largest), math.ceil)
    cells = (f"{draws:,}", f"{largest:.3f}", short(beyond), none)
    shown = "".join(
        f'<td class=number data-label="{head}">{cell}</td>' for head, cell in zip(REACH_HEADS, cells, strict=True)
    )
    return f"<tr><th scope=row>{escape(name)}</th>{shown}</tr>"
