"""How far the epsilon of a followed training reaches, by proven upper bounds alone.

A question of each step must cost next to nothing. So one answer looks ahead: if epsilon after m
steps is within the target, so is epsilon after fewer of the same phase.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import MAX_STEPS, AdditiveAccountant
from dpcore.privacy.mechanism import FloatArray, Reading, Release
from dpcore.runs.followed.count import Phase, Releases, merged, phases_of, releases_of

# Of steps: with more kinds the certified bound takes too long within a training, so that Rényi
# DP's, which is larger and proven too, takes its place.
QUICK_KINDS = 4
MAX_KINDS = 25  # where there is time


def reading_of(releases: Sequence[Release], delta: float, kinds: int = MAX_KINDS) -> Reading:
    """Epsilon of the releases: certified, or by Rényi DP with more kinds of steps than `kinds`.

    >>> found = reading_of([Release(0.01, 4.0, 5_000), Release(0.01, 4.0, 5_000)], 1e-5)
    >>> found.kind.value, found.lower < found.value < 0.95
    ('certified', True)
    """
    mechanism = merged(releases)
    if mechanism is None:
        return Reading(0.0, 0.0, ACCOUNTANTS[CERTIFIED].kind)
    name = CERTIFIED if len(mechanism.releases) <= kinds else "rdp"
    return ACCOUNTANTS[name].spent(mechanism, delta)


class Budget:
    """Whether one step more stays within a target; each answer is kept for its phase."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self._phases: tuple[Phase, ...] = ()  # of which the numbers below hold
        self._within = 0  # steps, the most known to be within the target
        self._beyond = MAX_STEPS + 1  # the fewest known to be beyond it
        self._ahead = 1  # steps to look ahead by the certified bound

    def exceeded(self, phases: Sequence[Phase], steps: int) -> bool:
        """True if epsilon after `steps` steps lies above the target by the upper bound."""
        known = len(phases) == len(self._phases) and phases[-1] == self._phases[-1]
        if not known:
            self._begin(tuple(phases), steps)
        if steps <= self._within:
            return False
        if steps < self._beyond:
            self._look(steps)
        return steps > self._within

    def _begin(self, phases: tuple[Phase, ...], steps: int) -> None:
        """Begin a phase with what Rényi DP, which is quick, proves of it."""
        self._phases = phases
        self._beyond = MAX_STEPS + 1
        self._within = _within_by_rdp(phases, self.epsilon, self.delta)
        self._ahead = max((self._within - steps) // 16, 1)

    def _look(self, steps: int) -> None:
        """Look ahead by one count, or by two where the first goes beyond the target."""
        ahead = min(steps + self._ahead, (steps + self._beyond) // 2)
        if self._holds(ahead):
            self._within = ahead
            self._ahead *= 2
            return
        self._beyond = ahead
        self._ahead = max(self._ahead // 8, 1)
        if ahead == steps:
            return
        if self._holds(steps):
            self._within = steps
        else:
            self._beyond = steps

    def _holds(self, steps: int) -> bool:
        releases = releases_of(self._phases, steps)
        return reading_of(releases, self.delta, QUICK_KINDS).value <= self.epsilon


def _within_by_rdp(phases: Sequence[Phase], epsilon: float, delta: float) -> int:
    """The most steps whose epsilon by Rényi DP is within the target, the last phase going on."""
    last = phases[-1]
    before = releases_of(phases, last.first)
    spent = _total(before)
    each = _cost(last.q, last.sigma)
    low = 0
    high = MAX_STEPS - last.first
    if _epsilon(spent + each, delta) > epsilon:
        return 0  # perhaps the certified bound allows more
    while low < high:
        middle = (low + high + 1) // 2
        if _epsilon(spent + middle * each, delta) <= epsilon:
            low = middle
        else:
            high = middle - 1
    return last.first + low


def _rdp() -> AdditiveAccountant:
    accountant = ACCOUNTANTS["rdp"]
    assert isinstance(accountant, AdditiveAccountant)
    return accountant


@lru_cache(maxsize=4096)
def _cost(q: float, sigma: float) -> FloatArray:
    return _rdp().cost(q, sigma)


def _total(releases: Sequence[Release]) -> FloatArray:
    total = np.zeros_like(_cost(0.5, 1.0))
    for release in releases:
        total = total + release.count * _cost(release.q, release.sigma)
    return total


def _epsilon(total: FloatArray, delta: float) -> float:
    return float(_rdp().epsilon(total[None], np.array([delta]))[0])


@lru_cache(maxsize=256)
def affordable_steps(before: Releases, q: float, sigma: float, epsilon: float, delta: float) -> int:
    """The most steps in all, those `before` included, whose certified epsilon is within a target.

    The further ones have this q and sigma. It takes a second for some settings.

    >>> affordable_steps((), 512 / 60_000, 1.1, 3.0, 1e-5)
    5148
    """
    done = sum(release.count for release in before)
    phases = [*phases_of(before), Phase(done, q, sigma)]
    low = max(_within_by_rdp(phases, epsilon, delta), done)
    kinds = len({(release.q, release.sigma) for release in before})
    if kinds >= MAX_KINDS:
        return low
    high = 2 * low + 64
    while _is_within(phases, high, epsilon, delta):
        low = high
        high *= 2
        if high > MAX_STEPS:
            return low
    while high - low > 1:
        middle = (low + high) // 2
        if _is_within(phases, middle, epsilon, delta):
            low = middle
        else:
            high = middle
    return low


def _is_within(phases: Sequence[Phase], steps: int, epsilon: float, delta: float) -> bool:
    return reading_of(releases_of(phases, steps), delta).value <= epsilon
