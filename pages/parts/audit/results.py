"""Results of an audit so far, from its events, and their tables; and a recorded example."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path

import streamlit as st
from scipy.special import ndtr

from dpcore.audit.bounds.finding import TESTS, Evidence
from dpcore.audit.bounds.generator import chance_of_none
from dpcore.audit.events import (
    Counted,
    Finished,
    Judged,
    Measured,
    Prepared,
    Scored,
    Stopped,
    Traced,
    Watched,
)
from dpcore.audit.request import AuditRequest
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.numbers import outward, p_text, short
from dpcore.runs.history import all_of, last_of
from dpcore.runs.kinds import AUDIT, event_from_json
from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from pages.parts.results.exports import Rows, csv_button
from pages.parts.results.odds import sign
from pages.parts.results.tables import table

# Events of REQUEST, without the words of findings.toml.
EXAMPLE = Path(__file__).with_name("example.json")
SENTENCES = words_in(Path(__file__).with_name("words.toml"))
WORDS = SENTENCES["words"]
QUICK = RunConfig(model="mlp", sigma=1.0, batch=512, epochs=2.0)  # an audit of it takes seconds
REQUEST = AuditRequest(replace(QUICK, seed=1), "half_noise")
HEADS = (
    "Test",
    "Result",
    "p-value",
    "Epsilon at least",
    "What it tests",
    "What it leaves untested",
)
# Results of a test.
FAILS = "fails"
PASSES = "passes"
UNTOLD = "cannot tell"
UNDECIDED = "undecided"
WAITING = "waits"
NOT_RUN = "not run"
TITLE = "The tests"
REACH_TITLE = "Reach of normal numbers"
REACH_HEADS = ("Drawn", "Largest, by size", "Expected beyond it", "Chance of none")


@dataclass(frozen=True)
class AuditResults:
    """An audit's request and its results so far, read from its events."""

    run: Run | None  # None for the recorded example
    request: AuditRequest
    events: Sequence[object]

    @cached_property
    def prepared(self) -> Prepared | None:
        return last_of(self.events, Prepared)

    @cached_property
    def progress(self) -> Sequence[Watched]:
        return all_of(self.events, Watched)

    @cached_property
    def stopped(self) -> Stopped | None:
        return last_of(self.events, Stopped)

    @cached_property
    def measured(self) -> Sequence[Measured]:
        return all_of(self.events, Measured)

    @cached_property
    def counted(self) -> Counted | None:
        return last_of(self.events, Counted)

    @cached_property
    def scored(self) -> Scored | None:
        return last_of(self.events, Scored)

    @cached_property
    def traced(self) -> Sequence[Traced]:
        return all_of(self.events, Traced)

    @cached_property
    def judged(self) -> Judged | None:
        return last_of(self.events, Judged)

    @cached_property
    def finished(self) -> Finished | None:
        return last_of(self.events, Finished)

    @property
    def watched(self) -> Watched | None:
        """The newest progress."""
        return self.progress[-1] if self.progress else None

    @property
    def failed(self) -> tuple[str, ...]:
        """The tests that reject the claim; none before the verdict."""
        return self.judged.failed if self.judged else ()

    @property
    def p_values(self) -> dict[str, float]:
        """p-values by test, corrected for their number; empty before the verdict."""
        return dict(self.judged.p_values) if self.judged else {}

    def finding(self, audit: str) -> Measured | None:
        """The finding of a test, if it has reported."""
        for each in self.measured:
            if each.audit == audit:
                return each
        return None

    def trace(self, audit: str) -> Traced | None:
        """The ROC curve of a test, if there is one."""
        for each in self.traced:
            if each.audit == audit:
                return each
        return None

    @property
    def claim(self) -> Mechanism | None:
        """The charged mechanism, None if nothing is charged; its accepted steps are known last."""
        if self.prepared is None or not self.prepared.claimed:
            return None
        claimed = self.prepared.claimed
        before = Mechanism(tuple(Release(q, sigma, count) for q, sigma, count in claimed))
        releases = self.finding("releases")
        if releases is None:
            return before
        charged = dict(releases.figures).get("charged", before.steps)
        if charged == before.steps:
            return before
        after = self.request.by.claims(self.request.trained, int(charged))
        if after is None or after.steps != charged:
            return None
        return after

    @property
    def shown(self) -> list[Measured]:
        """The findings with a lower bound of epsilon above 0, the largest first."""
        some = [test for test in self.measured if bound_of(test) > 0]
        return sorted(some, key=bound_of, reverse=True)


def bound_of(test: Measured) -> float:
    """The bound or estimate of epsilon; 0 without one."""
    if test.unbounded:
        return math.inf
    return test.epsilon or 0.0


