"""NoisyAdagrad: post-processing of the noisy mean gradient, with the constants of TensorFlow 1 (no epsilon)."""

from __future__ import annotations

from dpcore.training.optimizers.base import Optimizer, State, Tensor, UpdateRules, words_of

START = 0.1


def absorb(gradient: Tensor, state: State) -> None:
    """s <- s + g^2."""
    state.vectors[0].addcmul_(gradient, gradient)


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
    """Step -lr g / sqrt(s)."""
    parameters.addcmul_(gradient, state.vectors[0].rsqrt(), value=-lr)


ADAGRAD = Optimizer(
    **words_of("adagrad"),
    rules=lambda hyperparameters: UpdateRules((START,), absorb, step),
    in_torch="return torch.optim.Adagrad(weights, lr=config.lr, initial_accumulator_value=0.1, eps=0.0)",
)
