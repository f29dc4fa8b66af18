"""Paper 004: deep learning with Gaussian differential privacy."""

from dpcore.papers.gaussian_dp.figures import DRAWINGS
from dpcore.papers.gaussian_dp.findings import ANSWERS, REMARKED
from dpcore.papers.gaussian_dp.rows import GRIDS, ROWS, WORDS
from dpcore.papers.paper import Paper
from dpcore.papers.words import checked_claims, remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ROWS,
    drawings=DRAWINGS,
    grids=GRIDS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS, REMARKED),
)
