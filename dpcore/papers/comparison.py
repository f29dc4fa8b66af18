"""A printed number compared with ours: reproduced, different for a reason, or refuted."""

import statistics
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from dpcore.papers.entry import ROUNDING, Computed, PrintedClaim, Row, Trained
from dpcore.papers.records import Recorded, expected_seconds, recorded
from dpcore.papers.words import rounded_down, rounded_up
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Reading
from dpcore.privacy.report.numbers import nearest
from dpcore.runs.expected import duration
from dpcore.training.plan import plan


class Outcome(StrEnum):
    """Verdict on a printed number."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    REFUTED = "refuted"  # as a promise of privacy: the certified lower bound is larger
    UNTRAINED = "untrained"  # no run of it is recorded


@dataclass(frozen=True)
class Comparison:
    """An entry with our number and the verdict."""

    paper: str
    entry: Row
    ours: float | None  # None without a recorded run
    # Proven lower bound of the epsilon that the entry claims; None if it claims none.
    lower: float | None
    outcome: Outcome
    why: str
    record: Recorded | None = None

    @property
    def ours_text(self) -> str:
        """Our number in writing: a proven bound rounded up, an accuracy with its spread.

        Empty without a run.
        """
        if self.ours is None:
            return ""
        digits = self.entry.digits
        if isinstance(self.entry, Computed) and self.entry.bound:
            return rounded_up(self.ours, digits)
        number = nearest(self.ours, digits)
        if self.record is None or self.record.spread is None:
            return number
        return f"{number} ± {self.record.spread:.2f}"

    @property
    def lower_text(self) -> str:
        """The proven lower bound in writing, rounded down; empty if no epsilon is claimed."""
        return "" if self.lower is None else rounded_down(self.lower, self.entry.digits)


def compared(paper: str, entry: Row) -> Comparison:
    """Compare an entry with our computation, or with its recorded runs."""
    if isinstance(entry, Trained):
        return _with_runs(paper, entry)
    return _with_computation(paper, entry)


def _with_computation(paper: str, entry: Computed) -> Comparison:
    ours = entry.ours()
    close = abs(ours - entry.theirs) <= entry.tolerance
    lower = None if entry.claim is None else certified_lower(entry.claim)
    # A number that was rounded down is no false one.
    if lower is not None and entry.theirs + entry.half_unit < lower:
        outcome = Outcome.REFUTED
        why = _refutation(entry, lower, close)
    elif close:
        outcome = Outcome.REPRODUCED
        why = entry.note
    else:
        outcome = Outcome.DIFFERS
        why = entry.because
    return Comparison(paper, entry, ours, lower, outcome, why)


def certified_lower(claim: PrintedClaim) -> float:
    """Return the proven lower bound of epsilon, or 0 without one."""
    return certified(claim).lower or 0.0


@lru_cache(maxsize=1024)
def certified(claim: PrintedClaim) -> Reading:
    """Return the certified reading of a claim's mechanism."""
    return ACCOUNTANTS[CERTIFIED].spent(claim.mechanism, claim.delta)


def _refutation(entry: Computed, lower: float, close: bool) -> str:
    proven = f"the true epsilon is at least {rounded_down(lower, entry.digits)}."
    if close:
        found = f"The formula does give this number, but {proven}"
        return _sentences(found, entry.note)
    false = f"As a promise of privacy it is false: {proven}"
    return _sentences(false, entry.because, entry.note)


def _sentences(*parts: str) -> str:
    """Join those that are not empty."""
    return " ".join(part for part in parts if part)


def _with_runs(paper: str, entry: Trained) -> Comparison:
    record = recorded(paper, entry.config)
    if record is None:
        why = _expected_time(entry)
        return Comparison(paper, entry, None, None, Outcome.UNTRAINED, why)
    close = abs(record.mean - entry.theirs) <= entry.tolerance
    outcome = Outcome.REPRODUCED if close else Outcome.DIFFERS
    reasons = entry.because
    if reasons and not close:
        reasons = f"Possible reasons, untested: {reasons}"
    stands_in = record.data.name != entry.config.dataset
    why = _sentences(
        _difference(entry, record),
        record.data.note if stands_in else "",
        reasons,
        entry.note,
        _cost_of_accepted(entry, record),
    )
    return Comparison(paper, entry, record.mean, None, outcome, why, record)


def _expected_time(entry: Trained) -> str:
    seconds = expected_seconds(entry.config)
    if seconds:
        return f"Its training takes about {duration(seconds)}."
    return entry.note or "Nobody has timed its training."


def _difference(entry: Trained, record: Recorded) -> str:
    """Say how far ours is off, and how many seeds are missing; empty if there is nothing to say."""
    off = record.mean - entry.theirs
    differs = abs(off) > ROUNDING * abs(entry.theirs)
    all_seeds = len(record.runs) >= entry.seeds
    if all_seeds and not differs:
        return ""
    said = "Ours is the same"
    if differs:
        size = nearest(abs(off), 2)
        unit = " points" if record.runs[0].rmse is None else ""
        direction = "higher" if off > 0 else "lower"
        said = f"Ours is {size}{unit} {direction}"
    if all_seeds:
        return f"{said}."
    return f"{said}, with {len(record.runs)} of {entry.seeds} seeds."


def _cost_of_accepted(entry: Trained, record: Recorded) -> str:
    """Say what the accepted steps of simulated annealing alone would cost, as its paper charges.

    Empty for other runs.
    """
    accepted = [run.accepted for run in record.runs if run.accepted]
    if not accepted or record.epsilon is None:
        return ""
    count = round(statistics.fmean(accepted))
    planned = plan(entry.config)
    mechanism = planned.claimed(count)
    assert mechanism
    claimed = certified(PrintedClaim(mechanism, entry.config.delta)).value
    return (
        f"Of {planned.steps:,} proposals {count:,} were accepted. Charged alone they would cost"
        f" epsilon {nearest(claimed, 3)}, without a proof; all proposals cost at most"
        f" {rounded_up(record.epsilon)}."
    )
