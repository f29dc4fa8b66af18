"""Paper 003: input perturbation, and the other places of learning at which noise may be added."""

from dpcore.papers.input_perturbation.findings import FINDINGS, REMARKS
from dpcore.papers.input_perturbation.noise_table import CALCULATOR
from dpcore.papers.input_perturbation.numbers import DRAWINGS, ENTRIES, EXPERIMENTS
from dpcore.papers.paper import Paper

PAPER = Paper(
    id="003",
    short="Input perturbation",
    title="Input perturbation: a new paradigm between central and local differential privacy",
    authors="Kang, Liu, Niu, Tong, Zhang and Wang",
    published="2020, arXiv 2002.08570",
    about="Noise on the training data instead of on the gradient, the objective or the result.",
    entries=ENTRIES,
    drawings=DRAWINGS,
    calculators=(CALCULATOR,),
    experiments=EXPERIMENTS,
    findings=FINDINGS,
    remarks=REMARKS,
)
