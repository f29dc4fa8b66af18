"""The public library: every name that `import dpcore` gives; docs/api.md is made from it.

`dpcore/__init__.py` loads it when a name is first used, and `dpcore/__init__.pyi` tells its types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcore import check, extras
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Accountant, TradeoffCurve
from dpcore.privacy.beside import Beside, Other, Pipeline
from dpcore.privacy.calibration import solve as questions
from dpcore.privacy.calibration.for_sampler import sigma_for_sampler, steps_for_sampler
from dpcore.privacy.calibration.least_delta import least_delta
from dpcore.privacy.calibration.solve import Answer
from dpcore.privacy.calibration.targets import (
    ALL_PAIRS_FROM,
    AdvantageTarget,
    EpsilonTarget,
    ErrorTarget,
    MuTarget,
    Target,
)
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import advantage as advantage_of
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.sampling.drawn import Drawn
from dpcore.privacy.schedule import CONSTANT, Recipe
from dpcore.privacy.selection.best_of import NumberOfRuns, read_runs
from dpcore.privacy.selection.best_of import best_of as best_of_runs

if TYPE_CHECKING:
    from dpcore.claims import Claim, ClaimVerdict
    from dpcore.training.config import RunConfig
    from dpcore.training.events import Event

POISSON = Poisson.name
SEVERAL = "The text has {} runs: judge each of `dpcore.claims.read(text).runs`."


def epsilon(
    mechanism: Mechanism | Pipeline,
    delta: float,
    *,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
    best_of: int | str | None = None,
) -> Reading:
    """Epsilon of the whole mechanism at `delta`, in (0, 1), with its kind.

    `accountant` is an id of `ACCOUNTANTS`; the default is certified: a proven lower and upper
    bound. `sampler` is an id of `SAMPLERS`, with its numbers as in "poisson_group:4"; other batches
    than Poisson's have proven bounds of their own. `best_of` is a number of runs, or its law as in
    "geometric:10", of which the best is published. Releases beside the steps that are not Gaussian
    are added to the mechanism. Errors: ValueError that names the argument. Source: that of the
    accountant, or of the sampler; dpcore/privacy/beside/README.md.

    >>> mechanism = Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
    >>> print(epsilon(mechanism, delta=1e-5))
    0.946 to 0.949 (proven from both sides)
    >>> print(epsilon(mechanism, delta=1e-5, accountant="rdp"))
    at most 1.04 (proven upper bound)
    >>> float(epsilon(mechanism, delta=1e-5, best_of="geometric:10")) < 1.5
    True
    >>> from dpcore import Laplace
    >>> print(epsilon(mechanism + Laplace(scale=2.0), delta=1e-5))
    1.40 to 1.41 (proven from both sides)
    """
    steps, counted = _counted(mechanism, accountant, sampler)
    runs = _runs(best_of, sampler)
    if runs is None:
        return counted.spent(steps, delta)
    if isinstance(mechanism, Pipeline):
        raise ValueError("Expected no best_of beside releases that are not Gaussian: unproven.")
    return best_of_runs(runs, [steps], counted, delta)


def delta(
    mechanism: Mechanism | Pipeline,
    epsilon: float,
    *,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
) -> Reading:
    """The smallest delta with (epsilon, delta)-DP of the whole mechanism, in [0, 1].

    `epsilon` is 0 or more; the other arguments are those of `epsilon`. Deltas below 1e-20 count as
    1e-20. Errors: ValueError that names the argument. Source: as `epsilon`; each end was measured.

    >>> print(delta(Mechanism.constant(q=1.0, sigma=2.0, steps=4), epsilon=1.0))  # 1-GDP: 0.12694
    0.126 to 0.127 (proven from both sides)
    """
    steps, counted = _counted(mechanism, accountant, sampler)
    return least_delta(counted, steps, epsilon)


def tradeoff(
    mechanism: Mechanism | Pipeline, *, accountant: str = CERTIFIED, sampler: str = POISSON
) -> TradeoffCurve:
    """The trade-off function of the whole mechanism: least error beta at each error alpha.

    alpha is an attacker's type I error, beta the type II error. `.lower` is the curve that is
    promised, None without one, and `.upper` a proven curve above the exact one, if the accountant
    has it; `.kind` and `.note` say what they are worth. Both have `beta(alpha)` and `power(alpha)`
    of (n,) errors in [0, 1]. Errors: ValueError that names the argument. Source: Dong, Roth, Su
    2019, arXiv 1905.02383.

    >>> found = tradeoff(Mechanism.constant(q=1.0, sigma=2.0, steps=4))  # exactly 1-GDP
    >>> float(found.lower.beta(0.05).round(3)), float(found.upper.beta(0.05).round(3))
    (0.74, 0.74)
    """
    steps, counted = _counted(mechanism, accountant, sampler)
    return counted.tradeoff(steps, ALL_PAIRS_FROM)


def advantage(
    mechanism: Mechanism | Pipeline, *, accountant: str = CERTIFIED, sampler: str = POISSON
) -> Reading:
    """The largest true-positive less false-positive rate of any attacker, in [0, 1].

    It is delta(0), the total variation distance. Errors: ValueError that names the argument.
    Source: Dong, Roth, Su 2019, arXiv 1905.02383, Proposition 2.12 at epsilon = 0.

    >>> print(advantage(Mechanism.constant(q=1.0, sigma=2.0, steps=4)))  # 2 Phi(1/2) - 1 = 0.38292
    0.382 to 0.383 (proven from both sides)
    """
    found = tradeoff(mechanism, accountant=accountant, sampler=sampler)
    lower = None if found.upper is None else advantage_of(found.upper)
    upper = 1.0 if found.lower is None else advantage_of(found.lower)
    return Reading(upper, lower, found.kind, found.note)


def beta(
    mechanism: Mechanism | Pipeline,
    alpha: float,
    *,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
) -> Reading:
    """The least type II error of any attacker whose type I error is `alpha`, in [0, 1].

    A large beta protects, so that its safe side, as a float, is the lower end. Errors: ValueError
    that names the argument. Source: Dong, Roth, Su 2019, arXiv 1905.02383, Definition 2.1.

    >>> mechanism = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP: 0.74051
    >>> print(beta(mechanism, alpha=0.05))
    0.740 to 0.741 (proven from both sides)
    >>> print(beta(mechanism, alpha=0.05, accountant="rdp"))
    at least 0.649 (proven lower bound)
    """
    check.in_range(0, 1, alpha=alpha)
    found = tradeoff(mechanism, accountant=accountant, sampler=sampler)
    least = 0.0 if found.lower is None else float(found.lower.beta(alpha))
    if not found.kind.is_bound:
        return Reading(least, None, found.kind, found.note, larger_is_safer=True)
    most = 1 - alpha if found.upper is None else float(found.upper.beta(alpha))
    return Reading(most, least, found.kind, found.note, larger_is_safer=True)


def calibrate_sigma(
    *,
    q: float,
    steps: int,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    mu: float | None = None,
    spent: Mechanism | Pipeline | None = None,
    best_of: int | str | None = None,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The smallest noise multiplier sigma, from 0.01 to 1000, that keeps one target.

    The target is `epsilon` at `delta`, an `advantage`, the error `beta` at the error `alpha`, or
    `mu` for errors of at least `delta`. `q` in (0, 1] is the sampling rate, `steps` the number T of
    releases. `spent` was released before on the same data and is counted in the same product.
    `best_of`, `accountant` and `sampler` are those of `epsilon`; `recipe` lets sigma change. The
    answer has `value`, to six digits, and `reading`, its measured cost. Errors: ValueError for a
    bad argument, or a target out of reach, with the way out. Source: a search over measured costs;
    the answer never overshoots.

    >>> answer = calibrate_sigma(q=0.01, steps=10_000, epsilon=3.0, delta=1e-5)
    >>> round(answer.value, 2), float(answer.reading) <= 3
    (1.57, True)
    >>> first = Mechanism.constant(q=0.01, sigma=2.0, steps=5_000)
    >>> second = calibrate_sigma(q=0.01, steps=5_000, epsilon=3.0, delta=1e-5, spent=first)
    >>> whole = first + Mechanism.constant(q=0.01, sigma=second.value, steps=5_000)
    >>> second.reading == ACCOUNTANTS["pld"].spent(whole, 1e-5), 2.99 < float(second.reading) <= 3
    (True, True)
    """
    target = _target(
        epsilon=epsilon,
        delta=delta,
        advantage=advantage,
        alpha=alpha,
        beta=beta,
        mu=mu,
        spent=spent,
        runs=_runs(best_of, sampler),
    )
    counting = _Counting(accountant, sampler, recipe, _others(spent))
    return counting.solved("sigma", target, q=q, steps=steps)


