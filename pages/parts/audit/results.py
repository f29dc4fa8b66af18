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
FAILS, PASSES, UNTOLD, UNDECIDED = "fails", "passes", "cannot tell", "undecided"
WAITING, NOT_RUN = "waits", "not run"
TITLE = "The tests"
REACH_TITLE = "Reach of normal numbers"
REACH_HEADS = ("Drawn", "Largest, by size", "Expected beyond it", "Chance of none")


@dataclass(frozen=True)
class AuditResults:
    """An audit's request and its results so far, read from its events."""

    run: Run | None  # None for the recorded example
    request: AuditRequest
    events: Sequence[object]

    prepared = cached_property(lambda self: last_of(self.events, Prepared))
    progress = cached_property(lambda self: all_of(self.events, Watched))
    stopped = cached_property(lambda self: last_of(self.events, Stopped))
    measured = cached_property(lambda self: all_of(self.events, Measured))
    counted = cached_property(lambda self: last_of(self.events, Counted))
    scored = cached_property(lambda self: last_of(self.events, Scored))
    traced = cached_property(lambda self: all_of(self.events, Traced))
    judged = cached_property(lambda self: last_of(self.events, Judged))
    seconds = cached_property(lambda self: getattr(last_of(self.events, Finished), "seconds", None))

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
        return next((each for each in self.measured if each.audit == audit), None)

    def trace(self, audit: str) -> Traced | None:
        """The ROC curve of a test, if there is one."""
        return next((each for each in self.traced if each.audit == audit), None)

    @property
    def claim(self) -> Mechanism | None:
        """The charged mechanism, None if nothing is charged; the number of accepted steps is known
        last.
        """
        if self.prepared is None or not self.prepared.claimed:
            return None
        releases = self.finding("releases")
        charged = dict(releases.figures).get("charged") if releases else None
        before = Mechanism(
            tuple(Release(q, sigma, count) for q, sigma, count in self.prepared.claimed)
        )
        if charged is None or charged == before.steps:
            return before
        after = self.request.by.claims(self.request.trained, int(charged))
        return after if after and after.steps == charged else None

    @property
    def shown(self) -> list[Measured]:
        """The findings with a lower bound of epsilon above 0, the largest first."""
        some = [each for each in self.measured if each.unbounded or each.epsilon]
        return sorted(
            some, key=lambda each: -float("inf") if each.unbounded else -(each.epsilon or 0.0)
        )


@lru_cache(maxsize=1)
def example() -> AuditResults:
    """The recorded example; it has no scores and curves of canaries."""
    said = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    events = [event_from_json(AUDIT.name, TESTS.get(each.get("audit"), {}) | each) for each in said]
    return AuditResults(None, REQUEST, events)


def is_estimate(found: Measured) -> bool:
    """True if its epsilon is no bound."""
    return found.evidence == Evidence.ESTIMATE


def lights(found: AuditResults) -> None:
    """Draw a sign for each test, on a line; screen readers pass it by, for the table below says all
    of it.
    """
    signs = (
        (sign(_result_of(found, name), "audit"), escape(TESTS[name]["title"]))
        for name in _names(found)
    )
    st.html(
        "<p class=legend"
        f" aria-hidden=true>{' '.join(f'<span>{mark} {title}</span>' for mark, title in signs)}</p>"
    )


def findings(found: AuditResults) -> None:
    """Draw a table of the tests; after the verdict, as a file too."""
    made = table(TITLE, "verdicts audits", HEADS, (_row(found, name) for name in _names(found)))
    st.html(f"<h2 class=part>{TITLE}</h2>{made}")
    if found.judged and found.run:
        csv_button(
            "Download the audit (CSV)",
            lambda: file_rows(found),
            f"audit-{found.run.id}.csv",
            "download_audit",
        )


def _names(found: AuditResults) -> list[str]:
    """The tests that have reported; and before the verdict, all others, too."""
    return [name for name in TESTS if found.finding(name) or not found.judged]


def _result_of(found: AuditResults, name: str) -> str:
    """The result of a test in a few words.

    A p-value that is so large, or small, that no correction can change its side is decided before
    the verdict.
    """
    each, error = found.finding(name), 1 - found.request.confidence
    if each is None:
        return WAITING if found.run and found.run.active else NOT_RUN
    if each.p_value is None:
        return UNTOLD
    if found.judged is None and each.p_value <= error < len(TESTS) * each.p_value:
        return UNDECIDED
    return (
        FAILS if (each.audit in found.failed if found.judged else each.p_value <= error) else PASSES
    )


def _epsilon_text(each: Measured) -> str:
    if each.unbounded:
        return f"infinite ({each.evidence})"
    if each.epsilon is None:
        return "–"
    number = f"≈ {short(each.epsilon)}" if is_estimate(each) else outward(each.epsilon, math.floor)
    return f"{number} ({each.evidence})"


def _row(found: AuditResults, name: str) -> list[str]:
    each, words, result = found.finding(name), TESTS[name], _result_of(found, name)
    # Corrected once all are known.
    p_value = found.p_values.get(name, each.p_value if each else None)
    shown = "–" if p_value is None else p_text(p_value)
    kept = [
        f"<span class=kept>{text}</span>"
        for text in (f"{sign(result, 'audit')} {result}", escape(shown))
    ]
    plain = (_epsilon_text(each) if each else "–", words["tests"], words["untested"])
    title = f"{escape(words['title'])}<small>{escape(each.shows) if each else ''}</small>"
    return [title, *kept, *map(escape, plain)]


def file_rows(found: AuditResults) -> Rows:
    """A row for each test, as a file."""
    return [
        {"audit": each.title, "result": _result_of(found, each.audit), "p-value": each.p_value,
         "p-value, corrected": found.p_values.get(each.audit),
         "epsilon at least": math.inf if each.unbounded else each.epsilon, "evidence": each.evidence,
         "shows": each.shows, "tests": each.tests, "leaves untested": each.untested}
        for each in found.measured
    ]  # fmt: skip


def generators(found: AuditResults) -> None:
    """Draw the reach of the trainer's normal numbers and of torch's, if the request counts them."""
    rows, own = [], found.finding("generator")
    figures = dict(own.figures) if own else {}
    if "largest" in figures:
        rows.append(
            _generator_row("the trainer's noise", int(figures["draws"]), figures["largest"])
        )
    if found.counted:
        rows.append(
            _generator_row("torch's float32 on a CPU", found.counted.draws, found.counted.largest)
        )
    if found.request.torch_draws and rows:
        made = table(
            REACH_TITLE, "verdicts generators", ("Generator", *REACH_HEADS), rows, REACH_HEADS
        )
        st.html(f"<h2 class=part>{REACH_TITLE}</h2>{made}")
        st.caption(WORDS["reach"])


def _generator_row(name: str, draws: int, largest: float) -> list[str]:
    beyond = 2 * draws * float(ndtr(-largest))
    texts = (
        name,
        f"{draws:,}",
        f"{largest:.3f}",
        short(beyond),
        p_text(chance_of_none(draws, largest)),
    )
    return [*map(escape, texts)]
