"""The methods: each is one object with its line in the registry, and says itself when it is not private."""

from dpcore.training.perturbation.methods.base import Kind, Method
from dpcore.training.perturbation.methods.non_private import NonPrivate
from dpcore.training.perturbation.methods.output import OutputPerturbation

METHODS = {method.name: method for method in (NonPrivate(), OutputPerturbation())}

__all__ = ["METHODS", "Kind", "Method"]
