"""NoisyAdam: Adam on the noisy mean gradient.

Source: Bu et al. 2020, arXiv 1911.11607, Algorithm 2; Kingma and Ba 2015, arXiv 1412.6980. The
correction of the start bias is that of the latter: the former writes none, its scripts have it.
**Soundness:** post-processing of the noisy mean gradient, charged as DP-SGD.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import POST_PROCESSING, Hyperparameters, Optimizer, State, Tensor, UpdateRules

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8  # the values of both papers


def absorb(gradient: Tensor, state: State) -> None:
    """m <- .9 m + .1 g; v <- .999 v + .001 g^2."""
    first, second = state.vectors
    first.lerp_(gradient, 1 - BETA1)
    second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """m and v as absorbed; step -lr m_hat / (sqrt(v_hat) + 1e-8), hats without the start bias. The state is m, v."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        first, second = state.vectors
        bias = 1 - BETA1**state.count
        divisor = (second * (bias**2 / (1 - BETA2**state.count))).sqrt_().add_(EPS * bias)
        parameters.addcdiv_(first, divisor, value=-lr)

    return UpdateRules((0.0, 0.0), absorb, step)


ADAM = Optimizer(
    name="adam",
    title="Adam",
    note=POST_PROCESSING,
    source="Bu et al. 2020, arXiv 1911.11607, Algorithm 2; Kingma and Ba 2015, arXiv 1412.6980",
    rules=rules,
    lr=0.004,
    baseline_lr=0.002,
    special_lr={("mnist", "cnn"): 0.01, ("fashion_mnist", "cnn"): 0.01},
    in_torch="return torch.optim.Adam(weights, lr=config.lr)",
)
