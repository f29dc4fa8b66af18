"""Charts of an audit: the number line, the evidence, the canaries, the limits of one run, and the
attack on a model.
"""

import math
from functools import lru_cache

import streamlit as st

from dpcore.audit.bounds.one_run import expected_of_one_run, most_of_one_run
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.events import Measured, Traced
from dpcore.figures import audit as figures
from dpcore.figures.audit import Reached, canaries_alt, canaries_figure
from dpcore.figures.number_line import (
    CLAIM,
    GREY,
    MARKS,
    Mark,
    Stretch,
    audit_line_alt,
    audit_line_figure,
)
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import marked, outward, p_text, percent, plain, raised, short
from pages.parts.audit.results import SENTENCES, WORDS, AuditResults, is_estimate
from pages.parts.results import cache
from pages.parts.results.exports import chart
from pages.parts.shell.menu import SMALL, chart_size

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)  # of canaries
RATES = (0.01, 0.001)  # false-positive rates at which the attack on the model is reported
SMALLEST_SHOWN = 0.05  # of the certified value: smaller bounds would only stretch the line
SIGNS = " ".join(
    f"<span>{MARKS[kind][1]} {words}</span>" for kind, words in SENTENCES["marks"].items()
)
LEGEND = f"<p class=legend>{SIGNS} <span>✕ refuted</span></p>"


laws_of = lru_cache(maxsize=64)(score_laws)  # of a canary's score, computed once for all sessions


@lru_cache(maxsize=64)
def limits_of_one_run(
    claim: Mechanism, delta: float, confidence: float
) -> list[tuple[float, float]]:
    """For each of COUNTS, the most that one run can show and the expectation for the best canaries.

    Errors: ValueError if their scores have no laws.
    """
    laws = laws_of(claim)
    return [
        (
            most_of_one_run(count, delta, confidence),
            expected_of_one_run(laws, count, delta, confidence),
        )
        for count in COUNTS
    ]


def audit_charts(found: AuditResults) -> None:
    """Draw the charts of the canaries, of one run and of the model."""
    canaries = found.trace("one_run")
    if found.scored and canaries:
        beside = st.container(key="beside").columns(2, gap="medium")
        with beside[0]:
            _roc(found, canaries, "ROC of the canaries")
            st.caption(WORDS["roc"])
        with beside[1]:
            _scores(found)
    else:
        st.info(WORDS["no_canaries"])
    beside = st.container(key="fan").columns(2, gap="medium")
    with beside[0]:
        _limits(found)
    with beside[1]:
        _outside(found)


def evidence_chart(found: AuditResults) -> None:
    """Draw the evidence against the noise so far; nothing before the first steps, and in runs
    without noise.
    """
    told = [each for each in found.progress if each.evidence]
    if not told:
        return
    figure, caught = figures.evidence_figure(told, size=chart_size()), told[-1].caught
    chart(figure, "evidence", figures.evidence_alt(told), "Evidence against the noise", None)
    st.caption(f"**{caught}** {WORDS['evidence']}" if caught else WORDS["evidence"])


def _roc(found: AuditResults, traced: Traced, title: str) -> None:
    band = cache.band(found.claim) if found.claim else None
    figure = figures.roc_figure(traced, band, size=chart_size())
    chart(figure, f"roc_{traced.audit}", figures.roc_alt(traced, band), title, None)


def _scores(found: AuditResults) -> None:
    assert found.scored
    laws, why = None, ""
    try:
        laws = laws_of(found.claim) if found.claim else None
    except ValueError as error:
        why = f" {WORDS['no_laws'].format(why=error)}"
    inside, outside = found.scored.inside, found.scored.outside
    figure = figures.scores_figure(inside, outside, laws, size=chart_size())
    chart(
        figure, "scores", figures.scores_alt(inside, outside, laws), "Scores of the canaries", None
    )
    st.caption(WORDS["scores"] + why)


def _limits(found: AuditResults) -> None:
    judged, claim, request = found.judged, found.claim, found.request
    if judged is None or claim is None or judged.claimed_upper is None:
        return
    try:
        limits = limits_of_one_run(claim, request.config.delta, request.confidence)
    except ValueError as error:
        st.info(WORDS["no_laws"].format(why=error))
        return
    canaries = found.prepared.canaries if found.prepared else 0
    shown = [each for each in map(found.finding, ("one_run", "one_run_curve")) if each]
    reached = [
        Reached(canaries, each.epsilon, each.title)
        for each in shown
        if canaries and each.epsilon is not None
    ]
    certified = Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)
    figure = canaries_figure(
        COUNTS, *zip(*limits, strict=True), reached, certified, size=chart_size()
    )
    most, expected = limits[COUNTS.index(1000)]
    chart(
        figure, "limits", canaries_alt(most, expected, reached, 1000), "What one run can show", None
    )
    st.caption(
        WORDS["one_run"].format(
            expected=short(expected), most=short(most), certified=short(certified.high)
        )
    )


