"""Runs of paper 002: on MNIST the three noise levels of Figure 3, and the sweeps of Figures 4 and
5.

DP-PCA to 60 dimensions comes before the network, and each of its two layers is clipped on its own.
"""

from dataclasses import replace
from typing import Any

from dpcore.papers.entry import Trained, accuracy
from dpcore.papers.words import sweep, with_numbers, words_of
from dpcore.privacy.report.numbers import plain
from dpcore.training.config import RunConfig

Values = dict[str, Any]  # fields of RunConfig

ARXIV = "arXiv 1607.00133, section 5.2"
WORDS = words_of("abadi")
COMMON, ON_MNIST, COLOURS = (WORDS["settings"][name] for name in ("common", "mnist", "cifar10"))
TEXTS = with_numbers(WORDS["runs"], arxiv=ARXIV)
# sigma, that of DP-PCA and epsilon, of each level of Figure 3
NOISE: tuple[tuple[float, ...], ...] = tuple(
    tuple(each["noise"].values()) for each in WORDS["levels"]
)
# On CIFAR-10: epsilon, lot, accuracy.
FIGURE_6 = ((2.0, 2000, "67"), (4.0, 4000, "70"), (8.0, 4000, "73"))
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)  # of Figure 4


def run(sigma: float, pca_sigma: float, epsilon: float) -> RunConfig:
    """Train paper 002's network until the moments accountant reaches epsilon."""
    noise: Values = {"sigma": sigma, "pca_sigma": pca_sigma, "stop_epsilon": epsilon}
    return RunConfig(**(COMMON | ON_MNIST | noise))


def _level(place: str, noise: Values, printed: str, note: str) -> Trained:
    quantity = f"test accuracy, %, at epsilon {noise['epsilon']:g}"
    return accuracy(place, quantity, printed, run(**noise), TEXTS["differs"], note=TEXTS[note])


def _in_colour(epsilon: float, lot: int, printed: str) -> Trained:
    quantity, stop = (
        f"CIFAR-10, test accuracy, %, at epsilon {epsilon:g}",
        {"batch": lot, "stop_epsilon": epsilon},
    )
    return accuracy(
        "Figure 6", quantity, printed, RunConfig(**(COMMON | COLOURS | stop)), TEXTS["pretrained"]
    )


RUNS = (*(_level(**each) for each in WORDS["levels"]), *(_in_colour(*each) for each in FIGURE_6))
REFERENCE = run(4.0, 7.0, 2.0)
SWEEPS = (
    *(
        sweep(replace(REFERENCE, delta=each), **with_numbers(WORDS["figure_4"], delta=plain(each)))
        for each in DELTAS
    ),
    *(sweep(REFERENCE, **with_numbers(each, ours=TEXTS["sweep"])) for each in WORDS["figure_5"]),
)
