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
from dpcore.papers.records import Recorded, recorded
from dpcore.papers.sa_dpsgd.runs import METHODS
from dpcore.papers.sa_dpsgd.runs import run as run_of_001
from dpcore.papers.words import UNKNOWN, findings, rounded_down, rounded_up

ID = "005"
BELOW = 2.0  # an epsilon of ours below that of SA-DPSGD's paper


def _features() -> str:
    """Compare the accuracy of features with that of the tricks of SA-DPSGD's paper."""
    parts = []
    holds = True
    for dataset, title in TITLES.items():
        cnn = recorded(ID, run(dataset, PAPERS_CNN, RECORD))
        linear = recorded(ID, run(dataset, LINEAR, RECORD))
        best = recorded(ID, run(dataset, BEST, RECORD))
        cheaper = recorded(ID, run(dataset, LINEAR, BELOW))
        if not (cnn and linear and best and cheaper):
            continue
        found = [recorded("001", run_of_001(title, method)) for method in METHODS]
        tricks = [record for record in found if record]
        if linear.mean <= cnn.mean or any(cheaper.mean <= each.mean for each in tricks):
            holds = False
        parts.append(
            f"{title}: {cnn.mean:.2f} % by the network of SA-DPSGD's paper{_seeds_if_few(cnn)},"
            f" {linear.mean:.2f} by a linear model on the features ({cheaper.mean:.2f} at epsilon"
            f" {BELOW:g}), {best.mean:.2f} by the best recipe found{_by_tricks(tricks)}"
        )
    if not parts:
        return UNKNOWN
    verdict = "Yes" if holds else "Not always"
    return f"{verdict}, at certified epsilon {RECORD:g}. {'. '.join(parts)}."


def _by_tricks(records: list[Recorded]) -> str:
    """Name the best accuracy of a paper's methods, and the epsilons that they spend.

    Empty without records.
    """
    if not records:
        return ""
    best = max(records, key=lambda record: record.mean)
    spent = [record.epsilon for record in records if record.epsilon]
    between = f"{rounded_down(min(spent), 2)} to {rounded_up(max(spent), 2)}"
    return (
        f"; the methods of that paper, at epsilon {between}, at most"
        f" {best.mean:.2f}{_seeds_if_few(best)}"
    )


def _seeds_if_few(*records: Recorded) -> str:
    """Name the number of seeds if they are too few for a difference of less than a point."""
    fewest = min(records, key=lambda record: len(record.runs))
    return "" if len(fewest.runs) >= SEEDS else f" ({fewest.seeds})"


def _figures() -> str:
    """Name our accuracies of a linear model, to stand beside the printed ones."""
    parts = []
    for dataset, title in TITLES.items():
        record = recorded(ID, run(dataset, LINEAR, RECORD))
        if record:
            parts.append(f"{title} {record.mean:.2f} % ± {record.spread or 0:.2f}")
    if not parts:
        return UNKNOWN
    return f"At certified epsilon {RECORD:g}, with settings of ours: {', '.join(parts)}."


def _price() -> str:
    """Name the points that privacy costs, with the network and with the features."""
    parts = []
    less = True
    for dataset, title in TITLES.items():
        cnn = _price_of(dataset, TUNED_CNN)
        best = _price_of(dataset, BEST)
        if cnn and best:
            cnn_points, cnn_seeds = cnn
            best_points, best_seeds = best
            parts.append(
                f"{title} {best_points:.2f} points{best_seeds}, and {cnn_points:.2f} with the"
                f" CNN{cnn_seeds}"
            )
            less = less and best_points < cnn_points
    if not parts:
        return UNKNOWN
    verdict = "Yes" if less else "Not always"
    return f"{verdict}, beside the same recipe without privacy: {'; '.join(parts)}."


def _price_of(dataset: str, rung: str) -> tuple[float, str] | None:
    """Return the points that privacy costs a recipe, and the number of seeds if they are few.

    None without both records.
    """
    private = recorded(ID, run(dataset, rung, RECORD))
    plain = recorded(ID, plain_run(dataset, rung))
    if not (private and plain):
        return None
    return plain.mean - private.mean, _seeds_if_few(private, plain)


FINDINGS = findings(WORDS, {"features": _features, "figures": _figures, "price": _price})
