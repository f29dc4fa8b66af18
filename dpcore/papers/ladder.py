"""Recipes from the plainest to the best, each trained at the same epsilons and once without privacy."""

from dataclasses import dataclass

from dpcore.training.config import RunConfig

SEEDS = 3  # that each run of a ladder is recorded for: its rungs differ by little more than seeds do


@dataclass(frozen=True)
class Rung:
    """A recipe at each epsilon."""

    name: str
    configs: tuple[tuple[float, RunConfig], ...]  # (epsilon, the run whose certified epsilon is at most that)
    plain: RunConfig  # without privacy: what is between the two is the price of it

    def at(self, epsilon: float) -> RunConfig:
        """The run at this epsilon. Errors: KeyError for an epsilon that it is not trained at."""
        return dict(self.configs)[epsilon]


@dataclass(frozen=True)
class Ladder:
    """A figure of accuracy against epsilon, a curve for each rung."""

    place: str
    title: str
    rungs: tuple[Rung, ...]  # the plainest first
    note: str = ""

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Those that every rung is trained at."""
        return tuple(epsilon for epsilon, _ in self.rungs[0].configs)

    @property
    def runs(self) -> tuple[tuple[str, RunConfig], ...]:
        """Every run with what it is called, those without privacy last."""
        private = [
            (f"{rung.name}, epsilon {epsilon:g}", config) for rung in self.rungs for epsilon, config in rung.configs
        ]
        return (*private, *((f"{rung.name}, without privacy", rung.plain) for rung in self.rungs))
