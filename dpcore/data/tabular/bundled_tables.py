"""Tables that need no file of their own: scikit-learn's small ones, and pairs of classes of MNIST or Fashion-MNIST.

Ranges are those that scikit-learn's descriptions print. Images are of the full set if it is here, else of the sample.
"""

import numpy as np

from dpcore.data.catalogue import FASHION_MNIST, MNIST, Dataset, available
from dpcore.data.loading import load
from dpcore.data.tabular.columns import Number, features_of, names_of
from dpcore.data.tabular.table import Rows, Table

# Lowest and highest value as scikit-learn's descriptions print them (`load_breast_cancer().DESCR` and the like).
CELL_NUCLEI = (  # of the mean, the standard error and the worst
    ("radius", (6.981, 28.11), (0.112, 2.873), (7.93, 36.04)),
    ("texture", (9.71, 39.28), (0.36, 4.885), (12.02, 49.54)),
    ("perimeter", (43.79, 188.5), (0.757, 21.98), (50.41, 251.2)),
    ("area", (143.5, 2501.0), (6.802, 542.2), (185.2, 4254.0)),
    ("smoothness", (0.053, 0.163), (0.002, 0.031), (0.071, 0.223)),
    ("compactness", (0.019, 0.345), (0.002, 0.135), (0.027, 1.058)),
    ("concavity", (0.0, 0.427), (0.0, 0.396), (0.0, 1.252)),
    ("concave points", (0.0, 0.201), (0.0, 0.053), (0.0, 0.291)),
    ("symmetry", (0.106, 0.304), (0.008, 0.079), (0.156, 0.664)),
    ("fractal dimension", (0.05, 0.097), (0.001, 0.03), (0.055, 0.208)),
)
FLOWERS = (
    ("sepal length", 4.3, 7.9),
    ("sepal width", 2.0, 4.4),
    ("petal length", 1.0, 6.9),
    ("petal width", 0.1, 2.5),
)
WINES = (
    ("alcohol", 11.0, 14.8),
    ("malic acid", 0.74, 5.80),
    ("ash", 1.36, 3.23),
    ("alcalinity of ash", 10.6, 30.0),
    ("magnesium", 70.0, 162.0),
    ("total phenols", 0.98, 3.88),
    ("flavanoids", 0.34, 5.08),
    ("nonflavanoid phenols", 0.13, 0.66),
    ("proanthocyanins", 0.41, 3.58),
    ("colour intensity", 1.3, 13.0),
    ("hue", 0.48, 1.71),
    ("OD280/OD315 of diluted wines", 1.27, 4.00),
    ("proline", 278.0, 1680.0),
)
NEAR = 0.7  # of the printed range of cell nuclei: few lie beyond, and the rest is spread over more of [-1, 1]


def _cell_nuclei() -> tuple[Number, ...]:
    kinds = ("mean", "error of", "worst")
    return tuple(
        Number(f"{kind} {name}", low, low + NEAR * (high - low))
        for place, kind in enumerate(kinds)
        for name, *ranges in CELL_NUCLEI
        for low, high in [ranges[place]]
    )


def _scikit_table(
    name: str, title: str, classes: tuple[str, ...], columns: tuple[Number, ...], bound: float, origin: str
) -> Table:
    def read() -> Rows:
        values, labels = _load(name)
        return Rows(features_of(columns, list(values.T)), labels)

    return Table(name, title, classes, len(columns), bound, origin, read, _absent, names_of(columns))


def _load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if absent := _absent():
        raise ValueError(absent)
    from sklearn import datasets  # here, not above: costs a second

    values, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return values, labels.astype(np.int64)


def _absent() -> str:
    from importlib.util import find_spec

    return "" if find_spec("sklearn") else "Expected scikit-learn, which carries this table: pip install scikit-learn."


BREAST_CANCER = _scikit_table(
    "breast_cancer",
    "Breast Cancer",
    ("malignant", "benign"),
    _cell_nuclei(),
    3.0,
    "Breast Cancer Wisconsin (Diagnostic), W. H. Wolberg, W. N. Street and O. L. Mangasarian, 1995, as in scikit-learn",
)
IRIS = _scikit_table(
    "iris",
    "Iris",
    ("setosa", "versicolor", "virginica"),
    tuple(Number(*each) for each in FLOWERS),
    1.5,
    "Iris plants, R. A. Fisher, 1936, as in scikit-learn",
)
WINE = _scikit_table(
    "wine",
    "Wine",
    ("class_0", "class_1", "class_2"),
    tuple(Number(*each) for each in WINES),
    2.0,
    "Wine recognition, M. Forina et al., PARVUS, as in scikit-learn",
)
DIGITS = _scikit_table(
    "digits",
    "Digits",
    tuple("0123456789"),
    tuple(Number(f"pixel {place}", 0.0, 16.0) for place in range(64)),
    7.0,
    "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, 1998, as in scikit-learn",
)


def _image_table(dataset: Dataset) -> Table:
    pixels = dataset.shape[1] * dataset.shape[2]

    def read() -> Rows:
        split = load(dataset.name, available(dataset.name)[0])
        images = np.concatenate([split.train.images, split.test.images]).reshape(-1, pixels)
        labels = np.concatenate([split.train.labels, split.test.labels]).astype(np.int64)
        return Rows(images / 127.5 - 1.0, labels, np.arange(len(split.train), len(labels)))

    bound = 28.0  # the norm of an image whose pixels are all black or white
    return Table(dataset.name, dataset.title, dataset.classes, pixels, bound, dataset.origin, read, lambda: "")


MNIST_PAIRS = _image_table(MNIST)
FASHION_MNIST_PAIRS = _image_table(FASHION_MNIST)
