"""A run's plan: its number of steps, the noise that it draws, and the noise that it is charged for.

The engine draws the noise of the same plan that is charged, so the two cannot differ. A stored plan
is only used if it is still the plan of the settings, from which the batches and the one-time
releases are drawn.

A run releases, in this order: the DP-PCA matrix (`pca`), the relevance sums (`adppl`), the mean
example (`mean_sigma`), and then one noisy sum of clipped gradients a step, rejected proposals
(`sa`) included. Any use of a released value is free.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.mechanism import MIN_SIGMA, FloatArray, Mechanism, Release, read_only
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.schedule import Recipe
from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.missing_mass import RADIUS, added_delta, generator_of

Releases = tuple[Release, ...]
HORIZONS = 64  # numbers of steps compared in one round of the search for the last affordable one
PROJECTION_NOTE = "Charges one noisy release at (1, sigma of DP-PCA), then the steps."  # of DP-PCA


def unaccounted(config: RunConfig) -> str:
    """The reason why there is no epsilon, as a sentence; empty if there is one."""
    why = unbounded(config)
    if why or config.sampler == Poisson.name:
        return why
    return of_other_batches(config)


def unbounded(config: RunConfig) -> str:
    """The reason why nothing is proven for the steps, as a sentence; empty if a bound is.

    The noise of Poisson batches is judged with the releases before the first step: `plan`.
    """
    if not config.private:
        return "Not private: no gradient is clipped and no noise drawn, so epsilon is infinite."
    if config.sigma == 0:
        return "Not private: without noise (sigma = 0) epsilon is infinite."
    if config.reading == "raw":
        return (
            "No epsilon: the raw reading scales each example by a state that holds other examples"
            " without noise. So clipping does not bound the influence of one example. This reading"
            " is a demonstration."
        )
    if config.sampler == Poisson.name:
        return ""
    sigma = config.sigma / sensitivity_of(config)
    if sigma < MIN_SIGMA:
        return f"No epsilon: sigma={config.sigma:g} is below {MIN_SIGMA:g} sensitivities."
    return missing_noise(config, (Release(1.0, sigma, config.steps_of_epochs),))


def sensitivity_of(config: RunConfig) -> float:
    """The most that one example moves the sum of clipped gradients, in units of C."""
    return CLIPPINGS[config.clipping].sensitivity(MODELS[config.model].groups)


def of_other_batches(config: RunConfig) -> str:
    """The proven range of epsilon for a run whose batches are not Poisson's, as sentences."""
    sampler = SAMPLERS[config.sampler]
    steps = config.steps_of_epochs
    sigma = config.sigma / sensitivity_of(config)
    found = sampler.curve(config.q, sigma, steps, config.delta).last
    ends = f"{outward(found.lower or 0.0, math.floor)} and {outward(found.value, math.ceil)}"
    return (
        f"{sampler.title}: the accountants for Poisson batches do not hold. Proven for this run,"
        f" {sampler.adjacency}, at delta = {config.delta:g}: epsilon lies between {ends}."
        f" {found.note}"
    ).rstrip()


def missing_noise(config: RunConfig, releases: Releases) -> str:
    """The reason why the generator's missing noise leaves no epsilon, as a sentence; empty if its
    charge is covered.

    Everything certified reserves RESERVED of delta for it. A run that needs more has no epsilon.
    """
    radius = RADIUS[generator_of(config.device, config.noise_generator)]
    if added_delta(releases, radius) <= RESERVED * config.delta:
        return ""
    least = min(release.sigma for release in releases)
    return (
        f"No epsilon: noise is drawn up to {radius:.3g} standard deviations. At sigma = {least:g}"
        f" one example moves a sum by {1 / least:.3g} of them, so the missing noise may reveal it"
        f" with a probability above delta = {config.delta:g}. Raise sigma."
    )


def first_releases(config: RunConfig) -> Releases:
    """The releases of the whole training set before the first step."""
    releases = []
    if config.pca:
        releases.append(Release(1.0, config.pca_sigma))
    if OPTIMIZERS[config.optimizer].by_relevance:
        releases.append(Release(1.0, config.relevance_sigma))
    if config.mean_sigma:
        releases.append(Release(1.0, config.mean_sigma))
    return tuple(releases)


def drawn_releases(config: RunConfig) -> Releases:
    """The steps of all epochs, with the sigma that each draws.

    Errors: ValueError for an unsuitable noise schedule.
    """
    recipe = Recipe(config.schedule, config.rate, config.level_steps)
    return recipe.mechanism(config.q, config.sigma, config.steps_of_epochs).releases


