"""The setup of a claim: q, sigma and steps in all readings, and proven bounds of its epsilon."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from dpcore.claims.cases import Case, cases_of, rates_of
from dpcore.claims.claim import ADJACENCIES, Claim, own_adjacency, sampler_under
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.beside import Beside, Laplace, Other
from dpcore.privacy.ends import safe_pair
from dpcore.privacy.mechanism import Kind, Mechanism, Reading, Release
from dpcore.privacy.report.numbers import nearest, plain
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.selection.best_of import NumberOfRuns, best_of, delta_of_one

NOT_HERE = "No bounds are known here for {} with a changing q or sigma."
NO_CHOICE = (
    "The cost of choosing among runs is proven here for Poisson batches and add/remove alone."
)
PRESENT = ("zero_out", "add_remove")  # adjacencies under which an example is present or absent
ONLY_LOWER = "Under {} adjacency only the lower bound holds; the upper bound is proven for {}."
ALONE = "The upper bound beside other releases is proven for Poisson batches and one run alone."
NO_BOUND = "Bounds for {} adjacency do not carry over to {}."


@dataclass(frozen=True)
class Bounds:
    """Proven bounds of epsilon; an unknown upper bound is infinite. Two that cross are not kept.

    >>> Bounds(2.0, 1.0, Kind.CERTIFIED).upper
    inf
    """

    lower: float
    upper: float
    kind: Kind
    note: str = ""

    def __post_init__(self) -> None:
        lower, upper, note = safe_pair(self.lower, self.upper, self.note)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "note", note)


@lru_cache(maxsize=256)
def sampler_bounds(name: str, q: float, sigma: float, steps: int, delta: float) -> Bounds:
    """Bound epsilon after all steps, under the sampler's own adjacency; one epoch is round(1/q)
    steps.

    Poisson batches under replace-one adjacency are a separate sampler. Errors: ValueError for an
    unknown sampler or a value out of its range.

    >>> bounds = sampler_bounds("fixed_order", 0.01, 1.0, 100, 1e-5)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (4.377, 4.377)
    """
    return _of(sampler_of(name).curve(q, sigma, steps, delta).last)


@lru_cache(maxsize=256)
def mechanism_bounds(mechanism: Mechanism, sampler: str, delta: float) -> Bounds:
    """Bound epsilon of steps that differ; only Poisson batches have such bounds."""
    if sampler == Poisson.name:
        return _of(ACCOUNTANTS[CERTIFIED].spent(mechanism, delta))
    return Bounds(0.0, math.inf, Kind.CERTIFIED, NOT_HERE.format(sampler_of(sampler).phrase))


def _of(found: Reading) -> Bounds:
    return Bounds(found.lower or 0.0, found.value, found.kind, found.note)


def delta_without(delta: float, dropped: float) -> float:
    """Return the delta for a lower bound without dropping: README.md, Theorem 1; from 1 on there is
    no bound.
    """
    return delta * math.exp(min(-dropped, 700.0))


@dataclass(frozen=True)
class ClaimedSetup:
    """The judged setup; its bounds hold for all rates, steps and lengths of an epoch that the claim
    leaves open.
    """

    cases: tuple[Case, ...]  # at least one
    delta: float
    sampler: str
    adjacency: str
    runs: NumberOfRuns | None = None  # of which the best is published
    beside: tuple[Other, ...] = ()  # releases on the same data that are not Gaussian

    @property
    def mechanism(self) -> Mechanism:
        """The largest mechanism: the largest rate, and the most steps at it."""
        mechanisms = [each.most for each in self.cases]
        return max(mechanisms, key=lambda each: (each.releases[0].q, each.steps))

    @property
    def fewest(self) -> int:
        """The fewest steps that the claim may mean."""
        return min(each.fewest.steps for each in self.cases)

    @property
    def most(self) -> int:
        """The most steps that the claim may mean."""
        return max(each.most.steps for each in self.cases)

    @property
    def rates(self) -> tuple[float, float]:
        """The smallest and the largest sampling rate of a step."""
        found = [release.q for release in self._releases]
        return min(found), max(found)

    @property
    def _releases(self) -> list[Release]:
        """Those of the largest mechanism of each reading."""
        found: list[Release] = []
        for case in self.cases:
            found += case.most.releases
        return found

    @property
    def lengths(self) -> tuple[int, ...]:
        """The possible lengths of an epoch; empty if they do not matter."""
        if not sampler_of(self.sampler).by_epoch or len(self.mechanism.releases) > 1:
            return ()
        return tuple(sorted({each.epoch for each in self.cases}))

    @property
    def neighbours(self) -> str:
        """The adjacency in words, with the number of records if neighbours differ by several."""
        _, of, records = sampler_of(self.sampler).adjacency.partition(" of ")
        return f"{ADJACENCIES[self.adjacency]} adjacency{of}{records}"

    def proven_bounds(self) -> Bounds:
        """Return the smallest lower and the largest upper bound of all readings.

        Errors: ValueError or RuntimeError, a sentence, if a reading cannot be computed.
        """
        if self.beside and (self.sampler != Poisson.name or self.runs is not None):
            steps = replace(self, beside=()).proven_bounds()
            return replace(steps, upper=math.inf, note=ALONE)
        if self.runs is not None:
            return self._of_best(self.runs)
        found = [self._of_case(each) for each in self.cases]
        lower = min(each.lower for each in found)
        last = max(found, key=lambda each: each.upper)
        return replace(last, lower=lower)

    def _of_best(self, runs: NumberOfRuns) -> Bounds:
        """Bound the best of several runs: from below by one run, since a score may be chance."""
        seen = delta_of_one(runs, self.delta)
        one = Bounds(0.0, math.inf, Kind.CERTIFIED)
        if seen < 1:
            one = replace(self, runs=None, delta=seen).proven_bounds()
        if self.sampler != Poisson.name or self.adjacency not in PRESENT:
            return replace(one, upper=math.inf, note=NO_CHOICE)
        best = []
        for case in self.cases:
            best.append(best_of(runs, [case.most], ACCOUNTANTS[CERTIFIED], self.delta))
        worst = max(best, key=lambda each: each.value)
        reason = worst.note if math.isinf(worst.value) else ""
        notes: list[str] = []
        for note in (one.note, reason, runs.condition):
            if note and note not in notes:
                notes.append(note)
        return replace(one, upper=worst.value, note=" ".join(notes))

    def __str__(self) -> str:
        """Describe the setup within a sentence."""
        batches = sampler_of(self.sampler).phrase
        if ":" in self.sampler:
            batches = f"{batches} ({self.sampler})"
        rates = _spread(list(self.rates))
        sigmas = _spread([release.sigma for release in self._releases])
        steps = f"{self.most:,}"
        if self.fewest != self.most:
            steps = f"{self.fewest:,} to {steps}"
        word = "step" if self.most == 1 else "steps"
        text = f"{batches}, q = {rates}, sigma = {sigmas}, {steps} {word}"
        if self.lengths:
            lengths = " or ".join(f"{each:,}" for each in self.lengths)
            text += f", {lengths} an epoch"
        text += f", delta = {plain(self.delta)} and {self.neighbours}"
        if self.runs is not None:
            text += f", {self.runs.phrase}"
        return text + self._others_in_words

    @property
    def _others_in_words(self) -> str:
        count = sum(each.count for each in self.beside)
        if not count:
            return ""
        scales = _spread([each.scale for each in self.beside if isinstance(each, Laplace)])
        releases = "a Laplace release" if count == 1 else f"{count:,} Laplace releases"
        return f", beside {releases} of scale {scales}"

    def _of_case(self, case: Case) -> Bounds:
        """Bound one reading, from below by the fewest steps and from above by the most."""
        if self.beside:
            return self._transferred(self._with_others(case))
        first, *others = case.most.releases
        if others:
            return self._transferred(mechanism_bounds(case.most, self.sampler, self.delta))
        name = sampler_under(self.adjacency, self.sampler)
        rate = self._rate(case)
        fewest = sampler_bounds(name, rate, first.sigma, case.fewest.steps, self.delta)
        most = sampler_bounds(name, rate, first.sigma, case.most.steps, self.delta)
        lower = fewest.lower
        if case.left_out:
            lower = min(lower, self._still_told(case))
        both = replace(most, lower=lower)
        if name != self.sampler:
            return both
        return self._transferred(both)

    def _with_others(self, case: Case) -> Bounds:
        """Bound one reading beside releases that are not Gaussian, in one product."""
        accountant = Beside(self.beside)
        most = _of(accountant.spent(case.most, self.delta))
        if case.fewest == case.most:
            return most
        fewest = accountant.spent(case.fewest, self.delta)
        return replace(most, lower=fewest.lower or 0.0)

    def _still_told(self, case: Case) -> float:
        """Return a lower bound if an epoch may leave examples out."""
        epochs = case.fewest.steps // case.epoch
        dropped = sampler_of(self.sampler).log_chance_kept(case.left_out, epochs)
        delta = delta_without(self.delta, dropped)
        if delta >= 1:
            return 0.0
        (each,) = case.fewest.releases
        kept = sampler_bounds(self.sampler, self._rate(case), each.sigma, each.count, delta).lower
        return max(0.0, kept + dropped)

    def _rate(self, case: Case) -> float:
        """Return the sampler's rate, one over the length of an epoch if it goes by epochs."""
        if sampler_of(self.sampler).by_epoch:
            return 1 / case.epoch
        return case.most.releases[0].q

    def _transferred(self, own: Bounds) -> Bounds:
        """Return the bounds under the claim's adjacency, from those under the sampler's own:
        README.md, section 2.
        """
        proven = own_adjacency(self.sampler)
        alike = sampler_of(self.sampler).absent_is_zero and self.adjacency in PRESENT
        if self.adjacency == proven or alike:
            return own
        names = ADJACENCIES[self.adjacency], ADJACENCIES[proven]
        if proven in PRESENT:
            return replace(own, upper=math.inf, note=ONLY_LOWER.format(*names))
        return replace(own, lower=0.0, upper=math.inf, note=NO_BOUND.format(*names[::-1]))


def missing(claim: Claim) -> tuple[str, ...]:
    """Name all that a claim lacks for a mechanism, beside epsilon."""
    if claim.mechanism is not None:
        if claim.delta is None:
            return ("delta",)
        return ()
    lacks = {
        "the sampling rate q, or the batch and the number of examples": not rates_of(claim),
        "the noise multiplier sigma": claim.sigma is None,
        "the number of steps or epochs": claim.steps is None and claim.epochs is None,
        "delta": claim.delta is None,
    }
    return tuple(name for name, lacking in lacks.items() if lacking)


def setup_of(claim: Claim) -> ClaimedSetup:
    """Return the setup of a complete claim without contradictions; Poisson unless the claim says
    otherwise.

    Errors: ValueError if its epochs are too many steps.
    """
    assert claim.delta is not None
    sampler = claim.sampler or Poisson.name
    adjacency = claim.adjacency or own_adjacency(sampler)
    cases = cases_of(claim, sampler)
    return ClaimedSetup(cases, claim.delta, sampler, adjacency, claim.runs, claim.beside or ())


def _spread(values: list[float]) -> str:
    low, high = nearest(min(values)), nearest(max(values))
    if low == high:
        return low
    return f"{low} to {high}"
