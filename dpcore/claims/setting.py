"""What a claim is about, made of what it says: q, sigma and the steps, in every reading; and what is missing."""

import math
from dataclasses import dataclass

from dpcore.claims.cases import Case, cases_of, rates_of
from dpcore.claims.claim import Claim
from dpcore.claims.left_out import delta_without, of_dropped
from dpcore.claims.samplers import (
    ADJACENCIES,
    BATCHES,
    Bounds,
    adjacency_of,
    mechanism_bounds,
    replaced_bounds,
    sampler_bounds,
)
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, plain
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.poisson import Poisson

PRESENT = ("zero_out", "add_remove")  # adjacencies under which an example is there, or is not
ONLY_LOWER = "Under {} adjacency only the lower bound holds: the upper one is proven for {}."
NO_BOUND = "What is proven for {} adjacency says nothing of {}."


@dataclass(frozen=True)
class Setting:
    """What is judged. A claim may leave open its rate, its steps and how long an epoch is: the bounds hold for all."""

    cases: tuple[Case, ...]  # one at least
    delta: float
    sampler: str
    adjacency: str

    @property
    def mechanism(self) -> Mechanism:
        """The most that may have been released: the largest rate, and the most steps at it."""
        return max((each.most for each in self.cases), key=lambda each: (each.releases[0].q, each.steps))

    @property
    def fewest(self) -> int:
        """The smallest number of steps that the claim may mean."""
        return min(each.fewest.steps for each in self.cases)

    @property
    def most(self) -> int:
        """The largest number of steps that the claim may mean."""
        return max(each.most.steps for each in self.cases)

    @property
    def rates(self) -> tuple[float, float]:
        """The least and the largest sampling rate of a step."""
        found = [release.q for each in self.cases for release in each.most.releases]
        return min(found), max(found)

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many steps an epoch may have; empty where that makes no difference."""
        if not SAMPLERS[self.sampler].by_epoch or len(self.mechanism.releases) > 1:
            return ()
        return tuple(sorted({each.epoch for each in self.cases}))

    @property
    def bounds(self) -> Bounds:
        """Proven bounds of epsilon: the least lower one and the largest upper one of all readings.

        Errors: ValueError or RuntimeError, a sentence, where a reading cannot be computed.
        """
        found = [self._of_case(each) for each in self.cases]
        last = max(found, key=lambda each: each.upper)
        return last._replace(lower=min(each.lower for each in found))

    def __str__(self) -> str:
        """In words, as it stands within a sentence."""
        steps = f"{self.most:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        word = "step" if self.most == 1 else "steps"
        lengths = " or ".join(f"{each:,}" for each in self.lengths)
        sigmas = _spread([release.sigma for each in self.cases for release in each.most.releases])
        return (
            f"{BATCHES[self.sampler]}, q = {_spread(list(self.rates))}, sigma = {sigmas}, {steps} {word}"
            f"{f', {lengths} an epoch' if lengths else ''}, delta = {plain(self.delta)} "
            f"and {ADJACENCIES[self.adjacency]} adjacency"
        )

    def _of_case(self, case: Case) -> Bounds:
        """Proven bounds of one reading, the lower one of the fewest steps, the upper one of the most."""
        if len(case.most.releases) > 1:
            return self._transferred(mechanism_bounds(case.most, self.sampler, self.delta))
        replaced = self.sampler == Poisson.name and self.adjacency == "replace_one"
        found = [self._at(case, steps, replaced) for steps in sorted({case.fewest.steps, case.most.steps})]
        lower = self._still_told(case) if case.left_out else found[0].lower
        both = found[-1]._replace(lower=min(lower, found[0].lower))
        return both if replaced else self._transferred(both)

    def _at(self, case: Case, steps: int, replaced: bool) -> Bounds:
        (each,) = case.most.releases
        if replaced:
            return replaced_bounds(each.q, each.sigma, steps, self.delta)
        return sampler_bounds(self.sampler, self._rate(case), each.sigma, steps, self.delta)

    def _still_told(self, case: Case) -> float:
        """A lower bound where examples may be left out of an epoch."""
        dropped = of_dropped(self.sampler, case.left_out, case.fewest.steps // case.epoch)
        delta = delta_without(self.delta, dropped)
        if delta >= 1:
            return 0.0
        (each,) = case.fewest.releases
        kept = sampler_bounds(self.sampler, self._rate(case), each.sigma, each.count, delta).lower
        return max(0.0, kept + dropped)

    def _rate(self, case: Case) -> float:
        """The rate that tells a sampler how long an epoch is, where it goes by epochs."""
        return 1 / case.epoch if SAMPLERS[self.sampler].by_epoch else case.most.releases[0].q

    def _transferred(self, own: Bounds) -> Bounds:
        """The bounds under the claim's adjacency, from those under the one that the sampler is accounted for.

        An example without a gradient changes no sum. So neighbours under zero-out are neighbours under replace-one, and
        a lower bound goes with them. Under add/remove the example's place is taken, or its batch is smaller: in a fixed
        order and with a place drawn for each example alone, sums are as if its gradient were 0 where all others have
        none. In a shuffle another batch than its own is the smaller one; the lower bound goes with it because it looks
        at the largest sum alone, whichever batch that is. With Poisson batches add/remove and zero-out are one.
        """
        proven = adjacency_of(self.sampler)
        poisson = self.sampler == "poisson" and self.adjacency in PRESENT
        if self.adjacency == proven or poisson:
            return own
        names = ADJACENCIES[self.adjacency], ADJACENCIES[proven]
        if proven in PRESENT:
            return own._replace(upper=math.inf, note=ONLY_LOWER.format(*names))
        return own._replace(lower=0.0, upper=math.inf, note=NO_BOUND.format(*names[::-1]))


def missing(claim: Claim) -> tuple[str, ...]:
    """What the claim would have to say, beside its epsilon, to be about a mechanism."""
    if claim.mechanism is not None:
        return () if claim.delta is not None else ("delta",)
    lacks = {
        "the sampling rate q, or the batch and the number of examples": not rates_of(claim),
        "the noise multiplier sigma": claim.sigma is None,
        "the number of steps or epochs": claim.steps is None and claim.epochs is None,
        "delta": claim.delta is None,
    }
    return tuple(name for name, lacking in lacks.items() if lacking)


def setting_of(claim: Claim) -> Setting:
    """What the claim is about; nothing is missing in it, and nothing contradicts. Poisson unless it says otherwise.

    Errors: ValueError where its epochs are more steps than can be counted.
    """
    assert claim.delta is not None
    sampler = claim.sampler or "poisson"
    return Setting(cases_of(claim, sampler), claim.delta, sampler, claim.adjacency or adjacency_of(sampler))


def _spread(values: list[float]) -> str:
    low, high = (nearest(each) for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
