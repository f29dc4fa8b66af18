"""Paper 003: input perturbation, beside the other places where noise can go."""

from dpcore.papers.input_perturbation.rows import ANSWERS, DRAWINGS, ENTRIES, EXPERIMENTS
from dpcore.papers.input_perturbation.table_1 import CALCULATOR, WORDS
from dpcore.papers.paper import Paper
from dpcore.papers.words import checked_claims, remarks

PAPER = Paper(
    **WORDS["paper"],
    entries=ENTRIES,
    drawings=DRAWINGS,
    calculators=(CALCULATOR,),
    experiments=EXPERIMENTS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS),
)
