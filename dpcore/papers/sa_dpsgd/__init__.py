"""Paper 001: SA-DPSGD, which accepts or rejects each noisy step by simulated annealing."""

from dpcore.papers.paper import Paper
from dpcore.papers.sa_dpsgd.figures import DRAWINGS
from dpcore.papers.sa_dpsgd.findings import FINDINGS
from dpcore.papers.sa_dpsgd.numbers import ENTRIES
from dpcore.papers.sa_dpsgd.runs import RUNS, SWEEPS, WORDS
from dpcore.papers.words import remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=(*ENTRIES, *RUNS),
    sweeps=SWEEPS,
    drawings=DRAWINGS,
    findings=FINDINGS,
    remarks=remarks(WORDS),
)
