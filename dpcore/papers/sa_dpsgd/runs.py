"""Runs of paper 001: Table 1, the accuracies of Table 3 at their epsilons, the best of Figure 4.

paper.toml has the settings of its Table 2; momentum 0.9 is from their source (arXiv 2011.11660).
"""

import math
from dataclasses import replace
from typing import Any

from dpcore.papers.entry import FEWER_POINTS, Trained, accuracy, without_privacy
from dpcore.papers.paper import SEEDS, Sweep
from dpcore.papers.words import Values, config_of, sweep, with_numbers, words_of
from dpcore.training.config import RunConfig

COMMON: Values = {
    "source": "full",
    "optimizer": "sgd",
    "momentum": 0.9,
    "clip_norm": 0.1,
    "delta": 1e-5,
}
ANNEALED = "SA-DPSGD"
# Epochs of proposals, for about as many accepted as Table 1 charges.
LONGER = {"MNIST": 52.0, "Fashion-MNIST": 170.0}
WORDS = words_of("sa_dpsgd")
DATA: dict[str, dict[str, Any]] = WORDS["data"]
SETS: dict[str, Values] = {title: each["run"] for title, each in DATA.items()}
METHODS: dict[str, Values] = WORDS["methods"]
BECAUSE = with_numbers(WORDS["runs"], judges=METHODS[ANNEALED]["public"])


def run(title: str, method: str, changed: Values | None = None) -> RunConfig:
    """Return a run of one of the paper's methods on one of its data sets."""
    limit: Values = {"sa_mu0": DATA[title]["limit"]} if method == ANNEALED else {}
    return config_of(COMMON, SETS[title], METHODS[method], limit, changed or {})


def _because(method: str) -> str:
    return BECAUSE["all_charged" if method == ANNEALED else "others"]


def _table_1(title: str) -> list[Trained]:
    """Return the accuracy of each method on a data set, and the one without privacy."""
    *private, without = DATA[title]["accuracies"]
    entries = []
    for method, printed in zip(METHODS, private, strict=True):
        quantity = f"{title}, {method}, test accuracy, %"
        config = run(title, method)
        entries.append(
            accuracy("Table 1", quantity, printed, config, _because(method), SEEDS, watched=True)
        )
    quantity = f"{title}, without privacy, test accuracy, %"
    bare = without_privacy(run(title, "DP-SGD (tanh)"), lr=0.05)
    entries.append(accuracy("Table 1", quantity, without, bare, BECAUSE["plain"]))
    return entries


def _table_3(title: str) -> list[Trained]:
    """Return each accuracy of a data set at the epsilon at which a method reaches it."""
    entries = []
    for printed, epsilons in DATA[title]["reaches"].items():
        for method, epsilon in zip(METHODS, epsilons, strict=True):
            if epsilon == math.inf:  # never reached
                continue
            quantity = (
                f"{title}, {method}, test accuracy, %, at epsilon {epsilon:g} by the classic"
                " conversion"
            )
            stop = {"epochs": 160.0, "stop_epsilon": epsilon, "stop_accountant": "moments"}
            config = run(title, method, stop)
            because = _because(method)
            entries.append(
                accuracy("Table 3", quantity, printed, config, because, within=FEWER_POINTS)
            )
    return entries


def _annealed(title: str, place: str, change: str, printed: str, changed: Values) -> Trained:
    """Return an accuracy of SA-DPSGD with a changed setting."""
    return accuracy(
        place,
        f"{title}, SA-DPSGD, {change}, test accuracy, %",
        printed,
        run(title, ANNEALED, changed),
        BECAUSE["all_charged"],
        within=FEWER_POINTS,
    )


def _longer() -> list[Trained]:
    """Return the accuracies of Table 1 for runs of more proposals."""
    place_of_annealed = list(METHODS).index(ANNEALED)
    entries = []
    for title, epochs in LONGER.items():
        printed = DATA[title]["accuracies"][place_of_annealed]
        change = f"{epochs:g} epochs of proposals"
        entries.append(_annealed(title, "Table 1", change, printed, {"epochs": epochs}))
    return entries


def _figure_4() -> list[Trained]:
    return [
        _annealed("MNIST", each["place"], each["what"], each["printed"], each["changed"])
        for each in WORDS["free"]
    ]


REFERENCE = run("MNIST", ANNEALED)
# As long as epsilon 3 lasts.
AT_3 = replace(REFERENCE, epochs=400.0, stop_epsilon=3.0, stop_accountant="moments")


def _sweeps() -> list[Sweep]:
    sweeps = []
    for texts in WORDS["figure_4"]:
        reference = AT_3 if texts["setting"] == "batch" else REFERENCE
        sweeps.append(sweep(reference, **texts, note=BECAUSE["sweep"]))
    return sweeps


def _runs() -> list[Trained]:
    table_1 = []
    table_3 = []
    for title in SETS:
        table_1 += _table_1(title)
        table_3 += _table_3(title)
    return [*table_1, *_longer(), *_figure_4(), *table_3]


RUNS = tuple(_runs())
SWEEPS = tuple(_sweeps())
