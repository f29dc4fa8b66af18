"""The same epsilon with less noise: what a tighter count allows, at the epsilon that a looser one promises."""

from dataclasses import dataclass
from math import inf

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import Answer, sigma_for
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.schedule import CONSTANT, Recipe
from dpcore.privacy.types import Reading


@dataclass(frozen=True)
class SameEpsilon:
    """An accountant's promise at one sigma, and the sigma at which each of the others still makes it."""

    sigma: float
    promised_by: str
    promise: Reading
    answers: tuple[Answer, ...]


def same_epsilon(
    q: float,
    sigma: float,
    steps: int,
    delta: float,
    *,
    promised_by: str = "moments",
    accountants: tuple[str, ...] = ("gdp", CERTIFIED),
    recipe: Recipe = CONSTANT,
) -> SameEpsilon:
    """The (first) sigma at which each of `accountants` gives the epsilon that `promised_by` gives at `sigma`.

    Source: Bu, Dong, Long and Su 2020, arXiv 1911.11607, equations (3.3) and (3.4), for `gdp`: there delta(epsilon)
    of the central limit is set equal to that of the moments accountant. The promise is kept only where the accountant
    that answers is a bound, which the central limit is not. Errors: ValueError for bad input, or no finite promise.

    >>> same = same_epsilon(256 / 60000, 1.3, 4687, 1e-5)
    >>> [(answer.accountant, round(answer.value, 2)) for answer in same.answers]
    [('gdp', 1.06), ('pld', 1.09)]
    """
    check.one_of(ACCOUNTANTS, promised_by=promised_by)
    check.delta(delta=delta)
    mechanism = recipe.mechanism(q, sigma, steps)
    promise = ACCOUNTANTS[promised_by].curve(mechanism, steps, delta).last
    epsilon = promise.value
    if not 0 < epsilon < inf:
        raise ValueError(f"Expected promised_by={promised_by!r} to promise an epsilon above 0; it gives {epsilon:g}.")
    answers = [
        sigma_for(EpsilonTarget(epsilon, delta), q, steps, accountant=name, recipe=recipe) for name in accountants
    ]
    return SameEpsilon(sigma, promised_by, promise, tuple(answers))
