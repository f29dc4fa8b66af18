"""Paper 001: SA-DPSGD, which accepts or rejects each noisy step by simulated annealing."""

from dpcore.papers.paper import Paper
from dpcore.papers.sa_dpsgd.figures import DRAWINGS
from dpcore.papers.sa_dpsgd.findings import ANSWERS
from dpcore.papers.sa_dpsgd.rows import GRIDS, ROWS, WORDS
from dpcore.papers.words import checked_claims, remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ROWS,
    grids=GRIDS,
    drawings=DRAWINGS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS),
)
