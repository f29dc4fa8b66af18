"""NoisyRMSprop: post-processing of the noisy mean gradient, with the constants of TensorFlow 1."""

from __future__ import annotations

from dpcore.training.optimizers.base import Optimizer, State, Tensor, UpdateRules, square_mean, words_of

DECAY, EPS, START = 0.9, 1e-10, 1.0


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
    """Step -lr g / sqrt(s + 1e-10)."""
    parameters.addcmul_(gradient, (state.vectors[0] + EPS).rsqrt_(), value=-lr)


IN_TORCH = """made = torch.optim.RMSprop(weights, lr=config.lr, alpha=0.9, eps=0.0)
for weight in weights:  # its mean of squares starts at 1
    made.state[weight] = {
        "step": torch.tensor(0.0),
        "square_avg": torch.ones_like(weight),
        "momentum_buffer": torch.zeros_like(weight),
    }
return made"""
RMSPROP = Optimizer(
    **words_of("rmsprop"),
    rules=lambda hyperparameters: UpdateRules((START,), square_mean(DECAY), step),
    in_torch=IN_TORCH,
)
