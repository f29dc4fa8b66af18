"""Slow oracles: the definitions, integrated with mpmath at fifty digits. Nothing here is shared with the package."""

import mpmath


def log_moment(q: float, sigma: float, order: float) -> float:
    """ln E_{z ~ N(0, sigma^2)} [((1-q) + q e^((2z-1)/(2 sigma^2)))^order] by adaptive quadrature."""
    with mpmath.workdps(50):
        q, sigma, order = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(order)
        crossing = sigma**2 * mpmath.log((1 - q) / q) + mpmath.mpf(1) / 2 if q < 1 else mpmath.mpf(0)

        def integrand(z: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(z, 0, sigma) * (1 - q + q * mpmath.exp((2 * z - 1) / (2 * sigma**2))) ** order

        low, high = -15 * sigma, max(order, 0) + 15 * sigma
        middles = [center + shift * sigma for center in (0, crossing, order) for shift in (-8, -3, 0, 3, 8)]
        points = [low, *sorted(point for point in middles if low < point < high), high]
        return float(mpmath.log(mpmath.quad(integrand, points)))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """delta(epsilon; mu) of a mu-GDP mechanism from its closed form, at two hundred digits."""
    with mpmath.workdps(200):
        epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return float(mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu))


def one_step_delta(q: float, sigma: float, epsilon: float) -> float:
    """The exact delta of one sampled Gaussian, remove direction: P(x > t) - e^epsilon Q(x > t) at the threshold t."""
    with mpmath.workdps(60):
        q, sigma, epsilon = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(epsilon)
        ratio = (mpmath.exp(epsilon) - 1 + q) / q
        threshold = sigma**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2
        far, near = mpmath.ncdf(-threshold / sigma), mpmath.ncdf((1 - threshold) / sigma)
        return float((1 - q) * far + q * near - mpmath.exp(epsilon) * far)
