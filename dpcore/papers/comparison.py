"""Their number beside ours, with a verdict: reproduced, different for a reason, or refuted by a
proof.
"""

import math
import statistics
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from dpcore.papers.entry import ROUNDING, Computed, Entry, PrintedClaim, Trained
from dpcore.papers.records import Recorded, expected_seconds, recorded
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Reading
from dpcore.privacy.report.numbers import nearest, outward
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
    entry: Entry
    ours: float | None  # None without a recorded run
    # Proven lower bound of the epsilon that the entry claims; None if it claims none.
    lower: float | None
    outcome: Outcome
    why: str
    record: Recorded | None = None

    @property
    def ours_text(self) -> str:
        """Our number in writing: a proven bound rounded up, an accuracy with its spread; "" without
        a run.
        """
        if self.ours is None:
            return ""
        if isinstance(self.entry, Computed) and self.entry.bound:
            return outward(self.ours, math.ceil, self.entry.digits)
        spread = self.record.spread if self.record else None
        return nearest(self.ours, self.entry.digits) + (
            "" if spread is None else f" ± {spread:.2f}"
        )

    @property
    def lower_text(self) -> str:
        """The proven lower bound in writing, rounded down; "" if the entry claims no epsilon."""
        return "" if self.lower is None else outward(self.lower, math.floor, self.entry.digits)


def compared(paper: str, entry: Entry) -> Comparison:
    """Compare an entry with our computation, or with its recorded runs."""
    if isinstance(entry, Trained):
        return _of_runs(paper, entry)
    assert isinstance(entry, Computed)
    ours = entry.ours()
    close = abs(ours - entry.theirs) <= entry.tolerance
    lower = None if entry.claim is None else certified_lower(entry.claim)
    # A number that was rounded down is no false one.
    if lower is not None and entry.theirs + entry.half_unit < lower:
        return Comparison(
            paper, entry, ours, lower, Outcome.REFUTED, _refutation(entry, lower, close)
        )
    if close:
        return Comparison(paper, entry, ours, lower, Outcome.REPRODUCED, entry.note)
    return Comparison(paper, entry, ours, lower, Outcome.DIFFERS, entry.because)


def certified_lower(claim: PrintedClaim) -> float:
    """Return the proven lower bound of epsilon, or 0 without one."""
    return certified(claim).lower or 0.0


@lru_cache(maxsize=1024)
def certified(claim: PrintedClaim) -> Reading:
    """Return the certified reading of a claim's mechanism."""
    return ACCOUNTANTS[CERTIFIED].spent(claim.mechanism, claim.delta)


def _refutation(entry: Computed, lower: float, close: bool) -> str:
    proven = f"the true epsilon is at least {outward(lower, math.floor, entry.digits)}."
    found = (
        "The formula does give this number, but"
        if close
        else "As a promise of privacy it is false:"
    )
    return " ".join(
        filter(None, (f"{found} {proven}", entry.because if not close else "", entry.note))
    )


def _of_runs(paper: str, entry: Trained) -> Comparison:
    record = recorded(paper, entry.config)
    if record is None:
        seconds = expected_seconds(entry.config)  # None without similar runs on record
        unknown = entry.note or "Nobody has timed its training."
        why = f"Its training takes about {duration(seconds)}." if seconds else unknown
        return Comparison(paper, entry, None, None, Outcome.UNTRAINED, why)
    close = abs(record.mean - entry.theirs) <= entry.tolerance
    outcome = Outcome.REPRODUCED if close else Outcome.DIFFERS
    caveats = (
        entry.because
        if close or not entry.because
        else f"Possible reasons, untested: {entry.because}"
    )
    other = record.data.note if record.data.name != entry.config.dataset else ""
    why = " ".join(
        filter(None, (_beside(entry, record), other, caveats, entry.note, _free(entry, record)))
    )
    return Comparison(paper, entry, record.mean, None, outcome, why, record)


def _beside(entry: Trained, record: Recorded) -> str:
    """Say how far ours is off, and how many seeds are recorded if more are wanted; maybe nothing."""
    off, seeds = record.mean - entry.theirs, len(record.runs)
    unit = "" if record.runs[0].rmse is not None else " points"
    size = nearest(abs(off), 2)
    said = (
        f"Ours is {size}{unit} {'higher' if off > 0 else 'lower'}"
        if abs(off) > ROUNDING * abs(entry.theirs)
        else ""
    )
    if seeds >= entry.seeds:
        return f"{said}." if said else ""
    return f"{said or 'Ours is the same'}, with {seeds} of {entry.seeds} seeds."


def _free(entry: Trained, record: Recorded) -> str:
    """Say what the accepted steps of simulated annealing alone would cost, as its paper charges; ""
    without them.
    """
    accepted = [run.accepted for run in record.runs if run.accepted]
    if not accepted or record.epsilon is None:
        return ""
    steps, count = plan(entry.config).steps, round(statistics.fmean(accepted))
    mechanism = plan(entry.config).claimed(count)
    assert mechanism
    claimed = certified(PrintedClaim(mechanism, entry.config.delta)).value
    return (
        f"Of {steps:,} proposals {count:,} were accepted. Charged alone they would cost epsilon"
        f" {nearest(claimed, 3)}, without a proof; all proposals cost at most"
        f" {outward(record.epsilon, math.ceil)}."
    )
