"""The optimizers by name; free of torch at import, so that configurations can check names."""

from dpcore.training.optimizers.adam import adam
from dpcore.training.optimizers.base import Optimizer
from dpcore.training.optimizers.sgd import sgd

__all__ = ["OPTIMIZERS", "Optimizer"]

OPTIMIZERS = {"sgd": sgd, "adam": adam}  # name -> f(config) -> Optimizer
