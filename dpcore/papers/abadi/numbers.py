"""Epsilons and deltas of paper 002 and of the log of its code, and the epochs that an epsilon
affords.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from dpcore import check
from dpcore.papers.abadi.runs import ARXIV, NOISE, WORDS
from dpcore.papers.entry import Computed, Entry, PrintedClaim, PrintedSetting
from dpcore.papers.paper import TextRows
from dpcore.papers.words import calculator, with_numbers
from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, Release
from dpcore.privacy.report.numbers import placed

SETTING = PrintedSetting(n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, dataset="mnist")
CLAIM = PrintedClaim(SETTING.mechanism, SETTING.delta)
LAYERS = 2  # weight matrices; the code clips, noises and charges each on its own
ORDERS: FloatArray = np.arange(2, 34.0)  # the code's moments lambda = 1..32 are at order lambda + 1
LOG = {float(epsilon): delta for epsilon, delta in WORDS["log"]["deltas"].items()}
MISROUNDED = 2.0  # the epsilon whose delta differs in the last digit
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
    """Return epsilon of one step without sampling, when the q T steps that sample an example share
    half of delta.
    """
    return np.sqrt(2 * np.log(1.25 * 2 * steps * q / delta)) / sigma


def with_pca(sigma: float, pca_sigma: float, steps: int, layers: int = 1) -> Mechanism:
    """Return the mechanism of DP-PCA on all data, then the steps, each with so many layers clipped
    separately.

    The layers of one lot are one Gaussian: together they move by C sqrt(layers), with noise sigma C
    on each.
    """
    return Mechanism(
        (Release(1.0, pca_sigma), Release(SETTING.q, sigma / math.sqrt(layers), steps))
    )


def coded_moments(sigma: float, pca_sigma: float, calls: int) -> FloatArray:
    """Return log-moments (32,) as the reference code adds them: of DP-PCA, and of each call for a
    layer of a lot.

    Source: tensorflow/models, research/differential_privacy/privacy_accountant/tf/accountant.py.
    """
    per_call = renyi.binomial_log_moments(SETTING.q, sigma)[: ORDERS.size]
    return calls * per_call + renyi.binomial_log_moments(1.0, pca_sigma)[: ORDERS.size]


def logged_delta(epsilon: float) -> float:
    """Return delta after ten lots as the reference code's README logs it: sigma 4, DP-PCA of sigma
    7, two calls a lot.

    >>> round(logged_delta(0.5), 7)
    0.0029139
    """
    total = coded_moments(SETTING.sigma, 7.0, LAYERS * LOTS)
    return math.exp(min(0.0, float(np.min(total - (ORDERS - 1) * epsilon))))


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
    """Return the most epochs of 100 lots with a proven epsilon at most this large, DP-PCA included."""

    def most_of(epochs: IntArray) -> int:
        mechanism = with_pca(sigma, pca_sigma, 100 * int(epochs[-1]), layers)
        upper = ACCOUNTANTS[CERTIFIED].curve(mechanism, 1 + 100 * epochs, delta).epsilon
        return int(np.searchsorted(upper, epsilon, side="right"))

    grid = np.unique(np.geomspace(1, MAX_EPOCHS, 80).astype(np.int64))
    place = most_of(grid)
    if place in (0, grid.size):
        return 0 if place == 0 else MAX_EPOCHS
    first = int(grid[place - 1])
    return first - 1 + max(1, most_of(np.arange(first, grid[place])))


def _afforded(values: Mapping[str, float]) -> TextRows:
    delta = values["delta"]
    check.delta(delta=delta)
    return tuple(
        (
            f"sigma {sigma:g}, PCA {pca_sigma:g}",
            f"{epsilon:g}",
            *(
                f"{coded_epochs(sigma, pca_sigma, epsilon, delta, calls):,}"
                for calls in (1, LAYERS)
            ),
            *(
                f"{certified_epochs(sigma, pca_sigma, epsilon, delta, layers):,}"
                for layers in (1, LAYERS)
            ),
        )
        for sigma, pca_sigma, epsilon in NOISE
    )


AFFORDED = calculator(with_numbers(WORDS["calculator"], arxiv=ARXIV, epochs=MAX_EPOCHS), _afforded)
STEPS = CLAIM.mechanism.steps
TEXTS = {name: with_numbers(entry, steps=STEPS) for name, entry in WORDS["entries"].items()}
SLIDE_ENTRIES = (  # the two epsilons that they compare
    Computed(
        **TEXTS["moments"],
        claim=CLAIM,
        setting=SETTING,
        bound=True,
        ours=lambda: ACCOUNTANTS["moments"].spent(CLAIM.mechanism, CLAIM.delta).value,
    ),
    Computed(
        **TEXTS["strong"],
        claim=CLAIM,
        setting=SETTING,
        ours=lambda: float(printed_strong(SETTING.q, SETTING.sigma, STEPS, CLAIM.delta)),
    ),
)


def excess() -> tuple[float, float]:
    """Bound the excess of the code's largest log-moment of ten lots over ours, by the digits of the
    log.

    From epsilon 1 on each delta is exp(moment - 32 epsilon), so each printed delta bounds the
    moment.

    >>> [round(1e6 * each, 2) for each in excess()]
    [1.63, 4.77]
    """
    least, most = [], []
    for epsilon, printed in LOG.items():
        if epsilon >= 1:
            entry = Entry("", "", printed)
            least.append(math.log((entry.theirs - entry.half_unit) / logged_delta(epsilon)))
            most.append(math.log((entry.theirs + entry.half_unit) / logged_delta(epsilon)))
    return max(least), min(most)


def _logged(epsilon: float, printed: str) -> Computed:
    least, most = excess()
    millionths = {
        "least": placed(1e6 * least, math.floor, 1),
        "most": placed(1e6 * most, math.ceil, 1),
    }
    return Computed(
        place="Reference code, README",
        quantity=f"delta at epsilon {epsilon:g} after {LOTS} lots of two calls",
        printed=printed,
        because=WORDS["log"]["misrounded"].format(**millionths) if epsilon == MISROUNDED else "",
        note=WORDS["log"]["first"] if epsilon == min(LOG) else "",
        ours=lambda: logged_delta(epsilon),
    )


LOG_ENTRIES = tuple(_logged(*each) for each in LOG.items())
