"""Gradient perturbation by single rows, with noise for a gradient that counts n times."""

from functools import lru_cache
from math import expm1, inf, log, log1p, sqrt
from typing import final

import numpy as np
from scipy.special import gammaln

from dpcore.privacy.gaussian import epsilon_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods import base
from dpcore.training.perturbation.methods.base import Condition, Fits, Method, Protection
from dpcore.training.perturbation.task import ROUNDING, Task

DRAWN = 600_000  # numbers of one fit, about, which limit the steps done of the n^2 charged
CHUNK = 3_000_000  # numbers drawn at once
FREE_RADIUS = 10.0  # of the ball of parameters, if no regulariser bounds the minimiser
ORDERS = range(2, 65)


@final
class BassilyDescent(Method):
    """theta <- Proj(theta - eta_t [n grad l_i + Normal(0, s^2 I)]).

    s^2 = 32 (G n)^2 ln(n/delta) ln(1/delta) / epsilon^2, and each step draws a row i: README.md,
    Theorem 5. Only the first of its n^2 steps are done, which releases less.
    """

    name = "bassily"
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        most = 2 * sqrt(log(1 / task.delta))
        proven = self.proven(task, epsilon)
        failed = f"We can only confirm epsilon = {proven:.3g} for its noise."
        if epsilon > most:
            failed = f"The theorem covers epsilon up to 2 sqrt(ln(1/delta)) = {most:.3g}. {failed}"
        # Two bounds that do not need the theorem decide, so that they also cover epsilons beyond
        # its range.
        kept = base.asked(
            "epsilon confirmed", proven <= epsilon, "by two bounds of our own", failed
        )
        drawn = base.tails(task, self.mu(task, epsilon), self.steps(task))
        return (base.bounded_gradients(task), kept, drawn, *base.unasked("convex", "smooth"))

    def noise(self, task: Task, epsilon: float) -> float:
        factor = 32 * log(task.examples / task.delta) * log(1 / task.delta)
        return task.lipschitz * ROUNDING * task.examples * sqrt(factor) / epsilon

    def mu(self, task: Task, epsilon: float) -> float:
        """Return the standard deviations by which replacing the drawn row moves a step."""
        return 2 * task.lipschitz * ROUNDING * task.examples / self.noise(task, epsilon)

    def steps(self, task: Task) -> int:
        """Return the number of steps done, at most n^2."""
        return min(task.examples**2, max(1000, DRAWN // task.parameters))

    def proven(self, task: Task, epsilon: float) -> float:
        """Return an epsilon that n^2 steps keep, without the theorem: the smaller of two bounds."""
        public = (task.examples, self.mu(task, epsilon), task.delta)
        return min(_by_composition(*public), _by_renyi(*public))

    def radius(self, task: Task) -> float:
        """Return the radius of a ball around the minimiser: inside, the regulariser is at most ln
        2, the loss at 0.
        """
        return sqrt(2 * log(2) / task.regulariser) if task.regulariser else FREE_RADIUS

    def fit(self, fits: Fits) -> FloatArray:
        task = fits.task
        problem = fits.problem
        draws = fits.draws
        noises = self.noises(fits)
        radius = self.radius(task)
        thetas = np.repeat(task.model.start(task.features)[None], len(draws), axis=0)
        steps = self.steps(task)
        chunk = max(1, CHUNK // (len(draws) * task.parameters))
        for start in range(0, steps, chunk):
            count = min(chunk, steps - start)
            drawn = np.stack([each.normals(count, task.parameters) for each in draws], axis=1)
            drawn *= noises
            uniforms = np.stack([each.uniforms(count) for each in draws], axis=1)
            picked = (uniforms * task.examples).astype(np.int64)
            for step in range(count):
                rows = problem.rows[picked[step]]
                labels = problem.labels[picked[step]]
                slope = task.model.row_gradients(thetas, rows, labels, task.clipping)
                slope = (slope + task.regulariser * thetas) * task.examples
                slope += drawn[step]
                thetas = thetas - self._rate(task, noises, start + step + 1) * slope
                lengths = np.sqrt(np.einsum("sp,sp->s", thetas, thetas))
                thetas /= np.maximum(1.0, lengths / radius)[:, None]  # into the ball
        return thetas

    def _rate(self, task: Task, noises: FloatArray, step: int) -> FloatArray | float:
        """Return eta_t of Theorem 2.4: by strong convexity if there is any, else by the radius."""
        if task.regulariser and task.model.convex:
            return 1 / (task.examples * task.regulariser * step)
        length = (task.examples * task.lipschitz) ** 2 + task.parameters * noises**2
        return 2 * self.radius(task) / np.sqrt(step * length)


@lru_cache(maxsize=256)
def _by_composition(examples: int, mu: float, delta: float) -> float:
    """Bound epsilon by advanced composition of n^2 steps, amplified by sampling; half of delta for
    each.

    Source: Balle, Barthe and Gaboardi 2018, arXiv 1807.01647, Theorem 9; Dwork, Rothblum and Vadhan
    2010.
    """
    # N^2 steps, each of which sees a row with chance 1 / n.
    alone = float(epsilon_of(delta / (2 * examples), mu))
    sampled = log1p(expm1(min(alone, 700.0)) / examples)
    return examples * sampled * sqrt(2 * log(2 / delta)) + examples**2 * sampled * expm1(sampled)


@lru_cache(maxsize=256)
def _by_renyi(examples: int, mu: float, delta: float) -> float:
    """Bound epsilon by composition of n^2 steps' Renyi divergences.

    Source: Wang, Balle and Kasiviswanathan 2019, arXiv 1808.00087, Theorem 9, for one row without
    replacement, and the conversion of Canonne, Kamath and Steinke 2020, arXiv 2004.00010,
    Proposition 12.
    """
    least = inf
    for order in ORDERS:
        composed = examples**2 * _sampled(order, mu, examples)
        converted = composed + log1p(-1 / order) - (log(delta) + log(order)) / (order - 1)
        least = min(least, converted)
    return max(least, 0.0)


def _sampled(order: int, mu: float, examples: int) -> float:
    """Return the Renyi divergence of one step at this order: a mu-GDP Gaussian on one row of so
    many.
    """
    powers = np.arange(2, order + 1)
    terms = (
        gammaln(order + 1)
        - gammaln(powers + 1)
        - gammaln(order - powers + 1)
        + log(2)
        - powers * log(examples)
    )
    terms += (powers - 1) * powers * mu**2 / 2
    terms[0] += min(log(2 * -expm1(-(mu**2))), 0.0)  # 4 (e^(mu^2) - 1) in the place of 2 e^(mu^2)
    return float(np.logaddexp.reduce(terms, initial=0.0)) / (order - 1)
