"""Runs of paper 001: its Table 1, the accuracies of Table 3 at their epsilons, and the best of
Figure 4.

paper.toml has the settings of its Table 2; momentum 0.9 is from their source (arXiv 2011.11660).
"""

import math
from dataclasses import replace
from typing import Any

from dpcore.papers.entry import FEWER_POINTS, Trained, accuracy, without_privacy
from dpcore.papers.paper import SEEDS
from dpcore.papers.words import sweep, with_numbers, words_of
from dpcore.training.config import RunConfig

Values = dict[str, Any]  # fields of RunConfig

COMMON: Values = {
    "source": "full",
    "optimizer": "sgd",
    "momentum": 0.9,
    "clip_norm": 0.1,
    "delta": 1e-5,
}
# Epochs of proposals, for about as many accepted as Table 1 charges.
LONGER = {"MNIST": 52.0, "Fashion-MNIST": 170.0}
WORDS = words_of("sa_dpsgd")
DATA: dict[str, dict[str, Any]] = WORDS["data"]
SETS: dict[str, Values] = {title: each["run"] for title, each in DATA.items()}
METHODS: dict[str, Values] = WORDS["methods"]
BECAUSE = with_numbers(WORDS["runs"], judges=METHODS["SA-DPSGD"]["public"])


def run(title: str, method: str, **more: Any) -> RunConfig:
    """Return a run of one of the paper's methods on one of its data sets."""
    limit: Values = {"sa_mu0": DATA[title]["limit"]} if method == "SA-DPSGD" else {}
    return RunConfig(**(COMMON | SETS[title] | METHODS[method] | limit | more))


def _because(method: str) -> str:
    return BECAUSE["all_charged" if method == "SA-DPSGD" else "others"]


def _table_1(title: str) -> list[Trained]:
    made = []
    for method, printed in zip(METHODS, DATA[title]["accuracies"], strict=False):
        quantity, config = f"{title}, {method}, test accuracy, %", run(title, method)
        made.append(
            accuracy("Table 1", quantity, printed, config, _because(method), SEEDS, watched=True)
        )
    quantity, plain = f"{title}, without privacy, test accuracy, %", run(title, "DP-SGD (tanh)")
    bare, printed = without_privacy(plain, lr=0.05), DATA[title]["accuracies"][-1]
    return [*made, accuracy("Table 1", quantity, printed, bare, BECAUSE["plain"])]


def _table_3(title: str) -> list[Trained]:
    made = []
    for printed, row in DATA[title]["reaches"].items():
        for method, epsilon in zip(METHODS, row, strict=True):
            if epsilon < math.inf:
                quantity = (
                    f"{title}, {method}, test accuracy, %, at epsilon {epsilon:g} by the classic"
                    " conversion"
                )
                config = run(
                    title, method, epochs=160.0, stop_epsilon=epsilon, stop_accountant="moments"
                )
                made.append(
                    accuracy(
                        "Table 3", quantity, printed, config, _because(method), within=FEWER_POINTS
                    )
                )
    return made


def _free(place: str, what: str, printed: str, changed: Values, title: str = "MNIST") -> Trained:
    quantity, config = (
        f"{title}, SA-DPSGD, {what}, test accuracy, %",
        run(title, "SA-DPSGD", **changed),
    )
    return accuracy(place, quantity, printed, config, BECAUSE["all_charged"], within=FEWER_POINTS)


def _longer(title: str, epochs: float) -> Trained:
    printed = DATA[title]["accuracies"][list(METHODS).index("SA-DPSGD")]
    return _free("Table 1", f"{epochs:g} epochs of proposals", printed, {"epochs": epochs}, title)


REFERENCE = run("MNIST", "SA-DPSGD")
# As long as epsilon 3 lasts.
AT_3 = replace(REFERENCE, epochs=400.0, stop_epsilon=3.0, stop_accountant="moments")


RUNS = (
    *(entry for title in SETS for entry in _table_1(title)),
    *(_longer(*each) for each in LONGER.items()),
    *(_free(**each) for each in WORDS["free"]),
    *(entry for title in SETS for entry in _table_3(title)),
)
SWEEPS = tuple(
    sweep(AT_3 if each["setting"] == "batch" else REFERENCE, **each, note=BECAUSE["sweep"])
    for each in WORDS["figure_4"]
)
