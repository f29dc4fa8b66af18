"""Tables with two classes for the comparison of perturbation methods; free of torch, so that pages may ask."""

from dpcore.data.tabular.bundled_tables import BREAST_CANCER, DIGITS, FASHION_MNIST_PAIRS, IRIS, MNIST_PAIRS, WINE
from dpcore.data.tabular.delimited_tables import ADULT, BANK, CREDIT_CARD, KDDCUP99

ORIGINALS = {each.name: each for each in (ADULT, BANK, KDDCUP99, CREDIT_CARD)}  # read from files that must be brought
BUNDLED = (BREAST_CANCER, IRIS, WINE, DIGITS, MNIST_PAIRS, FASHION_MNIST_PAIRS)
TABLES = {each.name: each for each in (*BUNDLED, *(original.table() for original in ORIGINALS.values()))}
