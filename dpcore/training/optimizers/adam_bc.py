"""DP-AdamBC: Adam on the noisy mean gradient, with the variance of the noise taken off its second
moment.

Source: Tang, Shpilevskiy and Lecuyer 2024 (AAAI), arXiv 2312.14334, Algorithm 1. A squared
coordinate of the noisy mean is on average its square without noise plus the noise's variance (sigma
C / B)^2. Where the variance is most of it, Adam divides all coordinates by nearly one number, as
plain momentum does; without the variance they differ again. The paper subtracts the variance of its
one sigma from v_hat. Here each step's variance is subtracted before its square enters the average,
which is equal for one sigma and also right for a noise schedule. The paper tunes gamma for each
sigma, C and B; here it is a share of the variance. Shares 0.03, 0.1 and 0.3 with rates from 0.001
to 0.006 were tried on the samples of both grey data sets, cnn and mlp, five epochs at sigma 1.23. A
larger share takes a larger rate, and the longest steps of a small share cost the cnn 3 points. No
share beats `adam` at a good rate by more than seeds differ. **Soundness:** post-processing of the
noisy mean gradient with a public variance, charged as DP-SGD.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import Optimizer, State, Tensor, UpdateRules, words_of
from dpcore.training.optimizers.plain import BETA1, BETA2, absorb_moments

FLOOR = 0.3  # gamma as a share of the variance
TINY = 1e-16  # gamma without noise: Adam's epsilon, squared


def absorb(gradient: Tensor, state: State) -> None:
    """m <- .9 m + .1 g; u <- .999 u + .001 (g^2 - variance)."""
    absorb_moments(gradient, state)
    state.vectors[1].sub_(state.variance * (1 - BETA2))


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr m_hat / sqrt(max(u_hat, gamma)), hats without the start bias."""
    first, second = state.vectors
    bias = 1 - BETA1**state.count
    gamma = state.variance * FLOOR + TINY
    divisor = (second / (1 - BETA2**state.count)).clamp_(min=gamma).sqrt_().mul_(bias)
    parameters.addcdiv_(first, divisor, value=-lr)


ADAM_BC = Optimizer(
    **words_of("adam_bc"), rules=lambda momentum, reading: UpdateRules((0.0, 0.0), absorb, step)
)
