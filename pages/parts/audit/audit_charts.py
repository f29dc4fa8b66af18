"""Charts of an audit: number line, evidence, canaries, limits of one run, attack on the model."""

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
from pages.parts.audit.outcome import exceeding
from pages.parts.audit.results import SENTENCES, WORDS, AuditResults, bound_of, is_estimate
from pages.parts.components.live_chart import still_chart
from pages.parts.results import cache
from pages.parts.results.exports import chart

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)  # of canaries
RATES = (0.01, 0.001)  # false-positive rates at which the attack on the model is reported
SMALLEST_SHOWN = 0.05  # of the certified value: smaller bounds would only stretch the line
SIGNS = [f"<span>{MARKS[kind][1]} {words}</span>" for kind, words in SENTENCES["marks"].items()]
LEGEND = f"<p class=legend>{' '.join(SIGNS)} <span>✕ fails</span></p>"


laws_of = lru_cache(maxsize=64)(score_laws)  # of a canary's score, computed once for all sessions


@lru_cache(maxsize=64)
def limits_of_one_run(
    claim: Mechanism, delta: float, confidence: float
) -> list[tuple[float, float]]:
    """For each of COUNTS, the most that one run can show and the expectation for the best canaries.

    Errors: ValueError if their scores have no laws.
    """
    laws = laws_of(claim)
    limits = []
    for count in COUNTS:
        most = most_of_one_run(count, delta, confidence)
        expected = expected_of_one_run(laws, count, delta, confidence)
        limits.append((most, expected))
    return limits


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
    """Draw the evidence against the noise so far; nothing before the first steps."""
    progress = [each for each in found.progress if each.evidence]
    if not progress:
        return
    figure = figures.evidence_figure(progress)
    alt = figures.evidence_alt(progress)
    chart(figure, "evidence", alt, "Evidence against the noise", None)
    caption = WORDS["evidence"]
    caught = progress[-1].caught
    if caught:
        caption = f"**{caught}** {caption}"
    st.caption(caption)


def _roc(found: AuditResults, traced: Traced, title: str) -> None:
    band = cache.band(found.claim) if found.claim else None
    figure = figures.roc_figure(traced, band)
    chart(figure, f"roc_{traced.audit}", figures.roc_alt(traced, band), title, None)


def _scores(found: AuditResults) -> None:
    assert found.scored
    laws = None
    why = ""
    try:
        if found.claim:
            laws = laws_of(found.claim)
    except ValueError as error:
        why = f" {WORDS['no_laws'].format(why=error)}"
    inside = found.scored.inside
    outside = found.scored.outside
    figure = figures.scores_figure(inside, outside, laws)
    alt = figures.scores_alt(inside, outside, laws)
    chart(figure, "scores", alt, "Scores of the canaries", None)
    st.caption(WORDS["scores"] + why)


def _limits(found: AuditResults) -> None:
    claim = found.claim
    certified = _certified(found)
    if claim is None or certified is None:
        return
    request = found.request
    try:
        limits = limits_of_one_run(claim, request.config.delta, request.confidence)
    except ValueError as error:
        st.info(WORDS["no_laws"].format(why=error))
        return
    reached = _reached(found)
    all_most, all_expected = zip(*limits, strict=True)
    figure = canaries_figure(COUNTS, all_most, all_expected, reached, certified)
    most, expected = limits[COUNTS.index(1000)]
    alt = canaries_alt(most, expected, reached, 1000)
    chart(figure, "limits", alt, "What one run can show", None)
    sentence = WORDS["one_run"].format(
        expected=short(expected), most=short(most), certified=short(certified.high)
    )
    st.caption(sentence)


def _certified(found: AuditResults) -> Stretch | None:
    """The certified bounds of the claimed mechanism; None before the verdict or without a claim."""
    judged = found.judged
    if judged is None or judged.claimed_upper is None:
        return None
    return Stretch(judged.claimed_lower or 0.0, judged.claimed_upper)


