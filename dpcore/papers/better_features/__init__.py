"""Paper 005: linear models on fixed features (Tramer and Boneh), and the best recipes we found."""

from dpcore.papers.better_features.findings import FINDINGS
from dpcore.papers.better_features.recipes import LADDERS, RECORD, TITLES, WORDS, run
from dpcore.papers.entry import Trained, accuracy
from dpcore.papers.paper import SEEDS, Paper
from dpcore.papers.words import remarks, with_numbers


def _entries() -> tuple[Trained, ...]:
    entries = []
    for each in WORDS["accuracies"]:
        dataset = each["dataset"]
        rung = each["rung"]
        config = run(dataset, rung, RECORD)
        texts = with_numbers(WORDS["entries"], dataset=TITLES[dataset], recipe=rung)
        entries.append(accuracy(**texts, printed=each["printed"], config=config, seeds=SEEDS))
    return tuple(entries)


PAPER = Paper(
    **WORDS["paper"],
    entries=_entries(),
    ladders=LADDERS,
    findings=FINDINGS,
    remarks=remarks(WORDS),
)