def charged_releases(config: RunConfig) -> Releases:
    """The steps of all epochs, with the sigma that is charged for each.

    Clipping each of k layers to C gives a joint sensitivity of C sqrt(k): with noise sigma C the
    step is one Gaussian of multiplier sigma / sqrt(k). Source: methods of Abadi et al. 2016 as
    coded, which charge sigma k times instead.
    """
    sensitivity = sensitivity_of(config)
    drawn = drawn_releases(config)
    least = min(release.sigma for release in drawn)
    if least / sensitivity < MIN_SIGMA:
        raise ValueError(
            f"Expected sigma={config.sigma:g} with clipping={config.clipping!r} and"
            f" schedule={config.schedule!r} to stay at {MIN_SIGMA * sensitivity:g} or above in"
            f" every step; it falls to {least:g}. Raise sigma."
        )
    return tuple(replace(release, sigma=release.sigma / sensitivity) for release in drawn)


def affordable(mechanism: Mechanism, accountant: str, epsilon: float, delta: float) -> int:
    """The largest number of uses whose epsilon by the accountant is at most the given one; 0 if
    there is none.

    **Guarantees:** the epsilon of the answer, computed alone, is at most `epsilon`.

    >>> affordable(Mechanism.constant(0.01, 4.0, 10_000), "moments", 1.0, 1e-5)
    6360
    """
    low = 0  # is affordable
    high = mechanism.steps  # numbers above it are not
    curve = ACCOUNTANTS[accountant].curve
    while low < high:
        steps = np.unique(np.linspace(low + 1, high, HORIZONS).round().astype(np.int64))
        below = int(np.count_nonzero(curve(mechanism, steps, delta).epsilon <= epsilon))
        if below > 0:
            low = int(steps[below - 1])
        if below < len(steps):
            high = int(steps[below]) - 1
    while low and not curve(mechanism, [low], delta).epsilon[0] <= epsilon:
        low -= 1
    return low


def first_steps(releases: Releases, steps: int) -> Releases:
    """The first `steps` steps of the releases."""
    kept = []
    left = steps
    for release in releases:
        if left:
            kept.append(replace(release, count=min(release.count, left)))
            left -= kept[-1].count
    return tuple(kept)


# Key of `already_released` in JSON: its first name, as in stores and exported files.
ALREADY_RELEASED = "told"


@dataclass(frozen=True)
class Plan:
    """The number of steps, the noise of each, and the charge."""

    steps: int  # T: those of the epochs, or as many of them as `stop_epsilon` affords
    first: Releases  # before the first step
    # The steps with the sigma that is drawn; empty for a run without noise.
    drawn: Releases
    # The steps with the sigma that is charged; empty without an epsilon.
    charged: Releases
    unaccounted: str = ""  # the reason why there is no epsilon, as a sentence
    # By earlier runs that this one begins anew, charged before all else.
    spent: Releases = ()
    # Steps of earlier runs that this one continues: it draws their noise again.
    already_released: int = 0

    @cached_property
    def mechanism(self) -> Mechanism | None:
        """Everything that the run releases; None without an epsilon."""
        if self.unaccounted:
            return None
        return Mechanism((*self.spent, *self.first, *self.charged))

    @property
    def sigmas(self) -> FloatArray:
        """Noise std over clipping norm of each step: (T,), read-only, computed anew; zeros for a
        run without noise.
        """
        if not self.drawn:
            return read_only(np.zeros(self.steps))
        counts = [release.count for release in self.drawn]
        return read_only(np.repeat([release.sigma for release in self.drawn], counts))

    def compositions_at(self, step: int) -> int:
        """The number of the mechanism's compositions after a training step, those before step 1
        included.
        """
        return self.repeated + len(self.first) + step

    def released(self, done: int | None) -> Mechanism | None:
        """The releases after `done` steps; None if there are none, or there is no epsilon.

        `done` is None for a run that has not begun; then only earlier runs have released something.

        >>> plan(RunConfig(sigma=2.0)).released(7)
        Mechanism(releases=(Release(q=0.0512, sigma=2.0, count=7),))
        """
        count = self.repeated
        if done is not None:
            count = self.compositions_at(done)
        if self.mechanism is None or not count:
            return None
        return Mechanism(first_steps(self.mechanism.releases, count))

    @property
    def repeated(self) -> int:
        """The number of compositions of earlier runs that this run repeats with fresh noise."""
        return sum(release.count for release in self.spent)

    def anew(self, step: int) -> "Plan":
        """The plan of a run that begins anew after `step` steps of this one; both are charged, even
        for equal noise.
        """
        step = max(step, self.already_released)
        if self.unaccounted or not step:
            return self
        spent = (*self.spent, *self.first, *first_steps(self.charged, step))
        return replace(self, spent=spent, already_released=0)

    def behind(self, step: int) -> "Plan":
        """The plan of a run that continues from a checkpoint of this one, which has released `step`
        steps.
        """
        return replace(self, already_released=max(step, self.already_released))

    def claimed(self, accepted: int | None) -> Mechanism | None:
        """The charge of the SA-DPSGD paper, accepted steps only. **No guarantee:** label its
        epsilon as invalid.

        `accepted` comes from the run's events; None for a run that accepts every step, which has no
        such claim.
        """
        return self.released(accepted) if accepted else None

    def to_json(self) -> dict[str, Any]:
        """The plan as a JSON object, for `from_json`."""
        values = {
            "steps": self.steps,
            "first": _listed(self.first),
            "drawn": _listed(self.drawn),
            "charged": _listed(self.charged),
            "unaccounted": self.unaccounted,
        }
        if self.spent:
            values["spent"] = _listed(self.spent)
        if self.already_released:
            values[ALREADY_RELEASED] = self.already_released
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Plan":
        """The plan that `to_json` wrote."""
        return cls(
            values["steps"],
            _releases(values, "first"),
            _releases(values, "drawn"),
            _releases(values, "charged"),
            values["unaccounted"],
            _releases(values, "spent"),
            values.get(ALREADY_RELEASED, 0),
        )


