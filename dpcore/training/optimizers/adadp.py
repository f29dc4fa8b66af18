"""AdaDP in a sound variant: scale, then clip, by the noisy RMS history of each coordinate.

Inspired by, not a reproduction of, Xu et al. 2020 (INFOCOM, arXiv 1912.09150), for which no code
was found: there each coordinate is clipped to a multiple of its RMS and gets noise in proportion.
Here the gradient divided by s = sqrt(E) + a is clipped to C as a whole, which avoids the sqrt(d) of
clipping to a box. **Soundness:** s follows from noisy releases only, so each step is one sampled
Gaussian of multiplier sigma: charged as DP-SGD. Unlike `pi_rmsprop` it waits until E is
informative, and a does not damp the step.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import (
    Optimizer,
    State,
    Tensor,
    UpdateRules,
    square_mean,
    words_of,
)
from dpcore.training.optimizers.pi import scale_of

GAMMA = 0.99
# Steps before E sets the scale: until then plain DP-SGD clipping, as the paper begins.
INFORMATIVE = 20
EPS = 1e-16


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr g / sqrt(E / (1 - gamma^t))."""
    slope = (state.vectors[0] + EPS).div_(1 - GAMMA**state.count).rsqrt_()
    parameters.addcmul_(gradient, slope, value=-lr)


RULES = UpdateRules(
    (0.0,),
    square_mean(GAMMA),  # E
    step,
    averaged=lambda state: state.vectors[0],
    # D = sqrt(E) + a, with a the RMS of sqrt(E).
    scale=lambda state: scale_of(state.vectors[0], state.mean),
    wait=INFORMATIVE,
)
ADADP = Optimizer(**words_of("adadp"), rules=lambda momentum, reading: RULES)
