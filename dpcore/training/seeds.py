"""Several seeds of one configuration, summed up as the papers report them: mean and spread."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dpcore.training.config import RunConfig


class Summary(NamedTuple):
    """Figures of several runs."""

    runs: int
    mean: float
    spread: float  # sample standard deviation; 0 for a single run
    least: float
    most: float


def summary(values: Sequence[float]) -> Summary:
    """Mean, spread and range of at least one value.

    >>> summary([0.9, 0.92, 0.94])
    Summary(runs=3, mean=0.92, spread=0.02, least=0.9, most=0.94)
    """
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return Summary(len(values), round(statistics.fmean(values), 9), round(spread, 9), min(values), max(values))


def with_seeds(config: RunConfig, count: int) -> list[RunConfig]:
    """The configuration with `count` seeds, from its own on."""
    return [replace(config, seed=config.seed + i) for i in range(count)]