def calibrate_steps(
    *,
    q: float,
    sigma: float,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    mu: float | None = None,
    spent: Mechanism | Pipeline | None = None,
    best_of: int | str | None = None,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The most steps T, up to 10^7, that keep one target; whole epochs where a sampler has them.

    All other arguments are those of `calibrate_sigma`; `sigma` is the noise multiplier, with a
    `recipe` that of the first step. Errors: as `calibrate_sigma`. Source: the same search.

    >>> answer = calibrate_steps(q=0.01, sigma=4.0, epsilon=1.0, delta=1e-5, accountant="rdp")
    >>> answer.value, answer.beyond  # one step more was measured, and overshoots
    (9375, 9376)
    """
    target = _target(
        epsilon=epsilon,
        delta=delta,
        advantage=advantage,
        alpha=alpha,
        beta=beta,
        mu=mu,
        spent=spent,
        runs=_runs(best_of, sampler),
    )
    counting = _Counting(accountant, sampler, recipe, _others(spent))
    return counting.solved("steps", target, q=q, sigma=sigma)


def calibrate_batch(
    *,
    examples: int,
    sigma: float,
    steps: int,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    mu: float | None = None,
    spent: Mechanism | Pipeline | None = None,
    best_of: int | str | None = None,
    accountant: str = CERTIFIED,
    sampler: str = POISSON,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The largest whole expected batch q n of n `examples` that keeps one target.

    All other arguments are those of `calibrate_sigma`. n is taken as public. Errors: as
    `calibrate_sigma`. Source: the same search.

    >>> answer = calibrate_batch(
    ...     examples=60_000, sigma=4.0, steps=1_000, epsilon=1.0, delta=1e-5, accountant="rdp"
    ... )
    >>> answer.value, answer.beyond
    (1817, 1818)
    """
    target = _target(
        epsilon=epsilon,
        delta=delta,
        advantage=advantage,
        alpha=alpha,
        beta=beta,
        mu=mu,
        spent=spent,
        runs=_runs(best_of, sampler),
    )
    counting = _Counting(accountant, sampler, recipe, _others(spent))
    return counting.solved("batch", target, sigma=sigma, steps=steps, examples=examples)


def judge(claim: Claim | str) -> ClaimVerdict:
    """The verdict on a claimed epsilon: holds, unproven, refuted, contradictory or insufficient.

    `claim` is a text, such as a model card or a log, or a `Claim` of `dpcore.claims` with the
    numbers. `.standing` is the verdict, `.sentence` its reason, `.certificate` the proven bounds.
    Errors: ValueError for a text of several runs. Source: the proven bounds of `SAMPLERS`.

    >>> claim = "epsilon = 3.0, delta = 1e-5, sigma = 1.068, batch size 512, 60,000 examples"
    >>> verdict = judge(f"{claim}, 40 epochs, the data are shuffled every epoch")
    >>> verdict.standing.value
    'refuted'
    """
    from dpcore import claims  # late: an accountant needs none of it

    if not isinstance(claim, str):
        return claims.judge(claim)
    first, *others = claims.read(claim).runs
    if others:
        raise ValueError(SEVERAL.format(1 + len(others)))
    return claims.judge(first.claim, first.told)


def train(config: RunConfig) -> Iterator[Event]:
    """Train one model in this process, and yield its events; closing the iterator stops it.

    It needs the extra `train`. Nothing is recorded in the run store. Errors: ImportError without
    the extra; ValueError for missing data; RuntimeError if the loss is no longer finite. Source:
    Abadi et al. 2016, arXiv 1607.00133, Algorithm 1.

    >>> from dpcore import RunConfig
    >>> events = train(RunConfig(model="mlp", epochs=0.1, device="cpu", seed=1))
    >>> type(next(events)).__name__
    'Started'
    >>> events.close()
    """
    extras.require("train", "Training needs it")
    from dpcore.training import loop  # late: loading torch takes seconds

    return loop.train(config)


def _counted(
    mechanism: Mechanism | Pipeline, accountant: str, sampler: str
) -> tuple[Mechanism, Accountant]:
    """The Gaussian steps, and the accountant that counts them and all that is beside them."""
    if isinstance(mechanism, Pipeline):
        return mechanism.mechanism, _accountant(accountant, sampler, mechanism.others)
    return mechanism, _accountant(accountant, sampler)


def _accountant(accountant: str, sampler: str, others: tuple[Other, ...] = ()) -> Accountant:
    """The accountant, or the bounds of a sampler whose batches are not Poisson's."""
    check.one_of(ACCOUNTANTS, accountant=accountant)
    if others and (accountant != CERTIFIED or sampler != POISSON):
        raise ValueError(
            f"Expected accountant={CERTIFIED!r} and sampler={POISSON!r} beside releases that are"
            " not Gaussian: nothing else is proven of them."
        )
    if others:
        return Beside(others)
    drawn = sampler_of(sampler)
    if sampler == POISSON:
        return ACCOUNTANTS[accountant]
    if accountant != CERTIFIED:
        raise ValueError(
            f"Expected accountant={CERTIFIED!r} with sampler={sampler!r}: others count Poisson"
            " batches alone."
        )
    return Drawn(drawn)


def _others(spent: Mechanism | Pipeline | None) -> tuple[Other, ...]:
    return spent.others if isinstance(spent, Pipeline) else ()


def _name(accountant: str, sampler: str) -> str:
    return accountant if sampler == POISSON else sampler


def _runs(best_of: int | str | None, sampler: str) -> NumberOfRuns | None:
    """The number of runs, of which the best is published."""
    if best_of is None:
        return None
    if sampler != POISSON:
        raise ValueError(
            f"Expected no best_of with sampler={sampler!r}: it is proven for Poisson batches alone."
        )
    return read_runs(str(best_of))


# Searches for batches that are not Poisson's, by what they find.
FOR_SAMPLER: dict[str, Callable[..., Answer]] = {
    "sigma": sigma_for_sampler,
    "steps": steps_for_sampler,
}


class _Counting(NamedTuple):
    """The ways of counting that all calibrations share."""

    accountant: str
    sampler: str
    recipe: Recipe
    others: tuple[Other, ...]  # released before the steps, and not Gaussian

    def solved(self, quantity: str, target: Target, **known: Any) -> Answer:
        """The last value of a quantity that keeps the target."""
        _check_proven(target, self.sampler, self.recipe)
        search = FOR_SAMPLER.get(quantity)
        if search and isinstance(target, EpsilonTarget) and self.sampler != POISSON:
            check.in_range(0, 1, ends="(]", q=known["q"])
            found = search(sampler_of(self.sampler), target, **known)
        else:
            counted = _accountant(self.accountant, self.sampler, self.others)
            found = questions.solve(
                quantity, target, accountant=counted, recipe=self.recipe, **known
            )
        return replace(found, accountant=_name(self.accountant, self.sampler))


def _check_proven(target: Target, sampler: str, recipe: Recipe) -> None:
    """Raise ValueError for what is not proven of batches that are not Poisson's."""
    if sampler == POISSON:
        return
    if target.before is not None:
        raise ValueError(
            f"Expected no spent with sampler={sampler!r}: nothing is proven of their product."
        )
    if recipe != CONSTANT:
        raise ValueError(
            f"Expected no recipe with sampler={sampler!r}: only constant noise is proven."
        )


def _target(
    *,
    epsilon: float | None,
    delta: float | None,
    advantage: float | None,
    alpha: float | None,
    beta: float | None,
    mu: float | None,
    spent: Mechanism | Pipeline | None,
    runs: NumberOfRuns | None,
) -> Target:
    """The one target that is given."""
    sizes = {"epsilon": epsilon, "advantage": advantage, "beta": beta, "mu": mu}
    given = [word for word, size in sizes.items() if size is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise ValueError(f"Give exactly one of {', '.join(sizes)} as the target; found {found}.")
    word = given[0]
    if isinstance(spent, Pipeline):
        spent = spent.mechanism  # the accountant counts the others
    if runs is not None and word != "epsilon":
        raise ValueError(f"Expected no best_of with the target {word}: it is proven for epsilon.")
    if advantage is not None:
        return AdvantageTarget(advantage, before=spent)
    if beta is not None:
        level = _with("alpha", alpha, "beta")
        return ErrorTarget(1 - beta, level, before=spent)
    at = _with("delta", delta, word)
    if mu is not None:
        return MuTarget(mu, at, before=spent)
    assert epsilon is not None
    return EpsilonTarget(epsilon, at, runs, before=spent)


def _with(name: str, value: float | None, word: str) -> float:
    """The value that a target needs beside its size."""
    if value is None:
        raise ValueError(f"Give {name} with the target {word}.")
    return value
