"""The charts of an audit: canaries told apart, their scores, the limits of one run, and the attack from outside."""

import math
from functools import lru_cache

import streamlit as st

from dpcore.audit.bounds.one_run import expected_of_one_run, most_of_one_run
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.events import Measured, Traced
from dpcore.figures import audit as figures
from dpcore.figures.audit import Reached, Seen, canaries_alt, canaries_figure
from dpcore.figures.number_line import Claimed, Shown, Stretch, audit_line_alt, audit_line_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import marked, outward, percent, plain, raised, short
from pages.parts.audit.audit_results import AuditResults, is_estimate
from pages.parts.audit.findings_table import SMALLEST_P
from pages.parts.results import cache
from pages.parts.results.exports import chart
from pages.parts.shell.menu import SMALL, chart_size

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)  # of canaries
RATES = (0.01, 0.001)  # false-positive rates at which the attack from outside is told
ROC = (
    "ROC of the canaries: how well scores tell who was in. The band holds the true curve everywhere at once, at the "
    "confidence, if scores are independent, as those of canaries in one run are but roughly. If the claim is true, "
    "the true curve nowhere lies above the certified one."
)
SCORES = (
    "Scores of canaries: log-likelihood ratios, summed over the steps. Bars: what was seen; lines: the laws that "
    "theory predicts for what is charged. Where training is not as charged, they part."
)
NO_CANARIES = "There are no scores of canaries to draw: the table says why."
NO_LAWS = "The laws of the scores are not drawn: "
SMALLEST_SHOWN = 1e-3  # a lower bound below it says nothing, and would stretch the line
LEGEND = (
    "In a correct trainer: measured (▶ a bound, ▷ one if what the audit leaves untested is as charged, ◇ an estimate) "
    "≤ certified ≤ accountants. Red: an audit that fails, and a number that lies "
    "below what is proven or below what a failed audit shows. Each shown number holds at the confidence on its own."
)
NOTHING_CLAIMED = "No epsilon is claimed, so there is no number line."


laws_of = lru_cache(maxsize=64)(score_laws)  # of a canary's score, computed once for all sessions


@lru_cache(maxsize=64)
def limits_of_one_run(claim: Mechanism, delta: float, confidence: float) -> list[tuple[float, float]]:
    """For each of COUNTS, what no run exceeds, and what the best canaries show, about.

    Errors: ValueError where their scores have no laws.
    """
    laws = laws_of(claim)
    return [
        (most_of_one_run(count, delta, confidence), expected_of_one_run(laws, count, delta, confidence))
        for count in COUNTS
    ]


def audit_charts(found: AuditResults) -> None:
    """Draw what there is."""
    canaries = found.trace("one_run")
    if found.scored and canaries:
        beside = st.container(key="beside").columns(2, gap="medium")
        with beside[0]:
            _roc(found, canaries, "ROC of the canaries")
            st.caption(ROC)
        with beside[1]:
            _scores(found)
    else:
        st.info(NO_CANARIES)
    beside = st.container(key="fan").columns(2, gap="medium")
    with beside[0]:
        _limits(found)
    with beside[1]:
        _outside(found)


def _roc(found: AuditResults, traced: Traced, title: str) -> None:
    seen = Seen(traced.false_positives, traced.true_positives, traced.above, traced.below)
    band = cache.band(found.claim) if found.claim else None
    figure = figures.roc_figure(seen, band, size=chart_size())
    chart(figure, f"roc_{traced.audit}", figures.roc_alt(seen, band), title, None)


def _scores(found: AuditResults) -> None:
    assert found.scored
    laws, why = None, ""
    try:
        laws = laws_of(found.claim) if found.claim else None
    except ValueError as error:
        why = f" {NO_LAWS}{error}"
    inside, outside = found.scored.inside, found.scored.outside
    figure = figures.scores_figure(inside, outside, laws, size=chart_size())
    chart(figure, "scores", figures.scores_alt(inside, outside, laws), "Scores of the canaries", None)
    st.caption(SCORES + why)


def _limits(found: AuditResults) -> None:
    """What one run can show at most, and a sentence on why that is little."""
    judged, claim, request = found.judged, found.claim, found.request
    if judged is None or claim is None or judged.claimed_upper is None:
        return
    try:
        limits = limits_of_one_run(claim, request.config.delta, request.confidence)
    except ValueError as error:
        st.info(f"{NO_LAWS}{error}")
        return
    canaries = found.prepared.canaries if found.prepared else 0
    shown = [each for each in map(found.finding, ("one_run", "one_run_curve")) if each]
    reached = [Reached(canaries, each.epsilon, each.title) for each in shown if canaries and each.epsilon is not None]
    certified = Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)
    figure = canaries_figure(COUNTS, *zip(*limits, strict=True), reached, certified, size=chart_size())
    most, expected = limits[COUNTS.index(1000)]
    chart(figure, "limits", canaries_alt(most, expected, reached, 1000), "What one run can show", None)
    st.caption(
        f"Why one run shows little: of 1,000 canaries even the best are expected to show about {short(expected)}, and "
        f"no guesses at all can show more than {short(most)}; {short(certified.high)} is certified. Each canary is in "
        "or out but once, so little can be counted, and a run that passes says little."
    )


def _outside(found: AuditResults) -> None:
    """The attack on the trained model alone: its ROC, and how many members it finds at small error rates."""
    traced, losses = found.trace("losses"), found.finding("losses")
    if losses is None or traced is None:
        return
    _roc(found, traced, "Losses of the trained model")
    known = dict(losses.figures)
    told = [
        f"at {percent(rate, 1)} false positives it finds {percent(known[name])} of the members, "
        f"from {percent(known[f'{name}_above'])} to {percent(known[f'{name}_below'])}"
        for rate in RATES
        if f"{(name := f'tpr_at_{rate:g}_fpr')}_above" in known
    ]
    st.caption(
        f"The attack from outside, a threshold on the loss of the trained model: {'; '.join(told)}. "
        "It is far weaker than canaries in the gradients: a model that withstands it need not keep its claim."
    )


def number_line(found: AuditResults) -> None:
    """Draw the line; a sentence where nothing is claimed."""
    judged = found.judged
    if judged is None or judged.claimed_upper is None:
        st.info(NOTHING_CLAIMED)
        return
    certified = Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)
    shown = [_shown(found, each) for each in found.shown if each.unbounded or (each.epsilon or 0.0) >= SMALLEST_SHOWN]
    claimed, beyond = claimed_rows(found, certified), exceeding(found, certified.high)
    band = f"{outward(certified.low, math.floor)} to {outward(certified.high, math.ceil)}"
    refuted = f" ✕ {_by(beyond)} ({p_text(found.p_values[beyond.audit])})" if beyond else ""
    words = f"Certified: {band} at δ = {plain(raised(found.request.config.delta))}{refuted}"
    figure = audit_line_figure(shown, certified, claimed, words, kept=not beyond, size=chart_size())
    st.plotly_chart(figure, key="audit_line", config=SMALL, alt=audit_line_alt(shown, words, claimed))
    st.caption(LEGEND)


def _shown(found: AuditResults, each: Measured) -> Shown:
    """What an audit shows, with its p-value where it fails."""
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
    ('p ≤ 0.0123', 'p < 1e-300', 'p ≤ 1e-12')
    """
    return f"p ≤ {outward(value, math.ceil)}" if value > SMALLEST_P else f"p < {SMALLEST_P:g}"
