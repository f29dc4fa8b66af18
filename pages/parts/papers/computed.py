"""What a paper's entries, figures and findings come to, computed once for all sessions."""

from functools import lru_cache

from dpcore.papers.comparison import Comparison, compared
from dpcore.papers.entry import Entry, Trained
from dpcore.papers.paper import Cells, Drawing, Finding, Line, Map, Paper


def numbers(paper: Paper) -> tuple[Comparison, ...]:
    """Every number of a paper beside ours; runs that were recorded meanwhile count."""
    return tuple(compared(paper.id, each) if isinstance(each, Trained) else _of(paper.id, each)
                 for each in paper.entries)  # fmt: skip


@lru_cache(maxsize=1024)
def _of(paper: str, entry: Entry) -> Comparison:
    return compared(paper, entry)


@lru_cache(maxsize=64)
def lines(drawing: Drawing) -> tuple[Line, ...]:
    """The curves of a figure."""
    return drawing.lines()


@lru_cache(maxsize=16)
def cells(plane: Map) -> Cells:
    """The cells of a map."""
    return plane.cells()


@lru_cache(maxsize=128)
def holds(finding: Finding) -> str:
    """What holds of a claim."""
    return finding.holds()
