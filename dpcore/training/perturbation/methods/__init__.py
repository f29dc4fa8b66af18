"""Registry of the methods: each is one object with one line here."""

from dpcore.training.perturbation.methods.base import Method, Protection
from dpcore.training.perturbation.methods.bassily import BassilyDescent
from dpcore.training.perturbation.methods.descent import (
    GradientPerturbation,
    NonPrivate,
    OutputPerturbation,
)
from dpcore.training.perturbation.methods.input_noise import (
    LocalInputPerturbation,
    PaperInputPerturbation,
)
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation

METHODS = {
    method.name: method
    for method in (
        NonPrivate(),
        OutputPerturbation(),
        ObjectivePerturbation(),
        GradientPerturbation(),
        BassilyDescent(),
        LocalInputPerturbation(),
        PaperInputPerturbation(),
    )
}

__all__ = ["METHODS", "Method", "Protection"]
