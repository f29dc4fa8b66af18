"""Runs of paper 001: its Table 1, the accuracies of Table 3 at their epsilons, and the best of Figure 4.

The settings are those of its Table 2; momentum 0.9 is from their source (arXiv 2011.11660).
"""

from dataclasses import replace
from typing import Any

from dpcore.papers.entry import FEWER_POINTS, Trained, accuracy, without_privacy
from dpcore.papers.paper import SEEDS, Sweep
from dpcore.papers.words import with_numbers, words_of
from dpcore.training.config import RunConfig

Values = dict[str, Any]  # fields of RunConfig

COMMON: Values = {"source": "full", "optimizer": "sgd", "momentum": 0.9, "clip_norm": 0.1, "delta": 1e-5}
SETS: dict[str, Values] = {  # title -> Table 2's column, and the epochs that spend epsilon 3 by the classic conversion
    "MNIST": {"dataset": "mnist", "model": "cnn", "lr": 0.5, "batch": 512, "sigma": 1.23, "epochs": 40.0},
    "Fashion-MNIST": {"dataset": "fashion_mnist", "model": "cnn", "lr": 4.0, "batch": 2048, "sigma": 2.15}
    | {"epochs": 40.0},
    "CIFAR-10": {"dataset": "cifar10", "model": "cnn9", "lr": 1.0, "batch": 1024, "sigma": 1.54, "epochs": 30.0},
}
JUDGES = 5000  # training images held out as public, to judge proposals
ANNEALED: Values = {"acceptance": "sa", "public": JUDGES}
METHODS: dict[str, Values] = {
    "DP-SGD": {"activation": "relu"},
    "DP-SGD (tanh)": {"activation": "tanh"},
    "AUTO-S": {"activation": "tanh", "clipping": "auto_s"},
    "SA-DPSGD": {"activation": "tanh"} | ANNEALED,
}
TABLE_1 = {  # printed accuracies of the methods, then of the run without privacy
    "MNIST": ("96.73", "98.05", "98.12", "98.35", "99.09"),
    "Fashion-MNIST": ("84.42", "86.03", "86.33", "87.41", "89.01"),
    "CIFAR-10": ("52.06", "59.04", "59.34", "60.92", "79.02"),
}
TABLE_3 = {  # accuracy -> the epsilon at which each method reaches it; None: never
    "MNIST": {"94": (1.64, 1.23, 1.22, 1.21), "96": (2.47, 1.47, 1.47, 1.46), "98": (None, 2.92, 2.91, 2.53)},
    "Fashion-MNIST": {"82": (2.20, 1.73, 1.64, 1.52), "84": (2.88, 2.08, 2.07, 1.86), "86": (5.86, 2.96, 2.92, 2.51)},
    "CIFAR-10": {"52": (2.99, 2.15, 2.05, 1.93), "55": (3.68, 2.39, 2.36, 2.27), "58": (4.54, 2.83, 2.80, 2.57)},
}
FREE = (  # accuracies that Figure 4's text says one changed setting "can reach"
    ("Figure 4a", "SA-DPSGD, learning rate 1.5", "98.81", {"lr": 1.5}),
    (
        "Figure 4b",
        "SA-DPSGD, batch 256",
        "98.89",
        {"batch": 256, "epochs": 200.0, "stop_epsilon": 3.0, "stop_accountant": "moments"},
    ),
)
LONGER = {"MNIST": 52.0, "Fashion-MNIST": 170.0}  # epochs of proposals, for about as many accepted as Table 1 charges
WORDS = words_of("sa_dpsgd")
BECAUSE = with_numbers(WORDS["runs"], judges=JUDGES)


def run(title: str, method: str, **more: Any) -> RunConfig:
    """Return a run of one of the paper's methods on one of its data sets."""
    quirk: Values = {"sa_mu0": 5} if title == "CIFAR-10" and method == "SA-DPSGD" else {}
    return RunConfig(**(COMMON | SETS[title] | METHODS[method] | quirk | more))


def _because(method: str) -> str:
    return BECAUSE["all_charged" if method == "SA-DPSGD" else "others"]


def _table_1(title: str) -> list[Trained]:
    made = []
    for method, printed in zip(METHODS, TABLE_1[title], strict=False):
        quantity, config = f"{title}, {method}, test accuracy, %", run(title, method)
        made.append(accuracy("Table 1", quantity, printed, config, _because(method), SEEDS, watched=True))
    quantity, plain = (
        f"{title}, without privacy, test accuracy, %",
        without_privacy(run(title, "DP-SGD (tanh)"), lr=0.05),
    )
    return [*made, accuracy("Table 1", quantity, TABLE_1[title][-1], plain, BECAUSE["plain"])]


def _table_3(title: str) -> list[Trained]:
    made = []
    for printed, row in TABLE_3[title].items():
        for method, epsilon in zip(METHODS, row, strict=True):
            if epsilon is not None:
                quantity = f"{title}, {method}, test accuracy, %, at epsilon {epsilon:g} by the classic conversion"
                config = run(title, method, epochs=160.0, stop_epsilon=epsilon, stop_accountant="moments")
                made.append(accuracy("Table 3", quantity, printed, config, _because(method), within=FEWER_POINTS))
    return made


def _free(place: str, what: str, printed: str, changed: Values) -> Trained:
    quantity, config = f"MNIST, {what}, test accuracy, %", run("MNIST", "SA-DPSGD", **changed)
    return accuracy(place, quantity, printed, config, BECAUSE["all_charged"], within=FEWER_POINTS)


def _longer(title: str) -> Trained:
    quantity = f"{title}, SA-DPSGD, {LONGER[title]:g} epochs of proposals, test accuracy, %"
    config = run(title, "SA-DPSGD", epochs=LONGER[title])
    printed = TABLE_1[title][list(METHODS).index("SA-DPSGD")]
    return accuracy("Table 1", quantity, printed, config, BECAUSE["all_charged"], within=FEWER_POINTS)


REFERENCE = run("MNIST", "SA-DPSGD")
AT_3 = replace(REFERENCE, epochs=400.0, stop_epsilon=3.0, stop_accountant="moments")  # as long as epsilon 3 lasts


def _sweep(place: str, title: str, setting: str, *values: float, note: str, reference: RunConfig = REFERENCE) -> Sweep:
    return Sweep(place, title, setting, tuple(replace(reference, **{setting: value}) for value in values), note)


RUNS = (
    *(entry for title in SETS for entry in _table_1(title)),
    *(_longer(title) for title in LONGER),
    *(_free(*each) for each in FREE),
    *(entry for title in SETS for entry in _table_3(title)),
)
OURS = "SA-DPSGD on MNIST, every proposal charged. The text prints few of its numbers; the values are ours."
SWEEPS = (
    _sweep("Figure 4a", "learning rate", "lr", 0.1, 0.5, 1.0, 1.5, 2.0, note=OURS),
    _sweep("Figure 4b", "batch", "batch", 128, 256, 512, 1024, note=OURS, reference=AT_3),
    _sweep("Figure 4c", "initial temperature", "sa_q0", 0.1, 1.0, 10.0, 100.0, note=OURS),
    _sweep("Figure 4d", "rejection threshold", "sa_mu0", 1, 5, 10, 20, note=OURS),
)
