"""One number line: what audits showed, what is certified of the claim, and what accountants say of it."""

import math

import streamlit as st

from dpcore.audit.events import Measured
from dpcore.figures.number_line import Claimed, Shown, Stretch, audit_line_alt, audit_line_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked, outward, percent, plain, raised, short
from pages.parts.audit.audit_results import AuditResults, is_estimate
from pages.parts.results import cache
from pages.parts.shell.present import SMALL, chart_size

SHOWN_LEAST = 1e-3  # a lower bound below it says nothing, and would stretch the line
LEGEND = (
    "Should read from left to right: what is shown (▶ a bound, ▷ one if what the audit leaves untested is as charged, "
    "◇ an estimate) ≤ what is certified ≤ what accountants give. Red: an audit that fails, and a number that lies "
    "below what is proven or below what a failed audit shows. Each shown number holds at the confidence on its own."
)
NOTHING_CLAIMED = "No epsilon is claimed, so there is no number line."


def number_line(found: AuditResults) -> None:
    """Draw the line; a sentence where nothing is claimed."""
    judged = found.judged
    if judged is None or judged.claimed_upper is None:
        st.info(NOTHING_CLAIMED)
        return
    certified = Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)
    shown, claimed = shown_rows(found), claimed_rows(found, certified)
    words, kept = certified_words(found, certified), not exceeding(found, certified.high)
    figure = audit_line_figure(shown, certified, claimed, words, kept=kept, size=chart_size())
    st.plotly_chart(figure, key="audit_line", config=SMALL, alt=audit_line_alt(shown, words, claimed))
    st.caption(LEGEND)


def shown_rows(found: AuditResults) -> list[Shown]:
    """A row for each audit that shows an epsilon, the largest first, with its p-value where it fails."""
    return [_shown(found, each) for each in found.shown if each.unbounded or (each.epsilon or 0.0) >= SHOWN_LEAST]


def _shown(found: AuditResults, each: Measured) -> Shown:
    fails = each.audit in found.failed
    least = "infinite" if each.unbounded else f"≥ {outward(each.epsilon or 0.0, math.floor)}"
    least = f"about {short(each.epsilon or 0.0)}" if is_estimate(each) and not each.unbounded else least
    p_value = f", fails: {p_text(found.p_values[each.audit])}" if fails else ""
    value = math.inf if each.unbounded else each.epsilon or 0.0
    return Shown(value, f"{each.title}: {least} ({each.evidence}{p_value})", each.evidence, fails)


def exceeding(found: AuditResults, value: float) -> Measured | None:
    """The failed audit that shows the largest epsilon, if that is above a value and no estimate."""
    some = [each for each in found.shown if each.audit in found.failed and not is_estimate(each)]
    return next((each for each in some if each.unbounded or (each.epsilon or 0.0) > value), None)


def certified_words(found: AuditResults, certified: Stretch) -> str:
    """The band, and by what it is not kept."""
    delta = plain(raised(found.request.config.delta))
    band = f"{outward(certified.low, math.floor)} to {outward(certified.high, math.ceil)}"
    beyond = exceeding(found, certified.high)
    refuted = f" ✕ {_by(beyond)} ({p_text(found.p_values[beyond.audit])})" if beyond else ""
    return f"Certified: {band} at δ = {delta}{refuted}"


def claimed_rows(found: AuditResults, certified: Stretch) -> list[Claimed]:
    """A row for each usual accountant, and for each whose number is refuted."""
    claim = found.claim
    if claim is None:
        return []
    rows = []
    for name in (each for each in ACCOUNTANTS if each != CERTIFIED):
        curve = cache.final(name, claim, found.request.config.delta)
        value = float(curve.epsilon[-1])
        if not math.isfinite(value):
            continue
        reason = _refuted(found, value, certified)
        if reason or name in DEFAULT_ACCOUNTANTS:
            words = f"{style_of(name).label} {marked(value, curve.kind)}{reason}"
            rows.append(Claimed(value, words, bool(reason)))
    return sorted(rows, key=lambda each: each.value)


def _refuted(found: AuditResults, value: float, certified: Stretch) -> str:
    """Why nobody may claim a number: it is below the proven one, or below what a failed audit shows."""
    if value < certified.low:
        return f" ✕ at least {outward(certified.low, math.floor)} is proven"
    beyond = exceeding(found, value)
    # The audit's p-value is that of what is charged, and not of what another accountant gives.
    sure = f"at a confidence of {percent(found.request.confidence, 0)} on its own"
    return f" ✕ {_by(beyond)} {sure}" if beyond else ""


def _by(beyond: Measured) -> str:
    least = "that it is infinite" if beyond.unbounded else f"≥ {outward(beyond.epsilon or 0.0, math.floor)}"
    return f"{beyond.title} shows {least}"


def p_text(value: float) -> str:
    """A corrected p-value in words.

    >>> p_text(0.0123), p_text(0.0), p_text(1e-12)
    ('p ≤ 0.0123', 'p = 0', 'p ≤ 1e-12')
    """
    return f"p ≤ {outward(value, math.ceil)}" if value else "p = 0"
