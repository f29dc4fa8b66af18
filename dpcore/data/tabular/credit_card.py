"""Credit card fraud: all frauds and as many other payments, of the file that is published (creditcard.csv)."""

import numpy as np

from dpcore.data.tabular.columns import Number
from dpcore.data.tabular.delimited import Lines, Original

COMPONENTS = tuple(f"V{number}" for number in range(1, 29))
FRAUD, GENUINE = "1", "0"


def balanced(lines: Lines) -> Lines:
    """All frauds, and as many others at fixed random positions: 984 rows, as in the paper."""
    frauds = [line for line in lines if _word(line) == FRAUD]
    others = [line for line in lines if _word(line) != FRAUD]
    places = np.random.RandomState(0).permutation(len(others))[: len(frauds)]
    return [*frauds, *(others[place] for place in places)]


def _word(line: str) -> str:
    return line.rpartition(",")[2].strip().strip('"')


CREDIT_CARD = Original(
    name="credit_card",
    title="Credit card fraud",
    classes=("fraud", "genuine"),
    bound=2.0,
    origin="Credit Card Fraud Detection, Worldline and ULB, 2018: 984 rows, half of them frauds",
    files=("creditcard.csv",),
    fields=("Time", *COMPONENTS, "Amount", "Class"),
    columns=(*(Number(name, -10, 10) for name in COMPONENTS), Number("Amount", 0, 25_000, log=True)),
    words=((FRAUD, 0), (GENUINE, 1)),
    header=True,
    chosen=balanced,
    openml=1597,
)
