"""Recorded accuracies of the best recipe, by the epsilon that it spent."""

from typing import NamedTuple

from dpcore.data.catalogue import DATASETS
from dpcore.papers.better_features import PAPER
from dpcore.papers.paper import Curve
from dpcore.papers.records import Recorded, recorded


class Best(NamedTuple):
    """The records of the best recipe on the full data of a data set."""

    private: tuple[Recorded, ...]  # by rising epsilon
    plain: Recorded | None  # without privacy


def best_of(dataset: str) -> Best:
    """The best recipe's records on a data set; none where none was recorded.

    >>> [round(each.epsilon or 0) for each in best_of("mnist").private][1:]
    [1, 2, 3, 5, 8]
    """
    curve = _curve_of(dataset)
    if curve is None:
        return Best((), None)
    found = []
    for config in curve.configs:
        record = recorded(PAPER.id, config)
        if record and record.epsilon is not None:
            found.append(record)
    plain = recorded(PAPER.id, curve.plain) if curve.plain else None
    return Best(tuple(found), plain)


def _curve_of(dataset: str) -> Curve | None:
    title = DATASETS[dataset].title
    for grid in PAPER.grids:
        if grid.place == title:
            return grid.curves[-1]
    return None