def _reached(found: AuditResults) -> list[Reached]:
    """The bounds that the tests of one run have reached with their canaries."""
    reached = []
    if found.prepared is None or not found.prepared.canaries:
        return reached
    canaries = found.prepared.canaries
    for name in ("one_run", "one_run_curve"):
        test = found.finding(name)
        if test and test.epsilon is not None:
            reached.append(Reached(canaries, test.epsilon, test.title))
    return reached


def _outside(found: AuditResults) -> None:
    """Draw the attack on the trained model alone, with its power at small error rates."""
    traced = found.trace("losses")
    losses = found.finding("losses")
    if losses is None or traced is None:
        return
    _roc(found, traced, "Losses of the trained model")
    known = dict(losses.figures)
    powers = []
    for rate in RATES:
        name = f"tpr_at_{rate:g}_fpr"
        if f"{name}_above" not in known:
            continue
        low = percent(known[f"{name}_above"])
        high = percent(known[f"{name}_below"])
        powers.append(
            f"at {percent(rate, 1)} false positives it finds {percent(known[name])} of members"
            f" ({low} to {high})"
        )
    st.caption(WORDS["losses"].format(told="; ".join(powers)))


def number_line(found: AuditResults) -> None:
    """Draw the tests' bounds, the certified claim and the accountants on a line.

    If nothing is claimed, a sentence says so.
    """
    certified = _certified(found)
    if certified is None:
        st.info(WORDS["nothing_claimed"])
        return
    smallest = SMALLEST_SHOWN * certified.high
    measured = [_mark(found, each) for each in found.shown if bound_of(each) >= smallest]
    beyond = exceeding(found, certified.high)
    accountants = accountant_marks(found, certified)
    promise = outward(certified.high, math.ceil)
    promised = Mark(certified.high, f"Promised ≤ {promise}", CLAIM, GREY, beyond is not None)
    figure = audit_line_figure(measured, certified, promised, accountants)
    alt = audit_line_alt(measured, promised, accountants)
    still_chart(figure, key="audit_line", alt=alt)
    st.html(LEGEND)
    sentences = [WORDS["order"].format(delta=plain(raised(found.request.config.delta)))]
    if beyond:
        shown = f"{beyond.title} shows {_least(beyond)}"
        sentences.append(WORDS["broken"].format(shown=shown, promise=promise))
    below = [each.label.rpartition(" ")[0] for each in accountants if each.refuted]
    if below:
        least = outward(certified.low, math.floor)
        sentences.append(WORDS["below"].format(names=" and ".join(below), least=least))
    st.caption(" ".join(sentences))


def _mark(found: AuditResults, test: Measured) -> Mark:
    """The bound of a test, with its p-value if it fails."""
    value = bound_of(test)
    if is_estimate(test) and not test.unbounded:
        number = f"≈ {short(value)}"
    else:
        number = _least(test).removeprefix("epsilon ")
    label = f"{test.title} {_unbroken(number)}"
    fails = test.audit in found.failed
    if fails:
        p_value = p_text(found.p_values[test.audit])
        relation = "p" if p_value.startswith("<") else "p ≤"
        label += f", {_unbroken(f'{relation} {p_value}')}"
    return Mark(value, label, test.evidence, refuted=fails)


def accountant_marks(found: AuditResults, certified: Stretch) -> list[Mark]:
    """The usual accountants, and all that a proof or a test refutes; the smallest first.

    Those below the proven lower bound fail for any trainer, and are marked.
    """
    if not found.claim:
        return []
    marks = []
    for name in ACCOUNTANTS:
        if name == CERTIFIED:
            continue
        curve = cache.final(name, found.claim, found.request.config.delta)
        value = float(curve.epsilon[-1])
        below = value < certified.low
        refuted = below or exceeding(found, value) is not None
        if math.isfinite(value) and (name in DEFAULT_ACCOUNTANTS or refuted):
            style = style_of(name)
            label = f"{style.label} {_unbroken(marked(value, curve.kind))}"
            marks.append(Mark(value, label, CLAIM, style.color, below))
    return sorted(marks, key=lambda mark: mark.value)


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _least(test: Measured) -> str:
    if test.unbounded:
        return "epsilon infinite"
    return f"epsilon ≥ {outward(test.epsilon or 0.0, math.floor)}"
