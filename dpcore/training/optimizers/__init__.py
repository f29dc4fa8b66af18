"""The optimizers by name; free of torch at import, so that configurations can check names."""

from dpcore.training.optimizers.adadp import adadp
from dpcore.training.optimizers.adagrad import adagrad
from dpcore.training.optimizers.adam import adam
from dpcore.training.optimizers.adppl import adppl
from dpcore.training.optimizers.base import Optimizer
from dpcore.training.optimizers.pi_adagrad import pi_adagrad
from dpcore.training.optimizers.pi_adam import pi_adam
from dpcore.training.optimizers.pi_rmsprop import pi_rmsprop
from dpcore.training.optimizers.rmsprop import rmsprop
from dpcore.training.optimizers.sgd import sgd

__all__ = ["OPTIMIZERS", "Optimizer"]

OPTIMIZERS = {  # name -> f(config) -> Optimizer
    "sgd": sgd,
    "adam": adam,
    "adagrad": adagrad,
    "rmsprop": rmsprop,
    "pi_adam": pi_adam,
    "pi_rmsprop": pi_rmsprop,
    "pi_adagrad": pi_adagrad,
    "adadp": adadp,
    "adppl": adppl,
}
