"""Paper 005: Tramer and Boneh train linear models on fixed features; and the best recipes that we
found.
"""

from dpcore.papers.better_features.findings import FINDINGS
from dpcore.papers.better_features.recipes import LADDERS, RECORD, TITLES, WORDS, run
from dpcore.papers.entry import Trained, accuracy
from dpcore.papers.paper import SEEDS, Paper
from dpcore.papers.words import remarks, with_numbers


def _accuracy(dataset: str, rung: str, printed: str) -> Trained:
    config = run(dataset, rung, RECORD)
    texts = with_numbers(WORDS["entries"], dataset=TITLES[dataset], recipe=rung)
    return accuracy(**texts, printed=printed, config=config, seeds=SEEDS)


PAPER = Paper(
    **WORDS["paper"],
    entries=tuple(_accuracy(**each) for each in WORDS["accuracies"]),
    ladders=LADDERS,
    findings=FINDINGS,
    remarks=remarks(WORDS),
)