@lru_cache(maxsize=1)
def example() -> AuditResults:
    """The recorded example; it has no scores and curves of canaries."""
    events = []
    for each in json.loads(EXAMPLE.read_text(encoding="utf-8")):
        words = TESTS.get(each.get("audit"), {})
        events.append(event_from_json(AUDIT.name, words | each))
    return AuditResults(None, REQUEST, events)


def is_estimate(found: Measured) -> bool:
    """True if its epsilon is no bound."""
    return found.evidence == Evidence.ESTIMATE


def lights(found: AuditResults) -> None:
    """Draw a sign for each test, on a line; screen readers skip it, since the table has it all."""
    signs = []
    for name in names_of(found):
        mark = sign(result_of(found, name), "audit")
        signs.append(f"<span>{mark} {escape(TESTS[name]['title'])}</span>")
    st.html(f"<p class=legend aria-hidden=true>{' '.join(signs)}</p>")


def findings(found: AuditResults) -> None:
    """Draw a table of the tests; after the verdict, as a file too."""
    rows = [_row(found, name) for name in names_of(found)]
    st.html(table(TITLE, "verdicts audits", HEADS, rows))
    if found.judged and found.run:
        csv_button(
            "Download the audit (CSV)",
            lambda: file_rows(found),
            f"audit-{found.run.id}.csv",
            "download_audit",
        )


def names_of(found: AuditResults) -> list[str]:
    """The tests that have reported; and before the verdict, all others, too."""
    return [name for name in TESTS if found.finding(name) or not found.judged]


def result_of(found: AuditResults, name: str) -> str:
    """The result of a test in a few words.

    Before the verdict, a p-value decides if it is so large, or so small, that no correction for the
    number of tests can change its side.
    """
    test = found.finding(name)
    if test is None:
        waits = found.run and found.run.active
        return WAITING if waits else NOT_RUN
    if test.p_value is None:
        return UNTOLD
    error = 1 - found.request.confidence
    surely_fails = not found.judged and len(TESTS) * test.p_value <= error
    if surely_fails or test.audit in found.failed:
        return FAILS
    if found.judged or test.p_value > error:
        return PASSES
    return UNDECIDED


def _epsilon_text(test: Measured) -> str:
    if test.unbounded:
        return f"infinite ({test.evidence})"
    if test.epsilon is None:
        return "–"
    if is_estimate(test):
        return f"≈ {short(test.epsilon)} ({test.evidence})"
    return f"{outward(test.epsilon, math.floor)} ({test.evidence})"


def _row(found: AuditResults, name: str) -> list[str]:
    test = found.finding(name)
    words = TESTS[name]
    result = result_of(found, name)
    p_value = found.p_values.get(name)  # corrected, once all are known
    shows = ""
    epsilon_text = "–"
    if test:
        shows = test.shows
        epsilon_text = _epsilon_text(test)
        if p_value is None:
            p_value = test.p_value
    p_value_text = "–"
    if p_value is not None:
        p_value_text = p_text(p_value)
    return [
        f"{escape(words['title'])}<small>{escape(shows)}</small>",
        f"<span class=kept>{sign(result, 'audit')} {result}</span>",
        f"<span class=kept>{escape(p_value_text)}</span>",
        escape(epsilon_text),
        escape(words["tests"]),
        escape(words["untested"]),
    ]


def file_rows(found: AuditResults) -> Rows:
    """A row for each test, as a file."""
    rows = []
    for test in found.measured:
        row = {
            "audit": test.title,
            "result": result_of(found, test.audit),
            "p-value": test.p_value,
            "p-value, corrected": found.p_values.get(test.audit),
            "epsilon at least": math.inf if test.unbounded else test.epsilon,
            "evidence": test.evidence,
            "shows": test.shows,
            "tests": test.tests,
            "leaves untested": test.untested,
        }
        rows.append(row)
    return rows


def generators(found: AuditResults) -> None:
    """Draw the reach of the trainer's normal numbers and of torch's, if the request counts them."""
    rows = []
    own = found.finding("generator")
    figures = {}
    if own:
        figures = dict(own.figures)
    if "largest" in figures:
        draws = int(figures["draws"])
        rows.append(_generator_row("the trainer's noise", draws, figures["largest"]))
    torchs = found.counted
    if torchs:
        rows.append(_generator_row("torch's float32 on a CPU", torchs.draws, torchs.largest))
    if found.request.torch_draws and rows:
        heads = ("Generator", *REACH_HEADS)
        made = table(REACH_TITLE, "verdicts generators", heads, rows, REACH_HEADS)
        st.html(f"<h2 class=part>{REACH_TITLE}</h2>{made}")
        st.caption(WORDS["reach"])


def _generator_row(name: str, draws: int, largest: float) -> list[str]:
    beyond = 2 * draws * float(ndtr(-largest))
    none = p_text(chance_of_none(draws, largest))
    cells = (name, f"{draws:,}", f"{largest:.3f}", short(beyond), none)
    return [escape(cell) for cell in cells]
