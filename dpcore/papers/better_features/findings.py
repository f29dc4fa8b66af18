"""Answers of the recorded runs to the paper's claims."""

from math import ceil, floor

from dpcore.papers.better_features import recipes
from dpcore.papers.better_features.recipes import LINEAR, RECORD, TITLES, WORDS, plain_run, run
from dpcore.papers.paper import SEEDS
from dpcore.papers.records import Recorded, recorded
from dpcore.papers.sa_dpsgd.runs import METHODS
from dpcore.papers.sa_dpsgd.runs import run as run_of_001
from dpcore.papers.words import UNKNOWN, findings
from dpcore.privacy.report.numbers import outward

ID = "005"
BELOW = 2.0  # an epsilon of ours below that of SA-DPSGD's paper


def _features() -> str:
    """Compare the accuracy of features with that of the tricks of SA-DPSGD's paper."""
    said, holds = [], True
    for dataset, title in TITLES.items():
        cnn, linear, best = (
            recorded(ID, run(dataset, rung, RECORD))
            for rung in (recipes.PAPERS_CNN, LINEAR, recipes.BEST)
        )
        cheaper = recorded(ID, run(dataset, LINEAR, BELOW))
        if not (cnn and linear and best and cheaper):
            continue
        tricks = [
            record for method in METHODS if (record := recorded("001", run_of_001(title, method)))
        ]
        holds = (
            holds and linear.mean > cnn.mean and all(cheaper.mean > each.mean for each in tricks)
        )
        said.append(
            f"{title}: {cnn.mean:.2f} % by the network of SA-DPSGD's paper{_few(cnn)},"
            f" {linear.mean:.2f} by a linear model on the features ({cheaper.mean:.2f} at epsilon"
            f" {BELOW:g}), {best.mean:.2f} by the best recipe found{_by_tricks(tricks)}"
        )
    verdict = "Yes" if holds else "Not always"
    return f"{verdict}, at certified epsilon {RECORD:g}. {'. '.join(said)}." if said else UNKNOWN


def _by_tricks(records: list[Recorded]) -> str:
    """Name the best accuracy of a paper's methods, and the epsilons that they spend; "" without
    records.
    """
    if not records:
        return ""
    best = max(records, key=lambda record: record.mean)
    spent = [record.epsilon for record in records if record.epsilon]
    between = f"{outward(min(spent), floor, 2)} to {outward(max(spent), ceil, 2)}"
    return f"; the methods of that paper, at epsilon {between}, at most {best.mean:.2f}{_few(best)}"


def _few(*records: Recorded) -> str:
    """Name the number of seeds if they are fewer than a difference of less than a point needs."""
    fewest = min(records, key=lambda record: len(record.runs))
    return "" if len(fewest.runs) >= SEEDS else f" ({fewest.seeds})"


def _figures() -> str:
    """Name our accuracies of a linear model, to stand beside the printed ones."""
    found = [
        (title, recorded(ID, run(dataset, LINEAR, RECORD))) for dataset, title in TITLES.items()
    ]
    said = [
        f"{title} {record.mean:.2f} % ± {record.spread or 0:.2f}"
        for title, record in found
        if record
    ]
    return (
        f"At certified epsilon {RECORD:g}, with settings of ours: {', '.join(said)}."
        if said
        else UNKNOWN
    )


def _price() -> str:
    """Name the points that privacy costs, with the network and with the features."""
    said, less = [], True
    for dataset, title in TITLES.items():
        cnn, best = (_cost(dataset, rung) for rung in (recipes.TUNED_CNN, recipes.BEST))
        if cnn and best:
            said.append(
                f"{title} {best[0]:.2f} points{best[1]}, and {cnn[0]:.2f} with the CNN{cnn[1]}"
            )
            less = less and best[0] < cnn[0]
    held = f"{'Yes' if less else 'Not always'}, beside the same recipe without privacy"
    return f"{held}: {'; '.join(said)}." if said else UNKNOWN


def _cost(dataset: str, rung: str) -> tuple[float, str] | None:
    """Return the points that privacy costs, and the number of seeds if they are few; None without
    both records.
    """
    private, plain = (
        recorded(ID, run(dataset, rung, RECORD)),
        recorded(ID, plain_run(dataset, rung)),
    )
    return (plain.mean - private.mean, _few(private, plain)) if private and plain else None


FINDINGS = findings(WORDS, features=_features, figures=_figures, price=_price)
