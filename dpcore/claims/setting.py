"""What a claim is about, made of what it says: q, sigma and the steps; what is missing, and what contradicts what."""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from dpcore.claims.claim import Claim
from dpcore.claims.samplers import (
    ADJACENCIES,
    BATCHES,
    Bounds,
    adjacency_of,
    mechanism_bounds,
    replaced_bounds,
    sampler_bounds,
)
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.numbers import epochs_of, nearest, plain
from dpcore.privacy.sampling import steps_of_epoch
from dpcore.privacy.sampling.poisson import Poisson

NEAR = 1e-9  # of a float's own rounding
COARSE = 0.05  # a rate that is off by more has not been rounded
PRESENT = ("zero_out", "add_remove")  # adjacencies under which an example is there, or is not
ONLY_LOWER = "Under {} adjacency only the lower bound holds: the upper one is proven for {}."
NO_BOUND = "What is proven for {} adjacency says nothing of {}."


@dataclass(frozen=True)
class Setting:
    """What is judged. Epochs leave open how many steps they are: the bounds hold for all from `fewest` to `most`."""

    mechanism: Mechanism  # its steps are the most
    fewest: int
    delta: float
    sampler: str
    adjacency: str

    @property
    def most(self) -> int:
        """The largest number of steps that the claim may mean."""
        return self.mechanism.steps

    @property
    def step(self) -> Release | None:
        """One of the steps; None where they are not all alike."""
        return self.mechanism.releases[0] if len(self.mechanism.releases) == 1 else None

    @property
    def bounds(self) -> Bounds:
        """Proven bounds of epsilon, the lower one of the fewest steps, the upper one of the most."""
        each = self.step
        if each is None:
            return self._transferred(mechanism_bounds(self.mechanism, self.sampler, self.delta))
        replaced = self.sampler == Poisson.name and self.adjacency == "replace_one"
        bounds = replaced_bounds if replaced else partial(sampler_bounds, self.sampler)
        found = [bounds(each.q, each.sigma, steps, self.delta) for steps in sorted({self.fewest, self.most})]
        both = found[-1]._replace(lower=found[0].lower)
        return both if replaced else self._transferred(both)

    def __str__(self) -> str:
        """In words, as it stands within a sentence."""
        steps = f"{self.most:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        word = "step" if self.most == 1 else "steps"
        rates = _spread([each.q for each in self.mechanism.releases])
        sigmas = _spread([each.sigma for each in self.mechanism.releases])
        return (
            f"{BATCHES[self.sampler]}, q = {rates}, sigma = {sigmas}, {steps} {word}, delta = {plain(self.delta)} "
            f"and {ADJACENCIES[self.adjacency]} adjacency"
        )

    def _transferred(self, own: Bounds) -> Bounds:
        """The bounds under the claim's adjacency, from those under the one that the sampler is accounted for.

        An example without a gradient changes no sum. So neighbours under zero-out release what some neighbours under
        add/remove do, whose numbers of batches are the same, and some under replace-one: a lower bound goes with them.
        With Poisson batches all neighbours under add/remove are like that, so that the upper bound goes with them too.
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
        "the sampling rate q, or the batch and the number of examples": rate_of(claim) is None,
        "the noise multiplier sigma": claim.sigma is None,
        "the number of steps or epochs": claim.steps is None and claim.epochs is None,
        "delta": claim.delta is None,
    }
    return tuple(name for name, lacking in lacks.items() if lacking)


def rate_of(claim: Claim) -> float | None:
    """The sampling rate: of batch and examples, which are exact, or as it is given.

    >>> rate_of(Claim(q=0.0043, batch=256, examples=60_000))
    0.004266666666666667
    """
    if claim.batch is not None and claim.examples is not None:
        return min(claim.batch / claim.examples, 1.0)
    return claim.q


def clashes(claim: Claim) -> tuple[str, ...]:
    """Sentences about numbers of the claim that do not fit one another.

    >>> clashes(Claim(q=0.01, batch=256, examples=60_000))
    ('A batch of 256 of 60,000 examples is q = 0.004267, and 0.01 is claimed.',)
    """
    return (*_rate_clash(claim), *_steps_clash(claim), *_mechanism_clash(claim))


def setting_of(claim: Claim) -> Setting:
    """What the claim is about; nothing is missing in it, and nothing contradicts. Poisson unless it says otherwise.

    Errors: ValueError where its epochs are more steps than can be counted.
    """
    assert claim.delta is not None
    sampler = claim.sampler or "poisson"
    adjacency = claim.adjacency or adjacency_of(sampler)
    if claim.mechanism is not None:
        return Setting(claim.mechanism, claim.mechanism.steps, claim.delta, sampler, adjacency)
    q, sigma = rate_of(claim), claim.sigma
    assert q is not None
    assert sigma is not None
    fewest, most = steps_of(claim, q, sampler)
    return Setting(Mechanism.constant(q, sigma, most), fewest, claim.delta, sampler, adjacency)


def steps_of(claim: Claim, q: float, sampler: str) -> tuple[int, int]:
    """The fewest and the most steps that the claim may mean.

    Epochs of Poisson batches are 1/q steps each, rounded down or up epoch by epoch; all others have whole epochs.

    >>> steps_of(Claim(epochs=60.0), 256 / 60_000, "poisson")
    (14040, 14100)
    """
    if claim.steps is not None:
        return claim.steps, claim.steps
    assert claim.epochs is not None
    if sampler != "poisson":
        low = high = steps_of_epoch(q)
    else:
        low, high = math.floor(1 / q + NEAR), math.ceil(1 / q - NEAR)
    most = math.ceil(claim.epochs * high - NEAR)
    if most > MAX_STEPS:
        raise ValueError(f"Expected epochs={claim.epochs!r} to be at most {MAX_STEPS:,} steps.")
    return max(1, min(most, math.floor(claim.epochs * low + NEAR))), max(1, most)


def _rate_clash(claim: Claim) -> tuple[str, ...]:
    if claim.batch is None or claim.examples is None:
        return ()
    size = f"A batch of {claim.batch:,} of {claim.examples:,} examples"
    if claim.batch > claim.examples:
        return (f"{size} is more than there are.",)
    rate = claim.batch / claim.examples
    if claim.q is None or rounds_to(rate, claim.q):
        return ()
    return (f"{size} is q = {nearest(rate)}, and {plain(claim.q)} is claimed.",)


def _steps_clash(claim: Claim) -> tuple[str, ...]:
    q = rate_of(claim)
    if claim.steps is None or claim.epochs is None or q is None:
        return ()
    low, high = claim.epochs * math.floor(1 / q + NEAR) - 1, claim.epochs * math.ceil(1 / q - NEAR) + 1
    if low <= claim.steps <= high:
        return ()
    length = epochs_of(claim.epochs)
    return (f"At q = {nearest(q)}, {length} are {claim.epochs / q:,.0f} steps, and {claim.steps:,} are claimed.",)


def _mechanism_clash(claim: Claim) -> tuple[str, ...]:
    if claim.mechanism is None or claim.steps in (None, claim.mechanism.steps):
        return ()
    return (f"What was released are {claim.mechanism.steps:,} steps, and {claim.steps:,} are claimed.",)


def rounds_to(value: float, shown: float) -> bool:
    """Whether a number may be shown like this, at as many digits as there are; one digit is too few for most.

    >>> rounds_to(256 / 60_000, 0.0043), rounds_to(256 / 60_000, 0.0042), rounds_to(512 / 60_000, 0.01)
    (True, False, False)
    """
    unit = 10.0 ** int(Decimal(repr(shown)).as_tuple().exponent)
    return abs(value - shown) <= min(unit / 2, COARSE * value) + NEAR * value


def _spread(values: list[float]) -> str:
    low, high = min(values), max(values)
    return nearest(low) if low == high else f"{nearest(low)} to {nearest(high)}"
