"""Paper 000: perturbed iterative gradient descent (PIAdam and its kin), and its modified moments accountant."""

from dpcore.papers.paper import Paper
from dpcore.papers.pigdo.accuracies import IMPROVEMENTS
from dpcore.papers.pigdo.findings import FINDINGS
from dpcore.papers.pigdo.numbers import ENTRIES, FIGURE_4, SETTINGS
from dpcore.papers.pigdo.remarks import REMARKS
from dpcore.papers.pigdo.runs import RUNS
from dpcore.papers.pigdo.sweeps import SWEEPS
from dpcore.papers.pigdo.theorem_3 import MAP

PAPER = Paper(
    id="000",
    short="PIGDO and MMA",
    title="Differentially private deep learning with iterative gradient descent optimization",
    authors="Ding, Chen, Zhou, Jiang and Jin",
    published="ACM/IMS Transactions on Data Science 2 (4), November 2021 (online 3 February 2022)",
    about="Adaptive steps before the noise, and MMA, a closed form that is to bound epsilon better than the moments.",
    settings=SETTINGS,
    entries=(*ENTRIES, *IMPROVEMENTS, *RUNS),
    drawings=(FIGURE_4,),
    maps=(MAP,),
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=REMARKS,
)
