"""What the canaries of a watched run show of everything together, and of each step."""

from collections.abc import Iterator

from dpcore.audit.bounds.families import NoiseFamily
from dpcore.audit.bounds.finding import Finding
from dpcore.audit.bounds.one_run import OneRunFinding, audit_one_run
from dpcore.audit.bounds.one_run_tradeoff import TradeoffFinding, audit_tradeoff
from dpcore.audit.bounds.per_step import PerStepFinding, audit_per_step
from dpcore.audit.bounds.two_run import TwoRunFinding, audit_two_run
from dpcore.audit.observed.watch import Watch
from dpcore.audit.verdict import claimed_band
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism

NONE_ASKED = "Nothing can be shown: no canaries were asked for."
NO_CLAIM = "Nothing can be shown of a claim: the settings are charged for nothing."


class CanaryOutcomes:
    """The findings of the canaries of one watched run."""

    def __init__(self, watch: Watch, claim: Mechanism | None) -> None:
        self._watch, self._claim = watch, claim
        self._confidence, self._delta = watch.request.confidence, watch.config.delta
        self._scores, self._inside = watch.scores.sums, watch.canaries.inside

    def each(self) -> Iterator[tuple[str, Finding]]:
        """Every audit of canaries by its name, and what it found; sentences where there are none."""
        if note := self._without():
            yield from self._empty(note)
            return
        yield "per_step", self._per_step()
        yield "one_run", self._one_run()
        yield "one_run_curve", self._one_run_curve()
        yield "in_out", self._in_out()

    def _without(self) -> str:
        if not len(self._scores):
            return self._watch.without_canaries or NONE_ASKED
        if self._claim is None:
            return NO_CLAIM
        return "" if self._watch.record.steps else NONE_ASKED

    def _empty(self, note: str) -> Iterator[tuple[str, Finding]]:
        given, count = {"confidence": self._confidence, "note": note}, len(self._scores)
        yield "per_step", PerStepFinding(scores=(0, 0), **given)
        yield "one_run", OneRunFinding(canaries=count, **given)
        yield "one_run_curve", TradeoffFinding(canaries=count, **given)
        yield "in_out", TwoRunFinding(scores=(0, 0), **given)

    def _per_step(self) -> Finding:
        assert self._claim
        return audit_per_step(*self._watch.scores.of_steps, self._claim, self._delta, confidence=self._confidence)

    def _one_run(self) -> Finding:
        _, claimed = claimed_band(self._claim, self._delta)
        return audit_one_run(self._scores, self._inside, self._delta, claimed=claimed, confidence=self._confidence)

    def _one_run_curve(self) -> Finding:
        assert self._claim
        band = tradeoff_bounds(self._claim)
        return audit_tradeoff(
            self._scores,
            self._inside,
            NoiseFamily(self._claim),
            self._delta,
            claimed=None if band.empty else band.lower,
            confidence=self._confidence,
        )

    def _in_out(self) -> Finding:
        inside, outside = self._scores[self._inside], self._scores[~self._inside]
        return audit_two_run(inside, outside, self._delta, independent=False, confidence=self._confidence)
