"""Optimizers that torch also has, on the noisy mean gradient: SGD, Adam, Adagrad and RMSprop."""

from __future__ import annotations

from dpcore.training.optimizers.base import (
    Optimizer,
    State,
    Tensor,
    UpdateRules,
    square_mean,
    words_of,
)


def sgd(momentum: float, reading: str) -> UpdateRules:
    """v <- momentum v + g; step -lr v.

    The state is v, or nothing without momentum, the heavy ball of 2011.11660.
    """

    def absorb(gradient: Tensor, state: State) -> None:
        for velocity in state.vectors[:1]:
            velocity.mul_(momentum).add_(gradient)

    return UpdateRules((0.0,) if momentum else (), absorb, sgd_step)


def sgd_step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr v, or -lr g without momentum."""
    parameters.add_(state.vectors[0] if state.vectors else gradient, alpha=-lr)


SGD = Optimizer(
    **words_of("sgd"),
    rules=sgd,
    momentum=True,
    in_torch="return torch.optim.SGD(weights, lr=config.lr, momentum=config.momentum)",
    proportional=True,
)
# The values of Kingma and Ba, and of Bu et al.
BETA1 = 0.9
BETA2 = 0.999
ADAM_EPS = 1e-8


def absorb_moments(gradient: Tensor, state: State) -> None:
    """m <- .9 m + .1 g; v <- .999 v + .001 g^2."""
    first, second = state.vectors
    first.lerp_(gradient, 1 - BETA1)
    second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def adam_step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr m_hat / (sqrt(v_hat) + 1e-8), hats without the start bias, as in the scripts of Bu
    et al.
    """
    first, second = state.vectors
    bias = 1 - BETA1**state.count
    divisor = (second * (bias**2 / (1 - BETA2**state.count))).sqrt_().add_(ADAM_EPS * bias)
    parameters.addcdiv_(first, divisor, value=-lr)


ADAM = Optimizer(
    **words_of("adam"),
    rules=lambda momentum, reading: UpdateRules((0.0, 0.0), absorb_moments, adam_step),
    in_torch="return torch.optim.Adam(weights, lr=config.lr)",
)
ADAGRAD_START = 0.1  # of s, as in TensorFlow 1, which has no epsilon


def absorb_square(gradient: Tensor, state: State) -> None:
    """s <- s + g^2."""
    state.vectors[0].addcmul_(gradient, gradient)


def adagrad_step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr g / sqrt(s)."""
    parameters.addcmul_(gradient, state.vectors[0].rsqrt(), value=-lr)


ADAGRAD = Optimizer(
    **words_of("adagrad"),
    rules=lambda momentum, reading: UpdateRules((ADAGRAD_START,), absorb_square, adagrad_step),
    in_torch=(
        "return torch.optim.Adagrad(weights, lr=config.lr, initial_accumulator_value=0.1, eps=0.0)"
    ),
)
# As in TensorFlow 1.
DECAY = 0.9
RMSPROP_EPS = 1e-10
RMSPROP_START = 1.0


def rmsprop_step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
    """Step -lr g / sqrt(s + 1e-10)."""
    parameters.addcmul_(gradient, (state.vectors[0] + RMSPROP_EPS).rsqrt_(), value=-lr)


RMSPROP = Optimizer(
    **words_of("rmsprop"),
    rules=lambda momentum, reading: UpdateRules((RMSPROP_START,), square_mean(DECAY), rmsprop_step),
    in_torch="""made = torch.optim.RMSprop(weights, lr=config.lr, alpha=0.9, eps=0.0)
for weight in weights:  # its mean of squares starts at 1
    made.state[weight] = {
        "step": torch.tensor(0.0),
        "square_avg": torch.ones_like(weight),
        "momentum_buffer": torch.zeros_like(weight),
    }
return made""",
)
