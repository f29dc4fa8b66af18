"""The outcome of an audit in a line: the promise, what was shown of it, and a bar of both."""

import math
from collections import Counter
from html import escape
from typing import NamedTuple

import streamlit as st

from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.events import Measured
from dpcore.privacy.report.numbers import outward, percent
from pages.parts.audit import results
from pages.parts.audit.results import WORDS, AuditResults, bound_of, is_estimate
from pages.parts.results.odds import sign

WITHOUT_END = 0.25  # share of the bar that a promise gets where no epsilon holds
LEAST_SHARE = 0.01  # of the bar: what is drawn of a promise is seen


class Bar(NamedTuple):
    """A promised epsilon, and the largest that the tests show: 0 for none, else maybe infinite."""

    promised: float
    shown: float

    @property
    def shares(self) -> tuple[float, float]:
        """The lengths of both in shares of the bar."""
        if math.isinf(self.shown):
            return WITHOUT_END, 1.0
        whole = max(self.promised, self.shown)
        return max(self.promised / whole, LEAST_SHARE), self.shown / whole


def headline(found: AuditResults) -> str:
    """The verdict in a line, with both numbers where there are two.

    **Guarantees:** the promise is rounded up, and what is shown is rounded down.
    """
    promised = promise_of(found)
    failed = failures(found)
    if promised is None:
        return _without_promise(found, failed)
    promise = f"Promised {outward(promised, math.ceil)}."
    if not failed:
        kept = WORDS["as_far"].format(**counts(found))
        return f"{promise} {_nothing_above(found, promised)}: {kept}."
    beyond = exceeding(found, promised)
    if beyond is None:
        shown = "It does not keep that"
    elif beyond.unbounded:
        shown = "Really without limit"
    else:
        shown = f"Really at least {outward(bound_of(beyond), math.floor)}"
    return f"{promise} {shown}{_fault(found)}."


def _without_promise(found: AuditResults, failed: str) -> str:
    """The verdict on a trainer that promises no finite epsilon."""
    unaccounted = found.prepared.unaccounted if found.prepared else ""
    if not failed:
        return "No test found a fault" if unaccounted else "No test refutes the claim"
    return f"{'Fault found' if unaccounted else 'Claim refuted'} by {failed}"


def _nothing_above(found: AuditResults, promised: float) -> str:
    """The largest bound of a sound trainer; chance alone may lift one above the promise."""
    shown = largest_bound(found)
    if 0 < shown <= promised:
        return f"Nothing above {outward(shown, math.floor)} found"
    return "No test refutes it"


def _fault(found: AuditResults) -> str:
    """The known fault of a broken trainer, if the test that must find it did."""
    trainer = found.request.by
    known = trainer.fault and trainer.fails in found.failed
    return f": {trainer.fault}" if known else ""


def certainty(found: AuditResults) -> str:
    """Who refutes the promise, how sure that is, and what the shown number takes for granted."""
    sure = f"{percent(found.request.confidence, 0)} confidence over all tests."
    if not found.failed:
        return f"{sure} {WORDS['no_proof']}"
    promised = promise_of(found)
    if promised is None:
        return sure
    said = f"Refuted by {failures(found)}, with {sure}"
    beyond = exceeding(found, promised)
    if beyond and not beyond.unbounded and beyond.evidence == Evidence.CONDITIONAL:
        said += f" {outward(bound_of(beyond), math.floor)} holds if all else is as promised."
    return said


def promise_of(found: AuditResults) -> float | None:
    """The certified upper bound of what is charged; None before the verdict or without one."""
    return found.judged.claimed_upper if found.judged else None


def failures(found: AuditResults) -> str:
    """How many of the tests fail, in words; "" if none does."""
    if not found.failed:
        return ""
    return "{failed} of {tests} tests".format(**counts(found))


def exceeding(found: AuditResults, value: float) -> Measured | None:
    """The failed test with the largest bound of epsilon, if that is above a value."""
    for test in found.shown:
        bounds = test.audit in found.failed and not is_estimate(test)
        if bounds and (test.unbounded or bound_of(test) > value):
            return test
    return None


def largest_bound(found: AuditResults) -> float:
    """The largest lower bound of epsilon that a test shows; 0 without one."""
    return max([bound_of(each) for each in found.shown if not is_estimate(each)], default=0.0)


def counts(found: AuditResults) -> dict[str, int]:
    """How many tests have reported, failed, passed and cannot tell."""
    said = Counter(results.result_of(found, name) for name in results.names_of(found))
    return {
        "tests": said.total(),
        "failed": said[results.FAILS],
        "passed": said[results.PASSES],
        "silent": said[results.UNTOLD],
    }


def show_verdict(found: AuditResults) -> None:
    """Draw the verdict, large, how sure it is, and the bar of promise and shown."""
    result = results.FAILS if found.failed else results.PASSES
    head = f"{sign(result, 'audit')} {escape(headline(found))}"
    st.html(f"<h2 class='part audit-verdict'>{head}</h2><p>{escape(certainty(found))}</p>")
    promised = promise_of(found)
    if promised is None:
        return
    beyond = exceeding(found, promised)
    if beyond:
        st.html(bar(Bar(promised, bound_of(beyond))))
    else:
        st.html(bar(Bar(promised, min(largest_bound(found), promised))))


def bar(both: Bar) -> str:
    """The bar as HTML: red is what was shown beyond the promise.

    >>> bar(Bar(2.53, 12.94)).count("class=beyond"), bar(Bar(2.53, 2.51)).count("class=beyond")
    (1, 0)
    """
    promised, shown = both.shares
    promise = f"promised: at most {outward(both.promised, math.ceil)}"
    found = "no test shows any epsilon"
    if math.isinf(both.shown):
        found = "shown: no limit at all"
    elif both.shown > 0:
        found = f"shown: at least {outward(both.shown, math.floor)}"
    if shown > promised:
        parts = _part("promise", promised) + _part("beyond", shown - promised)
    else:
        parts = _part("held", shown)
    return (
        f'<figure class=promise-bar role=img aria-label="{promise}; {found}">'
        f"{_label(promise, promised)}<div>{parts}</div>{_label(found, shown)}</figure>"
    )


def _part(kind: str, share: float) -> str:
    return f'<i class={kind} style="width:{100 * share:.2f}%"></i>'


def _label(text: str, share: float) -> str:
    """A text that ends at a share of the bar, or begins with the bar if it is longer."""
    return f'<span style="--share:{100 * share:.2f}cqw">{text}</span>'
