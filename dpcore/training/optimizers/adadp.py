"""AdaDP in a sound variant: scale, then clip, by the noisy RMS history of each coordinate.

Inspired by, not a reproduction of, Xu et al. 2020 (INFOCOM, arXiv 1912.09150), for which no code was found: there each
coordinate is clipped to a multiple of its RMS and gets noise in proportion. Here the gradient divided by s = sqrt(E) +
a is clipped to C as a whole, which spares the sqrt(d) of clipping to a box.
**Soundness:** s follows from noisy releases only, so each step is one sampled Gaussian of multiplier sigma: charged as
DP-SGD. It differs from `pi_rmsprop` in waiting until E is informative, and in a step that is not damped by a.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import Hyperparameters, Optimizer, State, Tensor, UpdateRules
from dpcore.training.optimizers.pi import scale_of

GAMMA = 0.99
INFORMATIVE = 20  # steps before E sets the scale: until then plain DP-SGD clipping, as the paper begins
EPS = 1e-16


def absorb(gradient: Tensor, state: State) -> None:
    """E <- gamma E + (1 - gamma) g^2."""
    state.vectors[0].mul_(GAMMA).addcmul_(gradient, gradient, value=1 - GAMMA)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """E as absorbed; step -lr g / sqrt(E / (1 - gamma^t)); D = sqrt(E) + a, relative. The state is E.

    Here a is the root mean square of sqrt(E).
    """

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        slope = (state.vectors[0] + EPS).div_(1 - GAMMA**state.count).rsqrt_()
        parameters.addcmul_(gradient, slope, value=-lr)

    return UpdateRules(
        (0.0,),
        absorb,
        step,
        averaged=lambda state: state.vectors[0],
        scale=lambda state: scale_of(state.vectors[0], state.mean),
        wait=INFORMATIVE,
    )


ADADP = Optimizer(
    name="adadp",
    title="AdaDP",
    note="Sound variant, inspired by AdaDP, not a reproduction: scaled by noisy history. "
    "Charges each step at (q, sigma).",
    source="inspired by Xu et al. 2020 (INFOCOM), not a reproduction",
    rules=rules,
    lr=0.01,
    baseline_lr=0.001,
)
