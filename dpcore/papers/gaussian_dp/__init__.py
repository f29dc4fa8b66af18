"""Paper 004: deep learning with Gaussian differential privacy."""

from dpcore.papers.gaussian_dp.figures import DRAWINGS
from dpcore.papers.gaussian_dp.findings import FINDINGS, REMARKS
from dpcore.papers.gaussian_dp.numbers import ENTRIES, WORDS
from dpcore.papers.gaussian_dp.runs import RUNS, SWEEPS
from dpcore.papers.paper import Paper

PAPER = Paper(
    **WORDS["paper"],
    entries=(*ENTRIES, *RUNS),
    drawings=DRAWINGS,
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=REMARKS,
)
