"""Releases that are not Gaussian, beside Gaussian steps on the same data."""

from dpcore.privacy.beside.laws import (
    Concentrated,
    DiscreteGaussian,
    Guarantee,
    Laplace,
    Other,
    Pipeline,
)
from dpcore.privacy.beside.product import Beside

__all__ = [
    "Beside",
    "Concentrated",
    "DiscreteGaussian",
    "Guarantee",
    "Laplace",
    "Other",
    "Pipeline",
]
