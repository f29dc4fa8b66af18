"""The table of audits: what each tests, what it leaves untested, and what came out."""

import math
from html import escape
from typing import Any

import streamlit as st

from dpcore.audit.events import Measured
from dpcore.privacy.report.numbers import outward, short
from pages.parts.audit.audit_results import AuditResults, is_estimate
from pages.parts.explain.terms import head
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.tables import scrolling

HEADS = ("Result", "p-value", "Epsilon at least", "What it tests", "What it leaves untested")
FAILS, PASSES, UNTOLD, WAITING = "fails", "passes", "cannot tell", "waits for the others"
SIGNS = {FAILS: ("✕", "#cf4a5a"), PASSES: ("✓", "#2e9150"), UNTOLD: ("?", "#808080"), WAITING: ("…", "#808080")}
TITLE = "What each audit found"


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
