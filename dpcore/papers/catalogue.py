"""The papers in the order of the page's choice."""

from dpcore.papers import abadi, better_features, gaussian_dp, input_perturbation, pigdo, sa_dpsgd
from dpcore.papers.comparison import Comparison, compared
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


def comparisons(paper: Paper) -> tuple[Comparison, ...]:
    """Compare every number of a paper with ours, in the paper's order."""
    return tuple(compared(paper.id, entry) for entry in paper.entries)
