"""Their number beside ours, and what that says: reproduced, different for a reason, or refuted by a proof."""

import math
import statistics
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from dpcore.papers.entry import ROUNDING, Computed, Entry, PrintedClaim, Trained
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Reading
from dpcore.privacy.report.numbers import nearest, outward
from dpcore.training.plan import plan


class Outcome(StrEnum):
    """The outcome of recomputing a printed number."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    REFUTED = "refuted"  # as a promise of privacy: the certified lower bound lies above it
    UNTRAINED = "untrained"  # no run of it has been recorded


@dataclass(frozen=True)
class Comparison:
    """An entry with what comes out here."""

    paper: str
    entry: Entry
    ours: float | None  # None where no run has been recorded
    lower: float | None  # proven lower bound of the epsilon that the entry claims; None where it claims none
    outcome: Outcome
    why: str
    record: Recorded | None = None

    @property
    def ours_text(self) -> str:
        """Ours as it is read: a proven bound rounded up, an accuracy with its spread over seeds; "" without a run."""
        if self.ours is None:
            return ""
        if isinstance(self.entry, Computed) and self.entry.bound:
            return outward(self.ours, math.ceil, self.entry.digits)
        spread = self.record.spread if self.record else None
        return nearest(self.ours, self.entry.digits) + ("" if spread is None else f" ± {spread:.2f}")

    @property
    def lower_text(self) -> str:
        """The proven lower bound as it is read, rounded down; "" where the entry claims no epsilon."""
        return "" if self.lower is None else outward(self.lower, math.floor, self.entry.digits)


def compared(paper: str, entry: Entry) -> Comparison:
    """The entry recomputed, or with its recorded runs."""
    if isinstance(entry, Trained):
        return _of_runs(paper, entry)
    if not isinstance(entry, Computed):
        raise TypeError(f"Expected {type(entry).__name__} to be computed or trained.")
    ours = entry.ours()
    close = abs(ours - entry.theirs) <= entry.tolerance
    lower = None if entry.claim is None else certified_lower(entry.claim)
    if lower is not None and entry.theirs + entry.half_unit < lower:  # a number that was rounded down is no false one
        return Comparison(paper, entry, ours, lower, Outcome.REFUTED, _refutation(entry, lower, close))
    if close:
        return Comparison(paper, entry, ours, lower, Outcome.REPRODUCED, entry.note)
    return Comparison(paper, entry, ours, lower, Outcome.DIFFERS, entry.because)


def certified_lower(claim: PrintedClaim) -> float:
    """The proven lower bound of epsilon; 0 where nothing is proven."""
    return _certified(claim).lower or 0.0


@lru_cache(maxsize=1024)
def _certified(claim: PrintedClaim) -> Reading:
    return ACCOUNTANTS[CERTIFIED].curve(claim.mechanism, claim.mechanism.steps, claim.delta).last


def _refutation(entry: Computed, lower: float, close: bool) -> str:
    proven = f"at least {outward(lower, math.floor, entry.digits)} is proven, so this is not kept"
    found = "The formula does give this number, but" if close else "As a promise of privacy:"
    return " ".join(filter(None, (f"{found} {proven}.", entry.because if not close else "", entry.note)))


def _of_runs(paper: str, entry: Trained) -> Comparison:
    record = recorded(paper, entry.config)
    if record is None:
        return Comparison(paper, entry, None, None, Outcome.UNTRAINED, "Not trained yet.")
    close = abs(record.mean - entry.theirs) <= entry.tolerance
    outcome = Outcome.REPRODUCED if close else Outcome.DIFFERS
    caveats = entry.because if close or not entry.because else f"Possible reasons, untested: {entry.because}"
    why = " ".join(filter(None, (_beside(entry, record), caveats, entry.note, _free(entry, record))))
    return Comparison(paper, entry, record.mean, None, outcome, why, record)


def _beside(entry: Trained, record: Recorded) -> str:
    """By how much ours is off, and how many seeds are recorded where more are asked for; "" where neither is to say."""
    off, seeds = record.mean - entry.theirs, len(record.runs)
    unit = "" if record.runs[0].rmse is not None else " points"
    size = nearest(abs(off), 2)
    said = f"Ours is {size}{unit} {'higher' if off > 0 else 'lower'}" if abs(off) > ROUNDING * abs(entry.theirs) else ""
    if seeds >= entry.seeds:
        return f"{said}." if said else ""
    return f"{said or 'Ours is the same'}, with {seeds} of {entry.seeds} seeds."


def _free(entry: Trained, record: Recorded) -> str:
    """The cost of the accepted steps of simulated annealing alone, as its paper charges; "" without it."""
    accepted = [run.accepted for run in record.runs if run.accepted]
    if not accepted or record.epsilon is None:
        return ""
    steps, count = plan(entry.config).steps, round(statistics.fmean(accepted))
    mechanism = plan(entry.config).claimed(count)
    assert mechanism
    claimed = _certified(PrintedClaim(mechanism, entry.config.delta)).value
    return (
        f"Of {steps:,} proposals {count:,} were accepted: charged alone they would cost epsilon {nearest(claimed, 3)}, "
        f"for which there is no proof; all of them cost {outward(record.epsilon, math.ceil)} at most."
    )
