"""The tables of `tables.toml` (scikit-learn's small ones, and delimited text), and pairs of classes
of images.

Adult: incomes above 50,000 dollars in 1994. Bank: clients who took a deposit after a call.
KDDCup99: attacks among connections. Credit card fraud: all frauds and as many other payments.
Images are of the full set if it is here, else of the sample.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.data.catalogue import FASHION_MNIST, MNIST, Dataset, available
from dpcore.data.loading import load
from dpcore.data.tabular.columns import Category, Column, Number, features_of, names_of
from dpcore.data.tabular.delimited import Lines, Original
from dpcore.data.tabular.table import Rows, Table, shuffled
from dpcore.privacy import words_in

FACTS: dict[str, dict[str, Any]] = words_in(Path(__file__).with_name("tables.toml"))
# Of the printed range of cell nuclei: few lie beyond, and the others fill more of [-1, 1].
NUCLEI_SHARE = 0.7
KDD_ROWS = 70_000  # as in the paper
FRAUD = "1"


def _column(name: str, *facts: Any) -> Column:
    """Make a column of words from a text, or one of numbers from the lowest, the highest and maybe
    "log".
    """
    if isinstance(facts[0], str):
        return Category(name, tuple(facts[0].split()))
    low, high, *log = facts
    return Number(name, low, high, bool(log))


def _columns(name: str) -> tuple[Column, ...]:
    return tuple(_column(*each) for each in FACTS[name]["columns"])


def _original(name: str, chosen: Callable[[Lines], Lines] = list) -> Original:
    facts = FACTS[name]
    columns = _columns(name)
    if "fields" in facts:
        fields = facts["fields"].split()
    else:
        fields = [*(each.name for each in columns), facts["label"]]
    return Original(
        name=name,
        title=facts["title"],
        classes=tuple(facts["classes"]),
        bound=facts["bound"],
        origin=facts["origin"],
        files=tuple(facts["files"]),
        fields=tuple(fields),
        columns=columns,
        words=tuple(facts["words"].items()),
        separator=facts.get("separator", ","),
        header=facts.get("header", False),
        otherwise=facts.get("otherwise"),
        chosen=chosen,
        openml=facts.get("openml"),
    )


def complete(lines: Lines) -> Lines:
    """Select the rows without an unknown field: 45,222 of 48,842, as in the paper."""
    return [line for line in lines if "?" not in line]


def at_fixed_places(lines: Lines) -> Lines:
    """Select rows at fixed random positions, which depend on no value."""
    if len(lines) <= KDD_ROWS:
        return lines
    return _some(lines, KDD_ROWS)


def _some(lines: Lines, count: int) -> Lines:
    return [lines[place] for place in shuffled(len(lines))[:count]]


def balanced(lines: Lines) -> Lines:
    """Select all frauds, and as many others at fixed random positions: 984 rows, as the paper."""
    frauds = []
    others = []
    for line in lines:
        word = line.rpartition(",")[2].strip().strip('"')
        (frauds if word == FRAUD else others).append(line)
    return frauds + _some(others, len(frauds))


def _scikit_table(name: str, columns: tuple[Column, ...]) -> Table:
    def read() -> Rows:
        from sklearn import datasets  # here, not above: costs a second

        values, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
        return Rows(features_of(columns, list(values.T)), labels.astype(np.int64))

    facts = FACTS[name]
    return Table(
        name,
        facts["title"],
        tuple(facts["classes"]),
        len(columns),
        facts["bound"],
        facts["origin"],
        read,
        names_of(columns),
    )


def _image_table(dataset: Dataset) -> Table:
    pixels = dataset.shape[1] * dataset.shape[2]

    def read() -> Rows:
        split = load(dataset.name, available(dataset.name)[0])
        images = np.concatenate([split.train.images, split.test.images]).reshape(-1, pixels)
        labels = np.concatenate([split.train.labels, split.test.labels]).astype(np.int64)
        return Rows(images / 127.5 - 1.0, labels, np.arange(len(split.train), len(labels)))

    bound = 28.0  # the norm of an image whose pixels are all black or white
    return Table(dataset.name, dataset.title, dataset.classes, pixels, bound, dataset.origin, read)


def _nuclei() -> tuple[Column, ...]:
    """Return the columns of the table of cell nuclei."""
    columns = []
    for place, kind in enumerate(("mean", "error of", "worst")):
        for name, *ranges in FACTS["breast_cancer"]["nuclei"]:
            low, high = ranges[place]
            columns.append(Number(f"{kind} {name}", low, low + NUCLEI_SHARE * (high - low)))
    return tuple(columns)


ADULT = _original("adult", complete)
ORIGINALS = {  # read from files that the user provides
    "adult": ADULT,
    "bank": _original("bank"),
    "kddcup99": _original("kddcup99", at_fixed_places),
    "credit_card": _original("credit_card", balanced),
}
BUNDLED = (
    _scikit_table("breast_cancer", _nuclei()),
    _scikit_table("iris", _columns("iris")),
    _scikit_table("wine", _columns("wine")),
    _scikit_table("digits", tuple(Number(f"pixel {place}", 0.0, 16.0) for place in range(64))),
    _image_table(MNIST),
    _image_table(FASHION_MNIST),
)
TABLES = {each.name: each for each in BUNDLED}
for _name, _table in ORIGINALS.items():
    TABLES[_name] = _table.table()
