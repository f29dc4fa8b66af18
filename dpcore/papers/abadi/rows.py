"""Rows of paper 002: epsilons and deltas, the epochs that epsilons afford, and runs.

On MNIST DP-PCA to 60 dimensions comes before the network, and each of its two layers is clipped on
its own. The moments accountant's epsilon ends every run.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from dpcore import check
from dpcore.papers.entry import Computed, Entry, PrintedSetting, Row
from dpcore.papers.paper import Grid, TextRows
from dpcore.papers.words import (
    calculator,
    computed,
    config_of,
    filled,
    grid,
    rows_of,
    table,
    words_of,
)
from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, Release
from dpcore.privacy.report.numbers import placed, plain
from dpcore.training.config import RunConfig

ARXIV = "arXiv 1607.00133, section 5.2"
WORDS = words_of("abadi")
SETTINGS = WORDS["settings"]
ON_MNIST = config_of(SETTINGS["common"], SETTINGS["mnist"])
ON_CIFAR = config_of(SETTINGS["common"], SETTINGS["cifar10"])
TEXTS = filled(WORDS["runs"], {"arxiv": ARXIV})
FIGURE_3 = tuple(table(WORDS["figure_3"], ON_MNIST, TEXTS))
NOISE = tuple(row.config for row in FIGURE_3)  # the three levels
REFERENCE = NOISE[1]
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)  # of Figure 4


def noise_title(level: RunConfig) -> str:
    """Return the name of a noise level of Figure 3."""
    return f"sigma {level.sigma:g}, PCA {level.pca_sigma:g}"


SETTING = PrintedSetting(n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, dataset="mnist")
CLAIM = SETTING.claim
LAYERS = 2  # weight matrices; the code clips, noises and charges each on its own
ORDERS: FloatArray = np.arange(2, 34.0)  # the code's moments lambda = 1..32 are at order lambda + 1
LOTS = 10  # before the log prints them
MAX_EPOCHS = 2000


def printed_strong(q: float, sigma: float, steps: FloatArray | int, delta: float) -> FloatArray:
    """Return epsilon by the strong composition that the slides plot, at each number of steps.

    It takes q times the epsilon of one step for that of a sampled step, which is a bound only for
    small epsilons. Source: found by recomputation, since no public code draws the curve; it gives
    the printed 9.34.

    >>> float(printed_strong(0.01, 4.0, 10_000, 1e-5).round(3))
    9.339
    """
    sampled = q * one_step(q, sigma, steps, delta)
    return sampled * np.sqrt(2 * steps * math.log(2 / delta)) + steps * sampled**2


def one_step(q: float, sigma: float, steps: FloatArray | int, delta: float) -> FloatArray:
    """Return epsilon of one step without sampling.

    The q T steps that sample an example share half of delta.
    """
    return np.sqrt(2 * np.log(1.25 * 2 * steps * q / delta)) / sigma


def with_pca(sigma: float, pca_sigma: float, steps: int, layers: int = 1) -> Mechanism:
    """Return the mechanism of DP-PCA on all data, then of steps with separately clipped layers.

    The layers of one lot are one Gaussian: together they move by C sqrt(layers), with noise sigma C
    on each.
    """
    pca = Release(1.0, pca_sigma)
    training = Release(SETTING.q, sigma / math.sqrt(layers), steps)
    return Mechanism((pca, training))


def coded_moments(sigma: float, pca_sigma: float, calls: int) -> FloatArray:
    """Return log-moments (32,) as the reference code adds them.

    They are those of DP-PCA, and of each call for a layer of a lot.

    Source: tensorflow/models, research/differential_privacy/privacy_accountant/tf/accountant.py.
    """
    per_call = renyi.binomial_log_moments(SETTING.q, sigma)[: ORDERS.size]
    of_pca = renyi.binomial_log_moments(1.0, pca_sigma)[: ORDERS.size]
    return calls * per_call + of_pca


def logged_delta(epsilon: float) -> float:
    """Return delta after ten lots as the reference code's README logs it.

    Sigma is 4, that of DP-PCA 7, and each lot has two calls.

    >>> round(logged_delta(0.5), 7)
    0.0029139
    """
    total = coded_moments(SETTING.sigma, 7.0, LAYERS * LOTS)
    least = float(np.min(total - (ORDERS - 1) * epsilon))
    return math.exp(min(0.0, least))


@lru_cache(maxsize=256)
def coded_epochs(sigma: float, pca_sigma: float, epsilon: float, delta: float, calls: int) -> int:
    """Return the epochs of 100 lots that the reference code's accountant affords, DP-PCA included.

    >>> [coded_epochs(4.0, 7.0, 2.0, 1e-5, calls) for calls in (1, 2)]
    [215, 107]
    """

    def spent(epochs: int) -> float:
        total = coded_moments(sigma, pca_sigma, calls * 100 * epochs)
        return float(renyi.epsilon_classic(total[None], ORDERS, np.array([delta]))[0])

    return bisect_right(range(1, MAX_EPOCHS + 1), epsilon, key=spent)


@lru_cache(maxsize=256)
def certified_epochs(
    sigma: float, pca_sigma: float, epsilon: float, delta: float, layers: int
) -> int:
    """Return the most epochs of 100 lots whose proven epsilon, with DP-PCA, is at most this."""

    def affordable(epochs: IntArray) -> int:
        """Count those that epsilon pays for."""
        mechanism = with_pca(sigma, pca_sigma, 100 * int(epochs[-1]), layers)
        upper = ACCOUNTANTS[CERTIFIED].curve(mechanism, 1 + 100 * epochs, delta).epsilon
        return int(np.searchsorted(upper, epsilon, side="right"))

    grid = np.unique(np.geomspace(1, MAX_EPOCHS, 80).astype(np.int64))
    place = affordable(grid)
    if place == 0:
        return 0
    if place == grid.size:
        return MAX_EPOCHS
    first = int(grid[place - 1])
    between = np.arange(first, grid[place])
    return first - 1 + max(1, affordable(between))


def _afforded(values: Mapping[str, float]) -> TextRows:
    delta = values["delta"]
    check.delta(delta=delta)
    rows = []
    for level in NOISE:
        row = [noise_title(level), f"{level.stop_epsilon:g}"]
        for afforded in (coded_epochs, certified_epochs):
            for layers in (1, LAYERS):
                count = afforded(level.sigma, level.pca_sigma, level.stop_epsilon, delta, layers)
                row.append(f"{count:,}")
        rows.append(tuple(row))
    return tuple(rows)


AFFORDED = calculator(
    filled(WORDS["calculator"], {"arxiv": ARXIV, "epochs": MAX_EPOCHS}), _afforded
)
STEPS = CLAIM.mechanism.steps


def _by_moments() -> float:
    return ACCOUNTANTS["moments"].spent(CLAIM.mechanism, CLAIM.delta).value


def _by_strong() -> float:
    return float(printed_strong(SETTING.q, SETTING.sigma, STEPS, CLAIM.delta))


SLIDES = (  # the two epsilons that they compare
    computed(WORDS["entries"]["moments"], _by_moments, SETTING, CLAIM, {"steps": STEPS}),
    computed(WORDS["entries"]["strong"], _by_strong, SETTING, CLAIM, {"steps": STEPS}),
)


def excess() -> tuple[float, float]:
    """Bound how far the code's largest log-moment of ten lots exceeds ours, by its log's digits.

    From epsilon 1 on each delta is exp(moment - 32 epsilon), so each printed delta bounds the
    moment.

    >>> [round(1e6 * each, 2) for each in excess()]
    [1.63, 4.77]
    """
    least = -math.inf
    most = math.inf
    for row in WORDS["log"]["rows"]:
        if row["epsilon"] >= 1:
            entry = Entry("", "", row["printed"])
            ours = logged_delta(row["epsilon"])
            least = max(least, math.log((entry.theirs - entry.half_unit) / ours))
            most = min(most, math.log((entry.theirs + entry.half_unit) / ours))
    return least, most


def _log() -> Iterator[Computed]:
    least, most = excess()
    numbers = {
        "lots": LOTS,
        "least": placed(1e6 * least, math.floor, 1),
        "most": placed(1e6 * most, math.ceil, 1),
    }
    for row in rows_of(WORDS["log"]):
        epsilon = row.pop("epsilon")
        ours = partial(logged_delta, epsilon)
        yield computed(row, ours, numbers=numbers | {"epsilon": epsilon})


LOG = tuple(_log())
FIGURE_6 = tuple(table(WORDS["figure_6"], ON_CIFAR, TEXTS))
ROWS: tuple[Row, ...] = (*SLIDES, *LOG, *FIGURE_3, *FIGURE_6)


def _grids() -> Iterator[Grid]:
    for delta in DELTAS:
        reference = replace(REFERENCE, delta=delta)
        yield grid(WORDS["figure_4"], reference, {"delta": plain(delta)})
    for panel in WORDS["figure_5"]:
        yield grid({"note": TEXTS["grid"]} | panel, REFERENCE, TEXTS)


GRIDS = tuple(_grids())
