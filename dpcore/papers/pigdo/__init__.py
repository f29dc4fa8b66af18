"""Paper 000: perturbed iterative gradient descent (PIAdam and its kin), and MMA, its accountant."""

from dpcore.papers.paper import Paper
from dpcore.papers.pigdo.findings import ANSWERS, remarked
from dpcore.papers.pigdo.rows import FIGURE_4, GRIDS, ROWS
from dpcore.papers.pigdo.theorem_3 import MAP, WORDS
from dpcore.papers.words import checked_claims, remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ROWS,
    drawings=(FIGURE_4,),
    maps=(MAP,),
    grids=GRIDS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS, remarked()),
)
