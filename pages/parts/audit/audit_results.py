"""What an audit has found so far, from its events."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.events import Counted, Finished, Judged, Measured, Prepared, Scored, Stopped, Traced, Watched
from dpcore.audit.request import AuditRequest
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from pages.parts.jobs import all_of, last_of, scaled_seconds


@dataclass(frozen=True)
class AuditResults:
    """An audit: what was asked for, and what was found until now."""

    run: Run
    request: AuditRequest
    prepared: Prepared | None = None
    watched: Watched | None = None  # the newest
    stopped: Stopped | None = None
    measured: tuple[Measured, ...] = ()
    counted: Counted | None = None  # the newest
    scored: Scored | None = None
    traced: tuple[Traced, ...] = ()
    judged: Judged | None = None
    seconds: float | None = None

    @property
    def failed(self) -> tuple[str, ...]:
        """The audits that reject what is claimed; none before all are there."""
        return self.judged.failed if self.judged else ()

    @property
    def p_values(self) -> dict[str, float]:
        """By audit, corrected for their number; empty before all are there."""
        return dict(self.judged.p_values) if self.judged else {}

    def finding(self, audit: str) -> Measured | None:
        """The finding of an audit, if it is there already."""
        return next((each for each in self.measured if each.audit == audit), None)

    def trace(self, audit: str) -> Traced | None:
        """The ROC curve of an audit, if there is one."""
        return next((each for each in self.traced if each.audit == audit), None)

    @property
    def claim(self) -> Mechanism | None:
        """What is charged, once all is known; None where nothing is.

        A trainer that charges the steps that it accepted is charged for as many as it said in the end.
        """
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
        """Findings with a lower bound of epsilon above 0, the largest first."""
        some = [each for each in self.measured if each.unbounded or each.epsilon]
        return sorted(some, key=lambda each: -float("inf") if each.unbounded else -(each.epsilon or 0.0))


def audit_results(store: Store, run: Run) -> AuditResults:
    """What the store has of an audit; ValueError where this version does not know what was asked for."""
    said: Sequence[object] = [event for _, event in store.tail(run.id)]
    finished = last_of(said, Finished)
    return AuditResults(
        run,
        run.request,
        last_of(said, Prepared),
        last_of(said, Watched),
        last_of(said, Stopped),
        all_of(said, Measured),
        last_of(said, Counted),
        last_of(said, Scored),
        all_of(said, Traced),
        last_of(said, Judged),
        finished.seconds if finished else None,
    )


def is_estimate(found: Measured) -> bool:
    """Whether its epsilon is no bound."""
    return found.evidence == Evidence.ESTIMATE


def expected_seconds(request: AuditRequest, past: Sequence[Run]) -> float | None:
    """By the latest audit of these data with this model that has finished here; None where there is none."""
    steps = request.config.steps_of_epochs
    return scaled_seconds(past, request.config, lambda run: steps / run.last.steps)
