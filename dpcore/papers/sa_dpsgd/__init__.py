"""Paper 001: SA-DPSGD, which keeps or drops each noisy step by simulated annealing."""

from dpcore.papers.paper import Paper
from dpcore.papers.sa_dpsgd.accuracy_figures import DRAWINGS as ACCURACIES
from dpcore.papers.sa_dpsgd.findings import FINDINGS, REMARKS
from dpcore.papers.sa_dpsgd.numbers import DRAWINGS, ENTRIES, SETTINGS
from dpcore.papers.sa_dpsgd.runs import RUNS, SWEEPS

PAPER = Paper(
    id="001",
    short="SA-DPSGD",
    title="SA-DPSGD: differentially private stochastic gradient descent based on simulated annealing",
    authors="Fu, Chen and Ling",
    published="2022, arXiv 2211.07218",
    about="A noisy step is kept where it helps, else with a falling probability; dropped steps are said to be free.",
    settings=SETTINGS,
    entries=(*ENTRIES, *RUNS),
    sweeps=SWEEPS,
    drawings=(*DRAWINGS, *ACCURACIES),
    findings=FINDINGS,
    remarks=REMARKS,
)
