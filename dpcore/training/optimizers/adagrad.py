"""NoisyAdagrad: Adagrad on the noisy mean gradient.

Source: Duchi, Hazan and Singer 2011, "Adaptive subgradient methods"; constants of TensorFlow 1, on which paper 000's
code trains: the sum starts at 0.1 and there is no epsilon. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import POST_PROCESSING, Hyperparameters, Optimizer, State, Tensor, UpdateRules

START = 0.1


def absorb(gradient: Tensor, state: State) -> None:
    """s <- s + g^2."""
    state.vectors[0].addcmul_(gradient, gradient)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """s <- s + g^2 from s = 0.1; step -lr g / sqrt(s). The state is s."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.addcmul_(gradient, state.vectors[0].rsqrt(), value=-lr)

    return UpdateRules((START,), absorb, step)


ADAGRAD = Optimizer(
    name="adagrad",
    title="Adagrad",
    note=POST_PROCESSING,
    source="Duchi, Hazan and Singer 2011; constants of TensorFlow 1",
    rules=rules,
    lr=5.0,
    baseline_lr=0.05,
    in_torch="return torch.optim.Adagrad(weights, lr=config.lr, initial_accumulator_value=0.1, eps=0.0)",
)
