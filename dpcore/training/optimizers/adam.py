"""NoisyAdam: post-processing of the noisy mean gradient; the start bias is corrected, as in the scripts of Bu et al."""

from __future__ import annotations

from dpcore.training.optimizers.base import Optimizer, State, Tensor, UpdateRules, words_of

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8  # the values of both papers


def absorb(gradient: Tensor, state: State) -> None:
    """m <- .9 m + .1 g; v <- .999 v + .001 g^2."""
    first, second = state.vectors
    first.lerp_(gradient, 1 - BETA1)
    second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
    """Step -lr m_hat / (sqrt(v_hat) + 1e-8), hats without the start bias."""
    first, second = state.vectors
    bias = 1 - BETA1**state.count
    divisor = (second * (bias**2 / (1 - BETA2**state.count))).sqrt_().add_(EPS * bias)
    parameters.addcdiv_(first, divisor, value=-lr)


ADAM = Optimizer(
    **words_of("adam"),
    rules=lambda hyperparameters: UpdateRules((0.0, 0.0), absorb, step),
    in_torch="return torch.optim.Adam(weights, lr=config.lr)",
)
