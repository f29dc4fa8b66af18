"""Two classes of MNIST or Fashion-MNIST as a table of pixels: of the full set where it is here, else of the sample."""

import numpy as np

from dpcore.data.catalogue import FASHION_MNIST, MNIST, Dataset, available
from dpcore.data.loading import load
from dpcore.data.tabular.table import Rows, Table

BOUND = 28.0  # the norm of an image whose pixels are all black or white


def _table(dataset: Dataset) -> Table:
    pixels = dataset.shape[1] * dataset.shape[2]

    def read() -> Rows:
        split = load(dataset.name, available(dataset.name)[0])
        images = np.concatenate([split.train.images, split.test.images]).reshape(-1, pixels)
        labels = np.concatenate([split.train.labels, split.test.labels]).astype(np.int64)
        return Rows(images / 127.5 - 1.0, labels, np.arange(len(split.train), len(labels)))

    return Table(dataset.name, dataset.title, dataset.classes, pixels, BOUND, dataset.origin, read, lambda: "")


MNIST_PAIRS = _table(MNIST)
FASHION_MNIST_PAIRS = _table(FASHION_MNIST)
