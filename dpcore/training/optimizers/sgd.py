"""NoisySGD: post-processing of the noisy mean gradient, with heavy-ball momentum as in arXiv 2011.11660."""

from __future__ import annotations

from dpcore.training.optimizers.base import Hyperparameters, Optimizer, State, Tensor, UpdateRules, words_of


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """v <- momentum v + g; step -lr v. The state is v, or nothing without momentum."""
    momentum = hyperparameters.momentum

    def absorb(gradient: Tensor, state: State) -> None:
        for velocity in state.vectors:
            velocity.mul_(momentum).add_(gradient)

    return UpdateRules((0.0,) if momentum else (), absorb, step)


def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
    """Step -lr v, or -lr g without momentum."""
    parameters.add_(state.vectors[0] if state.vectors else gradient, alpha=-lr)


SGD = Optimizer(
    **words_of("sgd"),
    rules=rules,
    momentum=True,
    in_torch="return torch.optim.SGD(weights, lr=config.lr, momentum=config.momentum)",
    proportional=True,
)
