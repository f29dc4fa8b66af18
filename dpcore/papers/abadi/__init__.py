"""Paper 002: slides on Abadi et al. 2016, who introduced DP-SGD and the moments accountant."""

from dpcore.papers.abadi.figures import DRAWINGS
from dpcore.papers.abadi.findings import FINDINGS
from dpcore.papers.abadi.numbers import AFFORDED, ENTRIES
from dpcore.papers.abadi.runs import RUNS, SWEEPS, WORDS
from dpcore.papers.paper import Paper
from dpcore.papers.words import remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=(*ENTRIES, *RUNS),
    drawings=DRAWINGS,
    calculators=(AFFORDED,),
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=remarks(WORDS),
)