def _outside(found: AuditResults) -> None:
    """Draw the attack on the trained model alone, with its power at small error rates."""
    traced, losses = found.trace("losses"), found.finding("losses")
    if losses is None or traced is None:
        return
    _roc(found, traced, "Losses of the trained model")
    known = dict(losses.figures)
    told = [
        f"at {percent(rate, 1)} false positives it finds {percent(known[name])} of members "
        f"({percent(known[f'{name}_above'])} to {percent(known[f'{name}_below'])})"
        for rate in RATES
        if f"{(name := f'tpr_at_{rate:g}_fpr')}_above" in known
    ]
    st.caption(WORDS["losses"].format(told="; ".join(told)))


def number_line(found: AuditResults) -> None:
    """Draw the tests' bounds, the certified claim and the accountants on a line; a sentence if
    nothing is claimed.
    """
    judged = found.judged
    if judged is None or judged.claimed_upper is None:
        st.info(WORDS["nothing_claimed"])
        return
    certified = Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)
    smallest = SMALLEST_SHOWN * certified.high
    measured = [
        _mark(found, each)
        for each in found.shown
        if each.unbounded or (each.epsilon or 0) >= smallest
    ]
    beyond, accountants = exceeding(found, certified.high), accountant_marks(found, certified)
    band = f"{outward(certified.low, math.floor)} to {outward(certified.high, math.ceil)}"
    claim = Mark(certified.high, f"Certified {band}", CLAIM, GREY, beyond is not None)
    figure = audit_line_figure(measured, certified, claim, accountants, size=chart_size())
    st.plotly_chart(
        figure, key="audit_line", config=SMALL, alt=audit_line_alt(measured, claim, accountants)
    )
    st.html(LEGEND)
    below = [each.label for each in accountants if each.value < certified.low]
    sentences = [WORDS["order"].format(delta=plain(raised(found.request.config.delta)))]
    if beyond:
        sentences.append(
            f"{beyond.title} shows {_least(beyond)}: that refutes the claim and all smaller"
            " numbers."
        )
    if below:
        least = outward(certified.low, math.floor)
        sentences.append(f"No trainer keeps {', '.join(below)}: at least {least} is proven.")
    st.caption(" ".join(sentences))


def _mark(found: AuditResults, each: Measured) -> Mark:
    """The bound of a test, with its p-value if it fails."""
    fails, value = each.audit in found.failed, math.inf if each.unbounded else each.epsilon or 0.0
    number = (
        f"≈ {short(value)}"
        if is_estimate(each) and not each.unbounded
        else _least(each).removeprefix("epsilon ")
    )
    label = f"{each.title} {_kept(number)}"
    if fails:
        p_value = p_text(found.p_values[each.audit])
        label += f", {_kept(f'p {p_value}' if p_value.startswith('<') else f'p ≤ {p_value}')}"
    return Mark(value, label, each.evidence, refuted=fails)


def exceeding(found: AuditResults, value: float) -> Measured | None:
    """The failed test with the largest bound of epsilon, if that is above a value."""
    some = [each for each in found.shown if each.audit in found.failed and not is_estimate(each)]
    return next((each for each in some if each.unbounded or (each.epsilon or 0.0) > value), None)


def accountant_marks(found: AuditResults, certified: Stretch) -> list[Mark]:
    """The usual accountants, and all that are refuted, by a proof or by a test; the smallest first."""
    claim, rows = found.claim, []
    for name in (each for each in ACCOUNTANTS if each != CERTIFIED and claim):
        curve, style = cache.final(name, claim, found.request.config.delta), style_of(name)
        value = float(curve.epsilon[-1])
        shown = name in DEFAULT_ACCOUNTANTS or value < certified.low or exceeding(found, value)
        if math.isfinite(value) and shown:
            rows.append(
                Mark(value, f"{style.label} {_kept(marked(value, curve.kind))}", CLAIM, style.color)
            )
    return sorted(rows, key=lambda each: each.value)


def _kept(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _least(each: Measured) -> str:
    return (
        "epsilon infinite"
        if each.unbounded
        else f"epsilon ≥ {outward(each.epsilon or 0.0, math.floor)}"
    )
