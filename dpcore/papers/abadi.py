"""Paper 002: slides on Abadi et al. 2016, which brought DP-SGD and the moments accountant."""

import math

import numpy as np

from dpcore.papers.abadi_runs import RUNS, SWEEPS
from dpcore.papers.entry import Claim, Computed, Setting
from dpcore.papers.paper import Drawing, Line, Paper
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.types import FloatArray

SETTING = Setting(n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, dataset="mnist")
CLAIM = Claim(SETTING.mechanism, 1e-5)
PRINTED_STRONG = "Strong composition, as printed"


def printed_strong(q: float, sigma: float, steps: FloatArray, delta: float) -> FloatArray:
    """Epsilon of the strong composition that the slides plot, at each number of steps.

    It takes q times the epsilon of one step for a sampled one, which is a bound only where that epsilon is small.
    Source: found by recomputation, since no public code draws the curve; it gives the printed 9.34.

    >>> printed_strong(0.01, 4.0, np.array([10_000.0]), 1e-5).round(3)
    array([9.339])
    """
    each = np.sqrt(2 * np.log(1.25 * 2 * steps * q / delta)) / sigma  # half of delta for the steps that sample one
    sampled = q * each
    return sampled * np.sqrt(2 * steps * math.log(2 / delta)) + steps * sampled**2


def _moments() -> float:
    mechanism = CLAIM.mechanism
    return ACCOUNTANTS["moments"].curve(mechanism, mechanism.steps, CLAIM.delta).last.value


def _figure_2() -> tuple[Line, ...]:
    epochs = np.linspace(1, 400, 100).round()
    steps = (epochs * SETTING.n / SETTING.batch).astype(np.int64)
    mechanism = Setting(n=60_000, batch=600, sigma=4.0, epochs=400).mechanism
    found = [
        Line(ACCOUNTANTS[name].title, epochs, ACCOUNTANTS[name].curve(mechanism, steps, 1e-5).epsilon, name)
        for name in ("moments", "strong", "pld")
    ]
    return (*found, Line(PRINTED_STRONG, epochs, printed_strong(0.01, 4.0, steps.astype(float), 1e-5)))


PAPER = Paper(
    id="002",
    short="Moments accountant",
    title="Deep learning with differential privacy",
    authors="Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (slides by B. Jayaraman)",
    published="CCS 2016, arXiv 1607.00133",
    about="DP-SGD: clip each example's gradient, add noise to the sum; and the moments accountant, which charges it.",
    settings={"Moments accountant, MNIST": SETTING},
    entries=(
        Computed(
            place="Moments accountant",
            quantity="epsilon by the moments accountant, T = 10,000",
            printed="1.26",
            ours=_moments,
            claim=CLAIM,
            setting=SETTING,
        ),
        Computed(
            place="Moments accountant",
            quantity="epsilon by strong composition, T = 10,000",
            printed="9.34",
            ours=lambda: float(printed_strong(0.01, 4.0, np.array([10_000.0]), 1e-5)[0]),
            claim=CLAIM,
            setting=SETTING,
            note="Recomputed with q times the epsilon of one step, which is not a bound in general.",
        ),
        *RUNS,
    ),
    sweeps=SWEEPS,
    drawings=(
        Drawing(
            place="Figure 2",
            title="Epsilon against epoch, q = 0.01, sigma = 4, delta = 1e-5",
            x="epoch",
            y="epsilon",
            lines=_figure_2,
        ),
    ),
)
