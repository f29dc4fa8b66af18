"""Tables with two classes for the comparison of perturbation methods; free of torch, so that pages may ask."""

from dpcore.data.tabular.images import FASHION_MNIST_PAIRS, MNIST_PAIRS
from dpcore.data.tabular.scikit import BREAST_CANCER, DIGITS, IRIS, WINE

TABLES = {each.name: each for each in (BREAST_CANCER, IRIS, WINE, DIGITS, MNIST_PAIRS, FASHION_MNIST_PAIRS)}
