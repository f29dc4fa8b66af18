"""Findings as events, and the verdict of all tests together: one rejection refutes the claim."""

import math
from collections.abc import Mapping, Sequence

from dpcore.audit.bounds.binomial import lower_epsilon
from dpcore.audit.bounds.finding import TESTS, Finding
from dpcore.audit.events import Judged, Measured
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest


def event_of(audit: str, finding: Finding, unaccounted: str = "") -> Measured:
    """Return a finding as an event, with its finite figures.

    `unaccounted` says why there is no epsilon if nothing is charged.
    """
    figures = []
    for name, value in finding.figures.items():
        if isinstance(value, int | float) and math.isfinite(value):
            figures.append((name, float(value)))
    shows = finding.shows
    epsilon = finding.epsilon
    if unaccounted and (finding.p_value is not None or epsilon is not None):
        epsilon = None
        shows = unaccounted
        if figures:
            known = [f"{name.replace('_', ' ')} {nearest(value)}" for name, value in figures]
            shows += f" Measured: {', '.join(known)}."
    unbounded = epsilon == math.inf
    words = TESTS[audit]
    return Measured(
        audit=audit,
        title=words["title"],
        tests=words["tests"],
        untested=words["untested"],
        shows=shows,
        p_value=finding.p_value,
        epsilon=None if unbounded else epsilon,
        unbounded=unbounded,
        evidence=finding.evidence.value,
        figures=tuple(figures),
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for their number, so that all tests together err no more often than one.

    The smallest is multiplied by their number, the next by one less, and so on; none falls below
    the one before. Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected = {}
    least = 0.0
    for name in sorted(p_values, key=p_values.__getitem__):
        remaining = len(p_values) - len(corrected)
        least = max(least, min(1.0, remaining * p_values[name]))
        corrected[name] = least
    return corrected


def judge(
    found: Sequence[Measured], claim: Mechanism | None, delta: float, confidence: float
) -> Judged:
    """Judge the claim by all findings together.

    **Guarantees:** if the claim and the p-values hold, any test is among `failed` with probability
    1 - confidence at most. Each epsilon holds at the confidence on its own, so there is no joint
    one.
    """
    corrected = holm({each.audit: each.p_value for each in found if each.p_value is not None})
    failed = tuple(name for name, value in corrected.items() if value <= 1 - confidence)
    lower, upper = claimed_band(claim, delta)
    return Judged(failed, tuple(corrected.items()), lower, upper)


def claimed_band(claim: Mechanism | None, delta: float) -> tuple[float | None, float | None]:
    """Return the certified bounds of the charged epsilon; None for no claim and for an infinite
    bound.
    """
    if claim is None:
        return None, None
    upper = ACCOUNTANTS[CERTIFIED].spent(claim, delta).value
    return lower_epsilon(claim, delta), upper if math.isfinite(upper) else None
