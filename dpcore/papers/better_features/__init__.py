"""Paper 005: linear models on fixed features (Tramer and Boneh), and the best recipes we found."""

from collections.abc import Iterator

from dpcore.papers.better_features.findings import ANSWERS
from dpcore.papers.better_features.recipes import GRIDS, RECORD, TITLES, WORDS, run
from dpcore.papers.entry import Trained
from dpcore.papers.paper import Paper
from dpcore.papers.words import checked_claims, remarks, trained


def _rows() -> Iterator[Trained]:
    for each in WORDS["accuracies"]:
        dataset = each["dataset"]
        rung = each["rung"]
        numbers = {"title": TITLES[dataset], "recipe": rung, "printed": each["printed"]}
        yield trained(WORDS["entries"], run(dataset, rung, RECORD), numbers)


PAPER = Paper(
    **WORDS["paper"],
    entries=tuple(_rows()),
    grids=GRIDS,
    findings=checked_claims(WORDS, ANSWERS),
    remarks=remarks(WORDS),
)
