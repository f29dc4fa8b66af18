"""What is learnt: each model is one object with its line in the registry."""

from dpcore.training.perturbation.models.base import Model
from dpcore.training.perturbation.models.logistic import Logistic
from dpcore.training.perturbation.models.mlp import Mlp

MODELS = {model.name: model for model in (Logistic(), Mlp())}

__all__ = ["MODELS", "Model"]