def plan(config: RunConfig) -> Plan:
    """The plan of a run; cached for the same settings with any seed.

    Errors: ValueError for a noise schedule that does not fit the steps, or a `stop_epsilon` without
    an epsilon or without room for one step; RuntimeError if the accountant to stop by has no
    answer.

    >>> plan(RunConfig()).steps, plan(RunConfig(sigma=0.0)).mechanism
    (98, None)
    """
    return _plan(replace(config, seed=0))


@lru_cache(maxsize=512)
def _plan(config: RunConfig) -> Plan:
    return _of_steps(config, steps_of(config))


def _of_steps(config: RunConfig, steps: int) -> Plan:
    """The plan of the run's first `steps` steps."""
    why_not = unaccounted(config)
    first = first_releases(config)
    drawn: Releases = ()
    charged: Releases = ()
    if config.private and config.sigma > 0:
        drawn = first_steps(drawn_releases(config), steps)
    if not why_not:
        charged = first_steps(charged_releases(config), steps)
        why_not = missing_noise(config, (*first, *charged))
    if why_not:
        charged = ()
    return Plan(steps, first, drawn, charged, why_not)


def matching(config: RunConfig, stored: Plan) -> Plan:
    """Return a stored plan if each of its steps draws and charges the noise of these settings.

    The number of steps that `stop_epsilon` affords is not computed again, since any number is
    charged. The releases of earlier runs only add to the charge. Errors: ValueError for any other
    plan, or if earlier runs leave `stop_epsilon` no room.
    """
    check_budget(config, stored)
    most = config.steps_of_epochs
    least = 1 if config.stop_epsilon else most
    own = replace(stored, spent=(), already_released=0)
    if stored.steps not in range(least, most + 1) or own != _of_steps(config, stored.steps):
        raise ValueError(
            "Expected the plan that is stored with the run to follow from its settings. Another"
            " version of this program made it, or the store was edited. Start a new run instead,"
            " which costs its own epsilon."
        )
    return stored


def check_anew(config: RunConfig, done: int) -> None:
    """Raise ValueError if a run would begin anew after some steps, and nothing is proven for both
    together.
    """
    if done and config.sampler != Poisson.name:
        raise ValueError(
            f"Expected a checkpoint of the run, which has taken {done} steps with the sampler"
            f" {config.sampler}. Nothing is proven for these and all steps anew. Start a new run"
            " instead, which costs its own epsilon."
        )


def check_budget(config: RunConfig, planned: Plan) -> None:
    """Raise ValueError if earlier runs leave `stop_epsilon` no room."""
    if config.stop_epsilon and planned.spent:
        raise ValueError(
            f"Expected stop_epsilon={config.stop_epsilon:g} to be kept, but the run would begin"
            f" anew after {planned.repeated} steps. Start a new run instead, which costs its own"
            " epsilon."
        )


def steps_of(config: RunConfig) -> int:
    """The number of steps T: those of all epochs, or as many of them as `stop_epsilon` affords."""
    if not config.stop_epsilon:
        return config.steps_of_epochs
    reason = unaccounted(config)
    if not reason:
        first = first_releases(config)
        charged = charged_releases(config)
        whole = Mechanism((*first, *charged))
        uses = affordable(whole, config.stop_accountant, config.stop_epsilon, config.delta)
        steps = uses - len(first)
        if steps < 1:
            raise ValueError(
                f"Expected stop_epsilon={config.stop_epsilon:g} to allow one step by"
                f" {config.stop_accountant}; raise it, or raise sigma."
            )
        reason = missing_noise(config, (*first, *first_steps(charged, steps)))
        if not reason:
            return steps
    raise ValueError(
        f"Expected stop_epsilon={config.stop_epsilon:g} to be 0, since the run has no epsilon to"
        f" stop at. {reason}"
    )


def _listed(releases: Releases) -> list[list[float]]:
    return [[release.q, release.sigma, release.count] for release in releases]


def _releases(values: dict[str, Any], name: str) -> Releases:
    return tuple(Release(*each) for each in values.get(name, ()))
