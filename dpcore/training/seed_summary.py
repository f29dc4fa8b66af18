"""A summary of several seeds of one configuration, mean and spread, as the papers report."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dpcore.privacy.report.numbers import percent
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished


class Summary(NamedTuple):
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
    return Summary(
        len(values), round(statistics.fmean(values), 9), round(spread, 9), min(values), max(values)
    )


def in_words(finals: Sequence[Finished], *, ascii: bool = True) -> str:
    """The figures of at least one finished run, with a line for the weights and one for their
    average, if any; in the signs of a terminal or of a page.

    >>> in_words([Finished(9, 1.0, 0.9), Finished(9, 1.0, 0.92), Finished(9, 1.0, 0.94)])
    '3 seeds: test accuracy 92.00% +- 2.00% (from 90.00% to 94.00%)'
    """
    said = _with_spread("test accuracy", [final.accuracy for final in finals], ascii)
    averaged = [final.averaged_accuracy for final in finals if final.averaged_accuracy is not None]
    if averaged:
        said += "\n" + _with_spread("of the averaged weights", averaged, ascii)
    return said


def _with_spread(what: str, values: Sequence[float], ascii: bool) -> str:
    runs, *shares = summary(values)
    gap, sign = ("", "+-") if ascii else (" ", "±")
    mean, spread, least, most = (percent(each, 2, gap=gap) for each in shares)
    return f"{runs} seeds: {what} {mean} {sign} {spread} (from {least} to {most})"


def with_seeds(config: RunConfig, count: int) -> list[RunConfig]:
    """The configuration `count` times, with its fixed seed and the next ones, or each with its own
    secret.
    """
    if config.seed is None:
        return [config] * count
    return [replace(config, seed=config.seed + i) for i in range(count)]
