"""The papers, recomputed: what each prints, what comes out here, and what holds.

With 005, on better features, stand the recipes of the best accuracy that was found here.
"""

from dpcore.papers import abadi, better_features, gaussian_dp, input_perturbation, pigdo, sa_dpsgd
from dpcore.papers.comparison import Comparison, Outcome, compared
from dpcore.papers.paper import Paper

PAPERS = {
    each.id: each
    for each in (
        pigdo.PAPER,
        sa_dpsgd.PAPER,
        abadi.PAPER,
        input_perturbation.PAPER,
        gaussian_dp.PAPER,
        better_features.PAPER,
    )
}

__all__ = ["PAPERS", "Comparison", "Outcome", "Paper", "comparisons"]


def comparisons(paper: Paper) -> tuple[Comparison, ...]:
    """Every number of a paper beside ours, in the paper's order."""
    return tuple(compared(paper.id, entry) for entry in paper.entries)
