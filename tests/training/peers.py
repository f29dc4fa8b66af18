"""What torch.optim has of the optimizers: f(weights, config)."""

import torch


def rmsprop_from_one(weights, config):
    """RMSprop with a mean that starts at 1, as TensorFlow's does."""
    peer = torch.optim.RMSprop(weights, lr=config.lr, alpha=0.9, eps=0.0)
    for weight in weights:
        peer.state[weight] = {
            "step": torch.tensor(0.0),
            "square_avg": torch.ones_like(weight),
            "momentum_buffer": torch.zeros_like(weight),
        }
    return peer


PEERS = {
    "sgd": lambda weights, config: torch.optim.SGD(weights, lr=config.lr, momentum=config.momentum),
    "adam": lambda weights, config: torch.optim.Adam(weights, lr=config.lr),
    "adagrad": lambda weights, config: torch.optim.Adagrad(
        weights, lr=config.lr, initial_accumulator_value=0.1, eps=0.0
    ),
    "rmsprop": rmsprop_from_one,
    "adppl": lambda weights, config: torch.optim.SGD(weights, lr=config.lr, momentum=config.momentum),
}
