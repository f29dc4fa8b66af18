"""Paper 003: input perturbation, beside the other places where noise can go."""

from dpcore.papers.input_perturbation.noise_table import CALCULATOR, WORDS
from dpcore.papers.input_perturbation.numbers import DRAWINGS, ENTRIES, EXPERIMENTS, FINDINGS
from dpcore.papers.paper import Paper
from dpcore.papers.words import remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ENTRIES,
    drawings=DRAWINGS,
    calculators=(CALCULATOR,),
    experiments=EXPERIMENTS,
    findings=FINDINGS,
    remarks=remarks(WORDS),
)
