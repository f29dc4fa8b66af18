"""Fit the weights of dpcore.claims.likeness to texts.jsonl.xz: `python -m tests.claims.learn`.

A line of the file is one text, with the values that a reader takes from it. It does not say at
which place a value stands, so the places are chosen in turns with the weights. Lines with `"held":
true` are kept for tests.
"""

import json
import lzma
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from dpcore.claims.candidates import Reader
from dpcore.claims.likeness import BITS, LEARNT, WEIGHTS
from dpcore.claims.plain_text import plain_text
from tests.claims.test_text import AWRY, FORMS, LEFT_ALONE

TEXTS = Path(__file__).with_name("texts.jsonl.xz")
NONE = len(LEARNT)
PENALTY, ROUNDS, STEPS = 0.005, 3, 60


class Number(NamedTuple):
    """A number of a text: its hashed features, and the fields that have its value."""

    features: list[int]
    fields: list[int]


def texts(*, held: bool) -> list[dict[str, Any]]:
    """Return the texts to learn from, or those that are held out."""
    with lzma.open(TEXTS, "rt", encoding="utf-8") as file:
        return [each for each in map(json.loads, file) if each.get("held", False) == held]


def numbers_of(text: str, expected: dict[str, Any]) -> list[Number]:
    """Return the numbers of a text."""
    wanted = [
        float(Fraction(str(expected[field]))) if field in expected else None for field in LEARNT
    ]
    return [
        Number(
            features,
            [
                k
                for k, want in enumerate(wanted)
                if want is not None and abs(value - want) <= 1e-9 * want
            ],
        )
        for _, value, features in Reader(plain_text(text).text).surroundings()
    ]


def fitted(several: Sequence[Sequence[Number]]) -> NDArray[np.float64]:
    """Return the weights, the bias below them, of multinomial logistic regression, shape (2^BITS +
    1, fields + 1).
    """
    numbers = [each for one in several for each in one]
    counts = [len(each.features) for each in numbers]
    x = csr_matrix(
        (np.repeat(1 / np.sqrt(counts), counts), [k for each in numbers for k in each.features],
         np.cumsum([0, *counts])), shape=(len(numbers), 2**BITS),
    )  # fmt: skip
    weights = np.zeros((2**BITS + 1, NONE + 1))
    for turn in range(ROUNDS):
        scores = (
            log_softmax(x @ weights[:-1] + weights[-1], 1)
            if turn
            else np.zeros((len(numbers), NONE + 1))
        )
        weights = _regressed(x, _places(several, scores, first=not turn), weights)
    return weights


def _places(
    several: Sequence[Sequence[Number]], scores: NDArray[np.float64], *, first: bool
) -> NDArray[np.float64]:
    """Return the share of each number in each field, rows of weight: of several with one value the
    likeliest.
    """
    shares, row = np.zeros(scores.shape), 0
    for one in several:
        rows: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(one):
            for field in each.fields:
                rows[field].append(row + place)
        for at, each in enumerate(one, row):
            several_times = any(len(rows[field]) > 1 for field in each.fields)
            if first and each.fields:
                shares[at, each.fields] = (
                    0.3 if several_times or len(each.fields) > 1 else 1
                ) / len(each.fields)
                continue
            best = max(
                (*each.fields, *[NONE][: several_times or not each.fields]),
                key=lambda field: scores[at, field],
            )
            only = [
                f
                for f in each.fields
                if max(rows[f], key=lambda k: scores[k, f] - scores[k, NONE]) == at
            ]
            shares[at, only[-1] if only and best == NONE else best] = 1
        row += len(one)
    return shares


def _regressed(
    x: Any, shares: NDArray[np.float64], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(start.shape)
        logs = log_softmax(x @ weights[:-1] + weights[-1], 1)
        rest = np.exp(logs) * shares.sum(1, keepdims=True) - shares
        slope = np.vstack([x.T @ rest + 2 * PENALTY * weights[:-1], rest.sum(0)])
        return float(PENALTY * np.sum(weights[:-1] ** 2) - np.sum(shares * logs)), slope.ravel()

    return minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    ).x.reshape(start.shape)


def main() -> None:
    """Fit and write the weights."""
    known = [(each["text"], each["expected"]) for each in texts(held=False)]
    short = {**{text: {} for text in LEFT_ALONE}, **AWRY, **FORMS}
    weights = fitted([numbers_of(*each) for each in (*known, *short.items())])
    scale = np.abs(weights[:-1]).max() / 127
    np.savez_compressed(
        WEIGHTS,
        weights=np.rint(weights[:-1] / scale).astype(np.int8),
        scale=scale,
        bias=weights[-1],
    )


if __name__ == "__main__":
    main()
