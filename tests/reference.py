"""Oracles: integrals, formulas as papers print them, and a reference library.

Nothing here is from the package.
"""

import functools
import math

import mpmath
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld


def log_moment(q: float, sigma: float, order: float) -> float:
    """ln E[((1-q) + q e^((2z-1)/(2 sigma^2)))^order] for z ~ N(0, sigma^2), by quadrature."""
    with mpmath.workdps(50):
        q, sigma, order = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(order)
        crossing = (
            sigma**2 * mpmath.log((1 - q) / q) + mpmath.mpf(1) / 2 if q < 1 else mpmath.mpf(0)
        )

        def integrand(z: mpmath.mpf) -> mpmath.mpf:
            return (
                mpmath.npdf(z, 0, sigma)
                * (1 - q + q * mpmath.exp((2 * z - 1) / (2 * sigma**2))) ** order
            )

        low, high = -15 * sigma, max(order, 0) + 15 * sigma
        middles = [
            center + shift * sigma for center in (0, crossing, order) for shift in (-8, -3, 0, 3, 8)
        ]
        points = [low, *sorted(point for point in middles if low < point < high), high]
        return float(mpmath.log(mpmath.quad(integrand, points)))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """delta(epsilon; mu) of a mu-GDP mechanism from its closed form, at two hundred digits."""
    with mpmath.workdps(200):
        epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return float(
            mpmath.ncdf(mu / 2 - epsilon / mu)
            - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
        )


def one_step_delta(q: float, sigma: float, epsilon: float) -> float:
    """The exact delta of one sampled Gaussian, remove direction: P(x > t) - e^epsilon Q(x > t) at
    the threshold t.
    """
    with mpmath.workdps(60):
        q, sigma, epsilon = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(epsilon)
        ratio = (mpmath.exp(epsilon) - 1 + q) / q
        threshold = sigma**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2
        far, near = mpmath.ncdf(-threshold / sigma), mpmath.ncdf((1 - threshold) / sigma)
        return float((1 - q) * far + q * near - mpmath.exp(epsilon) * far)


def integrated_log_moment(q: float, sigma: float, order: float) -> float:
    """ln max(E1, E2) at moment lambda = `order`, both by numerical integration; q < 1.

    E1 = E_{mu0}[(mu0/mu)^lambda], E2 = E_{mu}[(mu/mu0)^lambda], mu0 = N(0, sigma^2), mu = (1-q) mu0
    + q N(1, sigma^2). Source: Abadi et al. 2016, arXiv 1607.00133v2, section 3.2, equations (2) to
    (4).
    """
    reach, step = (order + 1) / sigma + 40.0, min(sigma, 1.0) / 40
    x = np.arange(-reach, reach, step)  # in standard deviations of the noise
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + x / sigma - 0.5 / sigma**2)  # ln mu/mu0
    powers = (
        np.array([[-order], [order + 1]]) * log_ratio - 0.5 * x * x - 0.5 * math.log(2 * math.pi)
    )
    return float(np.logaddexp.reduce(powers, axis=1).max() + math.log(step))


def delta_classic(moments: np.ndarray, orders: np.ndarray, epsilon: float) -> float:
    """min over lambda of exp(alpha(lambda) - lambda epsilon), at most 1, with lambda = order - 1.

    Source: Abadi et al. 2016, arXiv 1607.00133v2, Theorem 2 (tail bound).
    """
    return float(np.exp(min(0.0, np.min(moments - (orders - 1) * epsilon))))


def theorem_3(q: float, sigma: float, steps: int, delta: float) -> float:
    """2 q ln(1/delta) / (sigma sqrt(delta^(-1/T) - 1)), the claim of PIGDO, Theorem 3, at constant
    sigma.
    """
    log_inverse = -math.log(delta)
    return 2 * q * log_inverse / (sigma * math.sqrt(math.expm1(log_inverse / steps)))


def mu_poisson(q: float, sigma: float, steps: float) -> float:
    """q sqrt(T (e^(1/sigma^2) - 1)), with T a real number.

    Source: Bu et al. 2020, arXiv 1911.11607, equation (3.1).
    """
    return q * math.sqrt(steps * math.expm1(1 / sigma**2))


def published_strong(
    q: float, sigma: float, steps: int, delta: float, *, linear: bool = True
) -> float:
    """The strong-composition number of Abadi et al. 2016, arXiv 1607.00133v2, section 3.1, as
    published or corrected.

    With delta' = delta/2, one step has epsilon_0 = sqrt(2 ln(1.25/delta_0))/sigma at delta_0 =
    delta/(2 T q). Published (9.34): e sqrt(2 T ln(1/delta')) + T e^2 with e = q epsilon_0, which is
    no bound at epsilon_0 > 1. Corrected: e sqrt(2 T ln(1/delta')) + T e (e^e - 1) with e = ln(1 + q
    (e^epsilon_0 - 1)); Dwork, Rothblum and Vadhan 2010.
    """
    whole = math.sqrt(2 * math.log(1.25 * 2 * steps * q / delta)) / sigma
    each = q * whole if linear else math.log1p(q * math.expm1(whole))
    drift = each if linear else math.expm1(each)
    return each * math.sqrt(2 * steps * math.log(2 / delta)) + steps * each * drift


def exact_epsilon(
    *parts: tuple[float, float, int], delta: float = 1e-5, mesh: float = 2e-4
) -> float:
    """Epsilon of releases (q, sigma, count) one after another, by dp-accounting."""
    laws = []
    for q, sigma, count in parts:
        one = pld.from_gaussian_mechanism(
            sigma, sampling_prob=q, value_discretization_interval=mesh, use_connect_dots=True
        )
        laws.append(one.self_compose(count))
    return float(
        functools.reduce(lambda one, other: one.compose(other), laws).get_epsilon_for_delta(delta)
    )
