"""NoisyRMSprop: RMSprop on the noisy mean gradient.

Source: Tieleman and Hinton 2012, lecture 6.5; constants of TensorFlow 1: decay 0.9, epsilon 1e-10 under the root, and
a mean that starts at 1. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from dpcore.training.optimizers.base import POST_PROCESSING, Hyperparameters, Optimizer, State, Tensor, UpdateRules

DECAY, EPS, START = 0.9, 1e-10, 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- .9 s + .1 g^2."""
    state.vectors[0].mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """s <- .9 s + .1 g^2 from s = 1; step -lr g / sqrt(s + 1e-10). The state is s."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.addcmul_(gradient, (state.vectors[0] + EPS).rsqrt_(), value=-lr)

    return UpdateRules((START,), absorb, step)


IN_TORCH = """made = torch.optim.RMSprop(weights, lr=config.lr, alpha=0.9, eps=0.0)
for weight in weights:  # its mean of squares starts at 1
    made.state[weight] = {
        "step": torch.tensor(0.0),
        "square_avg": torch.ones_like(weight),
        "momentum_buffer": torch.zeros_like(weight),
    }
return made"""
RMSPROP = Optimizer(
    name="rmsprop",
    title="RMSprop",
    note=POST_PROCESSING,
    source="Tieleman and Hinton 2012, lecture 6.5; constants of TensorFlow 1",
    rules=rules,
    lr=0.005,
    baseline_lr=0.002,
    clip_norm=4.0,  # its mean starts at 1: short gradients would take the whole run to be felt
    in_torch=IN_TORCH,
)
