"""Paper 000: perturbed iterative gradient descent (PIAdam and its kin), and MMA, its accountant."""

from dpcore.papers.paper import Paper
from dpcore.papers.pigdo.accuracies import IMPROVEMENTS
from dpcore.papers.pigdo.findings import FINDINGS, REMARKS
from dpcore.papers.pigdo.numbers import ENTRIES, FIGURE_4
from dpcore.papers.pigdo.runs import RUNS, SWEEPS
from dpcore.papers.pigdo.theorem_3 import MAP, WORDS

PAPER = Paper(
    **WORDS["paper"],
    entries=(*ENTRIES, *IMPROVEMENTS, *RUNS),
    drawings=(FIGURE_4,),
    maps=(MAP,),
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=REMARKS,
)
