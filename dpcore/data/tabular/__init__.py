"""Tables with two classes for the comparison of perturbation methods; free of torch, so that pages may ask."""

from dpcore.data.tabular.adult import ADULT
from dpcore.data.tabular.bank import BANK
from dpcore.data.tabular.credit_card import CREDIT_CARD
from dpcore.data.tabular.images import FASHION_MNIST_PAIRS, MNIST_PAIRS
from dpcore.data.tabular.kddcup99 import KDDCUP99
from dpcore.data.tabular.scikit import BREAST_CANCER, DIGITS, IRIS, WINE

ORIGINALS = {each.name: each for each in (ADULT, BANK, KDDCUP99, CREDIT_CARD)}  # read from files that must be brought
TABLES = {
    each.name: each
    for each in (
        BREAST_CANCER,
        IRIS,
        WINE,
        DIGITS,
        MNIST_PAIRS,
        FASHION_MNIST_PAIRS,
        *(original.table() for original in ORIGINALS.values()),
    )
}
