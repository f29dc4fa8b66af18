"""The field of a number by the letters and words around it, as learnt from texts that people wrote.

A linear model of hashed features gives each number a probability for each field. It is asked only
for fields that no name in the text gives a value, and what it is less than sure of is marked.
`python -m tests.claims.learn` fits it.
"""

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LEARNT = ("epsilon", "delta", "sigma", "q", "batch", "examples", "epochs", "steps")
WEIGHTS = Path(__file__).with_name("likeness.npz")
BITS = 14  # of a hashed feature
AROUND = 12  # other numbers on either side that a number is compared with
LETTER = r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"  # that stands for a word or a syllable
TOKEN = re.compile(rf"(?:(?!{LETTER})[^\W\d_])+|{LETTER}|\d[\d.,eE^-]*|\S")


def features(
    text: str, span: tuple[int, int], values: Sequence[float], place: int, keys: str
) -> Iterator[str]:
    """Yield what tells the field of a number in a plain text: its surroundings, keys, size and
    relations.
    """
    start, end = span
    value, others = (
        values[place],
        [*values[max(0, place - AROUND) : place], *values[place + 1 : place + 1 + AROUND]],
    )
    line = text.rfind("\n", 0, start) + 1
    left, right = _tokens(text[max(0, start - 120) : start])[::-1], _tokens(text[end : end + 60])
    yield from _side("<", left, text[max(line, start - 14) : start].lower())
    yield from _side(">", right, text[end : end + 12].partition("\n")[0].lower())
    yield from (f"<> {left[:m]} {right[:n]}" for m, n in ((1, 1), (2, 1), (1, 2)))
    yield from (f"key {each}" for each in _tokens(keys))
    yield "form " + re.sub(r"\d+", "9", text[start:end])
    whole = value.is_integer()
    size = f"size {math.floor(math.log10(abs(value))) if value else None} {whole}"
    yield from (
        size,
        f"zeros {len(f'{value:.0f}'.rstrip('0'))} {size}",
        f"twice {min(3, 1 + others.count(value))}",
    )
    yield f"two {whole and value >= 4 and not int(value) & (int(value) - 1)}"
    yield from (f"{size} {each}" for each in (*_words(left)[:2], *_words(right)[:1]))
    if any(abs(each * value - 1) < 0.3 for each in others if each < 1):
        yield "inverse"
    if 0 < value < 1 and any(
        abs(k / n / value - 1) < 0.02 for n in others for k in others if 8 <= k < n
    ):
        yield "ratio"


def _tokens(text: str) -> list[str]:
    return ["0" if each[0].isdigit() else each.lower() for each in TOKEN.findall(text)]


def _words(tokens: Sequence[str]) -> list[str]:
    return [each for each in tokens if each[0].isalpha()]


def _side(side: str, tokens: list[str], letters: str) -> Iterator[str]:
    """Yield the features of one side, nearest tokens first."""
    for kind, row in (("", tokens), ("word", _words(tokens))):
        yield from (f"{side}{kind}{n} {' '.join(row[:n])}" for n in (1, 2, 3))
        yield from (f"{side}{kind}@{place} {each}" for place, each in enumerate(row[1:3]))
    yield from (f"{side}near {each}" for each in [*takewhile("0".__ne__, tokens)][:12])
    for n in (3, 4, 5):
        yield from (f"{side}letters {letters[k : k + n]}" for k in range(len(letters) - n + 1))


def hashed(names: Iterator[str]) -> list[int]:
    """Return the places of features in the weights."""
    return sorted(
        {zlib.crc32(each.encode(errors="surrogatepass")) >> (32 - BITS) for each in names}
    )


@cache
def _weights() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with np.load(WEIGHTS) as file:
        return file["weights"] * float(file["scale"]), file["bias"]


def likeness(named: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the probability of each field for each number of these hashed features; they add up to
    less than 1.
    """
    weights, bias = _weights()
    if not named:
        return np.zeros((0, len(LEARNT)))
    scores = np.array(
        [weights[each].sum(0) / math.sqrt(len(each)) + bias for each in named]
    ).reshape(-1, len(bias))
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return (shares / shares.sum(1, keepdims=True))[:, :-1]
