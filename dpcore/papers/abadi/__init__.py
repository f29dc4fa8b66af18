"""Paper 002: slides on Abadi et al. 2016, who introduced DP-SGD and the moments accountant."""

from dpcore.papers.abadi.figures import DRAWINGS
from dpcore.papers.abadi.findings import ANSWERS
from dpcore.papers.abadi.rows import AFFORDED, GRIDS, ROWS, WORDS
from dpcore.papers.paper import Paper
from dpcore.papers.words import checked_claims, remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ROWS,
    drawings=DRAWINGS,
    calculators=(AFFORDED,),
    grids=GRIDS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS),
)
