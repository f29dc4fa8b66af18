"""Results of an audit so far, from its events; and a recorded example."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dpcore.audit.bounds.finding import TESTS, Evidence
from dpcore.audit.events import Counted, Finished, Judged, Measured, Prepared, Scored, Stopped, Traced, Watched
from dpcore.audit.request import AuditRequest
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.kinds import AUDIT, event_from_json
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.jobs import all_of, last_of, scaled_seconds

EXAMPLE = Path(__file__).with_name("example.json")  # events of REQUEST, without the words of findings.toml
SENTENCES = words_in(Path(__file__).with_name("words.toml"))
WORDS = SENTENCES["words"]
QUICK = RunConfig(model="mlp", sigma=1.0, batch=512, epochs=2.0)  # an audit of it takes seconds
REQUEST = AuditRequest(replace(QUICK, seed=1), "half_noise")


@dataclass(frozen=True)
class AuditResults:
    """An audit's request and its results so far."""

    run: Run | None  # None for the recorded example
    request: AuditRequest
    prepared: Prepared | None = None
    progress: tuple[Watched, ...] = ()
    stopped: Stopped | None = None
    measured: tuple[Measured, ...] = ()
    counted: Counted | None = None  # the newest
    scored: Scored | None = None
    traced: tuple[Traced, ...] = ()
    judged: Judged | None = None
    seconds: float | None = None

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
        """The charged mechanism, None if nothing is charged; the number of accepted steps is known last."""
        if self.prepared is None or not self.prepared.claimed:
            return None
        releases = self.finding("releases")
        charged = dict(releases.figures).get("charged") if releases else None
        before = Mechanism(tuple(Release(q, sigma, count) for q, sigma, count in self.prepared.claimed))
        if charged is None or charged == before.steps:
            return before
        after = self.request.by.claims(self.request.trained, int(charged))
        return after if after and after.steps == charged else None

    @property
    def shown(self) -> list[Measured]:
        """The findings with a lower bound of epsilon above 0, the largest first."""
        some = [each for each in self.measured if each.unbounded or each.epsilon]
        return sorted(some, key=lambda each: -float("inf") if each.unbounded else -(each.epsilon or 0.0))


def audit_results(store: Store, run: Run) -> AuditResults:
    """Read an audit from the store. Errors: ValueError if this version does not know its request."""
    return _results(run, run.request, [event for _, event in store.tail(run.id)])


@lru_cache(maxsize=1)
def example() -> AuditResults:
    """The recorded example; it has no scores and curves of canaries."""
    said = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    events = [event_from_json(AUDIT.name, TESTS.get(each.get("audit"), {}) | each) for each in said]
    return _results(None, REQUEST, events)


def _results(run: Run | None, request: AuditRequest, said: Sequence[object]) -> AuditResults:
    finished = last_of(said, Finished)
    return AuditResults(
        run,
        request,
        last_of(said, Prepared),
        all_of(said, Watched),
        last_of(said, Stopped),
        all_of(said, Measured),
        last_of(said, Counted),
        last_of(said, Scored),
        all_of(said, Traced),
        last_of(said, Judged),
        finished.seconds if finished else None,
    )


def is_estimate(found: Measured) -> bool:
    """True if its epsilon is no bound."""
    return found.evidence == Evidence.ESTIMATE


def expected_seconds(request: AuditRequest, past: Sequence[Run]) -> float | None:
    """Scale the latest audit of the same data and model that finished here; None without one."""
    steps = request.config.steps_of_epochs
    return scaled_seconds(past, request.config, lambda run: steps / run.last.steps)
