"""Results of a paper's entries, figures and findings, computed once for all sessions."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from dpcore.papers.comparison import Comparison, compared
from dpcore.papers.entry import Trained
from dpcore.papers.paper import CheckedClaim, Paper

Result = TypeVar("Result")
_compared = lru_cache(maxsize=1024)(compared)
_answers: dict[tuple[CheckedClaim, ...], list[str]] = {}  # a paper's claims -> what holds


def numbers(paper: Paper) -> tuple[Comparison, ...]:
    """Compare every number of a paper with ours, including runs that were recorded meanwhile."""
    return tuple((compared if isinstance(each, Trained) else _compared)(paper.id, each) for each in paper.entries)


@lru_cache(maxsize=256)
def result_of(compute: Callable[[], Result]) -> Result:
    """Compute the lines of a drawing or the cells of a map."""
    return compute()


def answers(paper: Paper, *, now: bool = True) -> list[str]:
    """Return what holds of each claim, computed once; placeholders until then if it need not be `now`."""
    if now and paper.findings not in _answers:
        _answers[paper.findings] = [each.holds() for each in paper.findings]
    return _answers.get(paper.findings) or ["Being computed …"] * len(paper.findings)
