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
    epsilon = None if unaccounted else finding.epsilon
    unbounded = epsilon is not None and math.isinf(epsilon)
    figures = tuple(
        (name, float(value))
        for name, value in finding.figures.items()
        if isinstance(value, int | float) and math.isfinite(value)
    )
    shows = finding.shows
    if unaccounted and not (finding.p_value is None and finding.epsilon is None):
        known = ", ".join(f"{name.replace('_', ' ')} {nearest(value)}" for name, value in figures)
        shows = f"{unaccounted} Measured: {known}." if known else unaccounted
    bound = None if unbounded else epsilon
    title, tests, untested = TESTS[audit].values()
    return Measured(
        audit,
        title,
        tests,
        untested,
        shows,
        finding.p_value,
        bound,
        unbounded,
        finding.evidence.value,
        figures,
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for their number, so that all tests together err no more often than one.

    The smallest is multiplied by their number, the next by one less, and so on; none falls below
    the one before. Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected, least = {}, 0.0
    for place, (name, value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, (len(p_values) - place) * value))
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
    return Judged(failed, tuple(corrected.items()), *claimed_band(claim, delta))


def claimed_band(claim: Mechanism | None, delta: float) -> tuple[float | None, float | None]:
    """Return the certified bounds of the charged epsilon; None for no claim and for an infinite
    bound.
    """
    if claim is None:
        return None, None
    upper = ACCOUNTANTS[CERTIFIED].spent(claim, delta).value
    return lower_epsilon(claim, delta), upper if math.isfinite(upper) else None
