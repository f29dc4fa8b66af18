"""Runs of paper 002: the noise levels of Figure 3, CIFAR-10 of Figure 6, sweeps of Figures 4 and 5.

On MNIST DP-PCA to 60 dimensions comes before the network, and each of its two layers is clipped on
its own.
"""

from dataclasses import replace
from typing import NamedTuple

from dpcore.papers.entry import Trained, accuracy
from dpcore.papers.paper import Sweep
from dpcore.papers.words import config_of, sweep, with_numbers, words_of
from dpcore.privacy.report.numbers import plain
from dpcore.training.config import RunConfig

ARXIV = "arXiv 1607.00133, section 5.2"
WORDS = words_of("abadi")
COMMON = WORDS["settings"]["common"]
ON_MNIST = WORDS["settings"]["mnist"]
ON_CIFAR = WORDS["settings"]["cifar10"]
TEXTS = with_numbers(WORDS["runs"], arxiv=ARXIV)
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)  # of Figure 4


class Noise(NamedTuple):
    """A noise level of Figure 3."""

    sigma: float
    pca_sigma: float
    epsilon: float  # that ends its training

    @property
    def title(self) -> str:
        return f"sigma {self.sigma:g}, PCA {self.pca_sigma:g}"


class CifarRun(NamedTuple):
    """A result of Figure 6."""

    epsilon: float
    lot: int
    printed: str


NOISE = tuple(Noise(**level["noise"]) for level in WORDS["levels"])
FIGURE_6 = (CifarRun(2.0, 2000, "67"), CifarRun(4.0, 4000, "70"), CifarRun(8.0, 4000, "73"))


def run(noise: Noise) -> RunConfig:
    """Train paper 002's network until the moments accountant reaches epsilon."""
    level = {
        "sigma": noise.sigma,
        "pca_sigma": noise.pca_sigma,
        "stop_epsilon": noise.epsilon,
    }
    return config_of(COMMON, ON_MNIST, level)


def _mnist_entries() -> list[Trained]:
    entries = []
    for noise, level in zip(NOISE, WORDS["levels"], strict=True):
        quantity = f"test accuracy, %, at epsilon {noise.epsilon:g}"
        note = TEXTS[level["note"]]
        entries.append(
            accuracy(
                level["place"], quantity, level["printed"], run(noise), TEXTS["differs"], note=note
            )
        )
    return entries


def _cifar_entries() -> list[Trained]:
    entries = []
    for epsilon, lot, printed in FIGURE_6:
        quantity = f"CIFAR-10, test accuracy, %, at epsilon {epsilon:g}"
        config = config_of(COMMON, ON_CIFAR, {"batch": lot, "stop_epsilon": epsilon})
        entries.append(accuracy("Figure 6", quantity, printed, config, TEXTS["pretrained"]))
    return entries


REFERENCE = run(Noise(4.0, 7.0, 2.0))


def _sweeps() -> list[Sweep]:
    figure_4 = []
    for delta in DELTAS:
        texts = with_numbers(WORDS["figure_4"], delta=plain(delta))
        figure_4.append(sweep(replace(REFERENCE, delta=delta), **texts))
    panels = [with_numbers(panel, ours=TEXTS["sweep"]) for panel in WORDS["figure_5"]]
    return [*figure_4, *(sweep(REFERENCE, **panel) for panel in panels)]


RUNS = (*_mnist_entries(), *_cifar_entries())
SWEEPS = tuple(_sweeps())
