"""Flower with the certified accountant: `dpcore.flower.CertifiedAccountant(config)` is one of its
`PrivacyAccountant`s (Flower 1.42 or later), for its strategies with fixed clipping or your own.

Epsilon protects one client. As in those strategies, `noise_multiplier` is the standard deviation of
the noise on the sum of the clients' updates over the clipping norm C, to which each is clipped, and
a sum has K = `sample_size` clients of N = `population_size`. N, K and the divisor are public.

Without replacement the neighbours differ by one client's data, which moves a sum by up to 2 C. So
it does without amplification where K < N: Flower draws K clients in every round, and another one
takes the place of a client that is gone. Where all N take part a client moves the sum by C alone.
"""

import importlib
from dataclasses import asdict
from enum import Enum
from typing import Any

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Accountant
from dpcore.privacy.calibration.least_delta import least_delta
from dpcore.privacy.mechanism import MAX_SIGMA, Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.drawn import Drawn
from dpcore.runs.followed.budget import MAX_KINDS
from dpcore.runs.followed.count import merged
from dpcore.runs.followed.run import FollowedRun

POISSON = "poisson"
FIXED_SIZE = "without-replacement"
ALL = "no-amplification"
METHODS = {  # sampling_method -> accounting_method of what was spent
    POISSON: "dpcore proven upper bound: Poisson, a client more or less",
    FIXED_SIZE: "dpcore proven upper bound: without replacement, a client replaced",
    ALL: "dpcore proven upper bound: no amplification, a client more or less",
}
VERSION = 1  # of the state


class CertifiedAccountant:
    """A `PrivacyAccountant` of Flower whose epsilon is the certified upper bound.

    With more than 25 kinds of Poisson rounds it is that of Rényi DP, which is larger.

    `config` is a `PrivacyConfig` of Flower. `run` of `dpcore.follow` gets a step for each release,
    but for rounds without replacement, which it cannot count. The steps of a run that goes on by
    its id count before all releases. Rounds without replacement that
    differ are all counted at the largest share and with the least noise of any, at shares of 1e-4
    or more.

    >>> from types import SimpleNamespace as Named
    >>> config = Named(sampling_method="poisson", population_size=100, target_delta=1e-5)
    >>> accountant = CertifiedAccountant(config)
    >>> accountant.compose(Named(noise_multiplier=4.0, sample_size=1, population_size=100), 10_000)
    >>> round(accountant.get_epsilon(1e-5), 3)
    0.948
    """

    def __init__(self, config: Any, run: FollowedRun | None = None) -> None:
        self._method = str(_plain(config.sampling_method))
        check.one_of(METHODS, sampling_method=self._method)
        if run and self._method == FIXED_SIZE:
            raise ValueError(
                "Expected no run= with sampling_method='without-replacement': dpcore.follow counts"
                " clients that come and go, not clients that are replaced."
            )
        self._config = config
        self._run = run
        self._before = run.releases() if run else ()
        self._composed: list[tuple[Any, int]] = []  # events, and the count of each

    @property
    def config(self) -> Any:
        """The privacy configuration."""
        return self._config

    @property
    def num_releases(self) -> int:
        """The number of releases so far."""
        before = sum(each.count for each in self._before)
        return before + sum(count for _, count in self._composed)

    def compose(self, event: Any, count: int = 1) -> None:
        """Count a `GaussianPrivacyEvent` so many times. Errors: ValueError."""
        release = self._release(event, count)
        before = 0
        if self._composed and self._composed[-1][0] == event:
            before = self._composed.pop()[1]
        self._composed.append((event, before + count))
        if self._run:
            for _ in range(count):
                self._run.step(q=release.q, sigma=release.sigma)

    def get_epsilon(self, delta: float) -> float:
        """The certified upper bound of epsilon at `delta`."""
        return self._epsilon(self._composed, delta)

    def get_delta(self, epsilon: float) -> float:
        """The smallest delta that is proven at `epsilon`."""
        if not self.num_releases:
            return 0.0
        accountant, mechanism = self._counted(self._composed)
        return least_delta(accountant, mechanism, epsilon).value

    def get_privacy_spent(self, delta: float | None = None) -> Any:
        """Flower's `PrivacySpent` at `delta`, or at the target of the configuration."""
        theirs = importlib.import_module("flwr.supercore.privacy_accounting")
        asked = self._config.target_delta if delta is None else delta
        return theirs.PrivacySpent(
            epsilon=self.get_epsilon(asked),
            delta=asked,
            num_releases=self.num_releases,
            accounting_method=METHODS[self._method],
        )

    def would_exceed(self, event: Any, max_epsilon: float | None = None, count: int = 1) -> bool:
        """True if the event on top of all so far would exceed the limit. Errors: ValueError."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise ValueError("Give max_epsilon here or in PrivacyConfig.")
        check.positive(max_epsilon=limit)
        self._release(event, count)
        ahead = [*self._composed, (event, count)]
        return self._epsilon(ahead, self._config.target_delta) > limit

    def state_dict(self) -> dict[str, object]:
        """The state as what JSON holds."""
        composed = [{"event": asdict(event), "count": count} for event, count in self._composed]
        config = {key: _plain(value) for key, value in asdict(self._config).items()}
        return {
            "schema_version": VERSION,
            "backend": METHODS[self._method],
            "config": config,
            "compositions": composed,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over a state of the same configuration. Errors: ValueError."""
        if self._before:
            raise ValueError(
                "Expected no state beside a run that goes on: the run has counted its releases."
            )
        own = self.state_dict()
        for key in ("schema_version", "backend", "config"):
            if state.get(key) != own[key]:
                raise ValueError(f"Expected {key}={state.get(key)!r} to be {own[key]!r}.")
        theirs = importlib.import_module("flwr.supercore.privacy_accounting")
        composed = []
        try:
            for each in state["compositions"]:
                event = theirs.GaussianPrivacyEvent(**each["event"])
                self._release(event, each["count"])
                composed.append((event, each["count"]))
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"Expected compositions as state_dict() wrote them: {error}."
            ) from None
        self._composed = composed

    def _release(self, event: Any, count: int) -> Release:
        """The releases of an event; q and sigma in terms of C. Errors: ValueError."""
        clients = self._config.population_size
        if event.population_size != clients:
            raise ValueError(f"Expected population_size={event.population_size} to be {clients}.")
        sigma = min(event.noise_multiplier, MAX_SIGMA)
        if self._method != ALL:
            return Release(event.sample_size / clients, sigma, count)
        moves = 1 if event.sample_size == clients else 2
        return Release(1.0, sigma / moves, count)

    def _counted(self, composed: list[tuple[Any, int]]) -> tuple[Accountant, Mechanism]:
        counted = [self._release(event, count) for event, count in composed]
        releases = [*self._before, *counted]
        if self._method != FIXED_SIZE:
            whole = merged(releases)
            assert whole, "something was composed"
            quick = self._method == ALL or len(whole.releases) <= MAX_KINDS
            name = CERTIFIED if quick else "rdp"
            return ACCOUNTANTS[name], whole
        sampler = SAMPLERS["fixed_size"]
        q = max(each.q for each in releases)  # a larger one and a smaller sigma tell more
        sigma = min(each.sigma for each in releases)
        steps = sum(each.count for each in releases)
        return Drawn(sampler), Mechanism.constant(max(q, sampler.least_q), sigma, steps)

    def _epsilon(self, composed: list[tuple[Any, int]], delta: float) -> float:
        check.delta(delta=delta)
        if not composed and not self._before:
            return 0.0
        accountant, mechanism = self._counted(composed)
        return accountant.spent(mechanism, delta).value


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
