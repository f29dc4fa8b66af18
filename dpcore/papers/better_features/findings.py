"""Answers of the recorded runs to the paper's claims."""

from dpcore.papers.better_features.recipes import (
    BEST,
    LINEAR,
    PAPERS_CNN,
    RECORD,
    TITLES,
    TUNED_CNN,
    WORDS,
    plain_run,
    run,
)
from dpcore.papers.paper import SEEDS
from dpcore.papers.records import Recorded, record_of
from dpcore.papers.sa_dpsgd.rows import METHODS
from dpcore.papers.sa_dpsgd.rows import run as run_of_001
from dpcore.papers.words import Numbers, rounded_down, rounded_up

ID = "005"
BELOW = 2.0  # an epsilon of ours below that of SA-DPSGD's paper
TEXTS = WORDS["findings"]


def _record(dataset: str, rung: str, epsilon: float = RECORD) -> Recorded:
    return record_of(ID, run(dataset, rung, epsilon))


def _seeds_if_few(*records: Recorded) -> str:
    """Name the number of seeds if they are too few for a difference of less than a point."""
    fewest = min(records, key=lambda record: len(record.runs))
    return "" if len(fewest.runs) >= SEEDS else f" ({fewest.seeds})"


def _features() -> Numbers:
    """Compare the accuracy of features with that of the tricks of SA-DPSGD's paper."""
    parts = []
    verdict = "Yes"
    for dataset, title in TITLES.items():
        cnn = _record(dataset, PAPERS_CNN)
        linear = _record(dataset, LINEAR)
        cheaper = _record(dataset, LINEAR, BELOW)
        tricks = [record_of("001", run_of_001(title, method)) for method in METHODS]
        best_trick = max(tricks, key=lambda record: record.mean)
        spent = [record.epsilon or 0.0 for record in tricks]
        numbers = {
            "title": title,
            "cnn": cnn,
            "cnn_seeds": _seeds_if_few(cnn),
            "linear": linear,
            "cheaper": cheaper,
            "best": _record(dataset, BEST),
            "least": rounded_down(min(spent), 2),
            "most": rounded_up(max(spent), 2),
            "trick": best_trick,
            "trick_seeds": _seeds_if_few(best_trick),
        }
        parts.append(TEXTS["features"]["part"].format_map(numbers))
        if linear.mean <= cnn.mean or cheaper.mean <= best_trick.mean:
            verdict = "Not always"
    return {"verdict": verdict, "parts": ". ".join(parts)}


def _figures() -> Numbers:
    """Name our accuracies of a linear model, to stand beside the printed ones."""
    return {dataset: _record(dataset, LINEAR) for dataset in TITLES}


def _price() -> Numbers:
    """Name the points that privacy costs, with the network and with the features."""
    parts = []
    verdict = "Yes"
    for dataset, title in TITLES.items():
        cnn, cnn_seeds = _price_of(dataset, TUNED_CNN)
        best, best_seeds = _price_of(dataset, BEST)
        parts.append(
            f"{title} {best:.2f} points{best_seeds}, and {cnn:.2f} with the CNN{cnn_seeds}"
        )
        if best >= cnn:
            verdict = "Not always"
    return {"verdict": verdict, "parts": "; ".join(parts)}


def _price_of(dataset: str, rung: str) -> tuple[float, str]:
    """Return the points that privacy costs a recipe, and the number of seeds if they are few."""
    private = _record(dataset, rung)
    plain = record_of(ID, plain_run(dataset, rung))
    return plain.mean - private.mean, _seeds_if_few(private, plain)


ANSWERS = {"features": _features, "figures": _figures, "price": _price}
