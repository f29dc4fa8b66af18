"""The test of single steps: some contain a canary, and scores measure each release along its
gradient.

A threshold turns each release into one bit. Bounds of its rates with and without the canary bound
epsilon of all steps, whatever the noise (README.md, Theorem 8). To assume that a step is Gaussian
shows more, but only as an estimate.

Source: Nasr et al. 2023, arXiv 2302.07956, section 5; arXiv 1905.02383, section 2, for tests that
bound a trade-off.
"""

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtri, xlog1py, xlogy

from dpcore import check
from dpcore.audit.bounds.binomial import lower_epsilon, with_noise
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Evidence,
    Finding,
    least,
    nothing,
    trouble_of_scores,
    two_samples,
)
from dpcore.audit.bounds.one_run import largest
from dpcore.audit.bounds.two_run import Rates, counted_rates
from dpcore.privacy.mechanism import FloatArray, Mechanism, Release
from dpcore.privacy.report.numbers import nearest

ROUNDED = 1e-6  # of delta: many times the error of sums of binomial probabilities
MIN_MU = 1e-3  # the least mu with an estimate: normal noise of 1 / mu shows next to nothing


def audit_per_step(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    mechanism: Mechanism,
    delta: float,
    *,
    threshold: float | None = None,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Bound epsilon from scores of steps with the canary in the batch (n,) and of steps without it
    (k,).

    A score is a step's release along the canary's gradient over the noise charged: Normal(1 /
    sigma, 1) with the canary and Normal(0, 1) without, if noise is normal. Of the mechanism only
    steps and rates are used, not sigma. **Guarantees:** if scores are independent and steps alike,
    epsilon and the figure `mu` fail together with probability 1 - confidence at most. `mu` is a
    bound for a Gaussian step. Another step may hide an example better than G_mu elsewhere on its
    curve, so `epsilon_if_gaussian` is an estimate.

    >>> generator = np.random.default_rng(0)
    >>> inside = generator.normal(1, 1, 20_000)
    >>> outside = generator.normal(0, 1, 20_000)
    >>> whole = Mechanism.constant(q=1.0, sigma=1.0, steps=1)
    >>> found = audit_per_step(inside, outside, whole, 1e-5)
    >>> round(found.figures["mu"], 2), found.epsilon < found.figures["epsilon_if_gaussian"] < 4.4
    (0.94, True)
    """
    inside, outside = two_samples(scores_in, scores_out)
    note = trouble_of_scores(inside, outside)
    if note:
        return nothing(note, confidence)
    if threshold is None:
        # Halfway between the medians few scores of a Gaussian step show its power best.
        threshold = float((np.median(inside[::2]) + np.median(outside[::2])) / 2)
        inside = inside[1::2]
        outside = outside[1::2]
    rates = counted_rates(inside, outside, 0.0, threshold, confidence)
    if isinstance(rates, str):
        return nothing(rates, confidence)
    mu = mu_at(rates)
    if_gaussian = 0.0
    if mu >= MIN_MU:
        drawn = Mechanism(tuple(Release(each.q, 1 / mu, each.count) for each in mechanism.releases))
        if_gaussian = lower_epsilon(with_noise(drawn, 1.0), delta)
    epsilon = composed_epsilon(rates, mechanism, delta)
    return Finding(
        confidence=confidence,
        epsilon=epsilon,
        evidence=Evidence.CONDITIONAL,
        shows=(
            f"No step is mu-GDP for a mu below {nearest(mu, 3)}. Epsilon of all steps is at least"
            f" {least(epsilon)}; about {nearest(if_gaussian, 3)} if steps are"
            " Gaussian (an estimate)."
        ),
        figures={
            "mu": mu,  # lower bound for a step whose trade-off is G_mu
            "epsilon_if_gaussian": if_gaussian,  # an estimate, for normal noise of 1 / mu
        },
    )


def mu_at(rates: Rates) -> float:
    """Return mu of the G_mu that passes through a true-positive and a false-positive rate; at least
    0.
    """
    if not 0 < rates.true_positives < 1 or not 0 < rates.false_positives < 1:
        return 0.0
    return max(float(ndtri(rates.true_positives) - ndtri(rates.false_positives)), 0.0)


def composed_epsilon(rates: Rates, mechanism: Mechanism, delta: float) -> float:
    """Bound epsilon from below by the bits of all steps at the most frequent rate: README.md,
    Theorem 8.
    """
    check.in_range(0, 1, delta=delta)
    counts = Counter[float]()
    for release in mechanism.releases:
        counts[release.q] += release.count
    q, steps = counts.most_common(1)[0]
    without = rates.false_positives
    present = without + q * (rates.true_positives - without)
    if present <= without:
        return 0.0
    p = _log_binomial(steps, present)
    r = _log_binomial(steps, without)
    return max(_solved(p, r, delta), _solved(r, p, delta))


def _log_binomial(trials: int, rate: float) -> FloatArray:
    k = np.arange(trials + 1)
    log_ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return log_ways + xlogy(k, rate) + xlog1py(trials - k, -rate)


def _solved(log_p: FloatArray, log_r: FloatArray, delta: float) -> float:
    """Return the largest epsilon at which the hockey-stick divergence of two laws exceeds delta; at
    least 0.
    """
    kept = np.exp(log_p) > 0
    p = np.exp(log_p)[kept]
    loss = (log_p - log_r)[kept]

    def above(epsilon: float) -> bool:
        over = np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
        return float(np.sum(p * over)) > delta * (1 + ROUNDED)

    return largest(above, max(float(np.max(loss)), 0.0))
