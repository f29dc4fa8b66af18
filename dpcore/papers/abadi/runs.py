"""Runs of paper 002: on MNIST the three noise levels of Figure 3, and the sweeps of Figures 4 and 5.

DP-PCA to 60 dimensions comes before the network, and each of its two layers is clipped on its own.
"""

from typing import Any

from dpcore.papers.entry import Trained, accuracy
from dpcore.papers.paper import Sweep
from dpcore.papers.words import with_numbers, words_of
from dpcore.privacy.report.numbers import plain
from dpcore.training.config import RunConfig

Values = dict[str, Any]  # fields of RunConfig

NETWORK: Values = {"dataset": "mnist", "source": "full", "model": "abadi", "activation": "relu", "pca": 60}
STEP: Values = {"optimizer": "sgd", "momentum": 0.0, "batch": 600, "clip_norm": 4.0, "clipping": "per_layer"}
RATE: Values = {"lr": 0.1, "lr_schedule": "linear", "lr_end": 0.052, "lr_epochs": 10.0}
BUDGET: Values = {"delta": 1e-5, "epochs": 1000.0, "stop_accountant": "moments"}  # epsilon ends the runs
ARXIV = "arXiv 1607.00133, section 5.2"
REFERENCE: Values = {"sigma": 4.0, "pca_sigma": 7.0, "epsilon": 2.0}
WORDS = words_of("abadi")
TEXTS = with_numbers(WORDS["runs"], arxiv=ARXIV)
# sigma, that of DP-PCA and epsilon, of each level of Figure 3
NOISE: tuple[tuple[float, ...], ...] = tuple(tuple(each["noise"].values()) for each in WORDS["levels"])
COLOURS: Values = {"dataset": "cifar10", "source": "full", "model": "cnn9", "activation": "relu", "pca": 0}
COLOURS |= {"clip_norm": 3.0, "clipping": "flat", "sigma": 6.0, "lr": 0.05, "lr_schedule": "constant"}
FIGURE_6 = ((2.0, 2000, "67"), (4.0, 4000, "70"), (8.0, 4000, "73"))  # on CIFAR-10: epsilon, lot, accuracy
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)  # of Figure 4


def run(sigma: float, pca_sigma: float, epsilon: float, **more: Any) -> RunConfig:
    """Train paper 002's network until the moments accountant reaches epsilon."""
    noise: Values = {"sigma": sigma, "pca_sigma": pca_sigma, "stop_epsilon": epsilon}
    return RunConfig(**(NETWORK | STEP | RATE | BUDGET | noise | more))


def _sweep(place: str, title: str, setting: str, *values: float) -> Sweep:
    configs = tuple(run(**(REFERENCE | {setting: value})) for value in values)
    return Sweep(place, title, setting, configs, TEXTS["sweep"])


def _privacy(delta: float) -> Sweep:
    configs = tuple(run(**(REFERENCE | {"epsilon": value, "delta": delta})) for value in (1.0, 2.0, 3.0, 4.0))
    return Sweep(
        "Figure 4", f"accuracy against epsilon, delta {plain(delta)}", "stop_epsilon", configs, TEXTS["deltas"]
    )


def _rates(*values: float) -> Sweep:
    """Vary the learning rate as in Figure 5 (4), with a proportional final rate."""
    share = RATE["lr_end"] / RATE["lr"]
    configs = tuple(run(**(REFERENCE | {"lr": value, "lr_end": round(share * value, 6)})) for value in values)
    return Sweep(
        "Figure 5 (4)", "learning rate at the start", "lr", configs, f"{TEXTS['sweep']} {TEXTS['rates']}", ("lr_end",)
    )


def _level(place: str, noise: Values, printed: str, note: str) -> Trained:
    quantity = f"test accuracy, %, at epsilon {noise['epsilon']:g}"
    return accuracy(place, quantity, printed, run(**noise), TEXTS["differs"], note=TEXTS[note])


def _in_colour(epsilon: float, lot: int, printed: str) -> Trained:
    quantity, stop = f"CIFAR-10, test accuracy, %, at epsilon {epsilon:g}", {"batch": lot, "stop_epsilon": epsilon}
    return accuracy("Figure 6", quantity, printed, RunConfig(**(STEP | BUDGET | COLOURS | stop)), TEXTS["pretrained"])


RUNS = (*(_level(**each) for each in WORDS["levels"]), *(_in_colour(*each) for each in FIGURE_6))
SWEEPS = (
    *(_privacy(delta) for delta in DELTAS),
    _sweep("Figure 5 (1)", "dimensions of the projection", "pca", 20, 60, 100, 200),
    _sweep("Figure 5 (2)", "hidden units", "width", 200, 500, 1000, 2000),
    _sweep("Figure 5 (3)", "lot size", "batch", 200, 400, 600, 1000, 2000),
    _rates(0.01, 0.05, 0.1, 0.2),
    _sweep("Figure 5 (5)", "clipping norm", "clip_norm", 1.0, 2.0, 4.0, 6.0, 8.0),
    _sweep("Figure 5 (6)", "noise level", "sigma", 3.0, 4.0, 6.0, 8.0),
)
