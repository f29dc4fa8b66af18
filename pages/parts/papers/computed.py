"""Results of a paper's entries, figures and findings, computed once for all sessions."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from dpcore.papers.comparison import Comparison, compared
from dpcore.papers.entry import Trained
from dpcore.papers.paper import Paper

Result = TypeVar("Result")
_compared = lru_cache(maxsize=1024)(compared)


def numbers(paper: Paper) -> tuple[Comparison, ...]:
    """Every number of a paper beside ours; runs that were recorded meanwhile count."""
    return tuple((compared if isinstance(each, Trained) else _compared)(paper.id, each) for each in paper.entries)


@lru_cache(maxsize=256)
def result_of(compute: Callable[[], Result]) -> Result:
    """The lines of a drawing, the cells of a map, or what holds of a finding."""
    return compute()
