"""Texts and printed numbers of the papers, from `paper.toml` in each paper's folder.

A line break in a text is a space. A text may name computed numbers, as {sigma:g}.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dpcore.papers.paper import Calculator, CheckedClaim, Quantity, Remark, Sweep, TextRows
from dpcore.privacy import words_in
from dpcore.privacy.report.numbers import DIGITS, outward
from dpcore.training.config import RunConfig

Numbers = Mapping[str, object]  # by their names in a text
Values = Mapping[str, Any]  # fields of RunConfig, by name
UNKNOWN = "Not recorded yet; the page Papers can train it."


def words_of(folder: str) -> dict[str, Any]:
    """Read a paper's `paper.toml`."""
    return words_in(Path(__file__).parent / folder / "paper.toml")


def with_numbers(texts: Mapping[str, Any], **numbers: object) -> dict[str, Any]:
    """Return a table with these numbers in its texts."""
    filled = dict(texts)
    for name, value in texts.items():
        if isinstance(value, str):
            filled[name] = value.format(**numbers)
    return filled


def rounded_up(bound: float, digits: int = DIGITS) -> str:
    """Write an upper bound in so many significant digits."""
    return outward(bound, math.ceil, digits)


def rounded_down(bound: float, digits: int = DIGITS) -> str:
    """Write a lower bound in so many significant digits."""
    return outward(bound, math.floor, digits)


def config_of(*tables: Values) -> RunConfig:
    """Return the run with the settings of all tables; a later table overrides earlier ones.

    >>> config_of({"sigma": 2.0, "lr": 0.1}, {"sigma": 3.0}).sigma
    3.0
    """
    settings: dict[str, Any] = {}
    for table in tables:
        settings.update(table)
    return RunConfig(**settings)


def findings(
    words: Mapping[str, Any], answers: Mapping[str, Callable[[], Any]]
) -> tuple[CheckedClaim, ...]:
    """Return the claims of a paper, each with what holds of it.

    An answer returns the numbers for the text in `words` with the same name; or the whole text, if
    its sentences depend on the outcome.
    """
    claims = []
    for name, texts in words["findings"].items():
        holds = answers.get(name, dict)  # no numbers without an answer
        if "holds" in texts:
            holds = partial(_filled, texts["holds"], holds)
        claims.append(CheckedClaim(texts["claim"], holds))
    return tuple(claims)


def _filled(text: str, numbers: Callable[[], Numbers]) -> str:
    return text.format(**numbers())


def remarks(words: Mapping[str, Any], **numbers: object) -> tuple[Remark, ...]:
    """Return the gaps and omissions of a paper, with these numbers in their texts."""
    return tuple(Remark(**with_numbers(each, **numbers)) for each in words["remarks"])


def calculator(
    texts: Mapping[str, Any], rows: Callable[[Mapping[str, float]], TextRows]
) -> Calculator:
    """Return a calculator with these rows."""
    return Calculator(
        place=texts["place"],
        title=texts["title"],
        asks=tuple(Quantity(**each) for each in texts["asks"]),
        columns=tuple(texts["columns"]),
        rows=rows,
        note=texts["note"],
    )


def sweep(
    reference: RunConfig,
    *,
    place: str,
    title: str,
    setting: str,
    values: Sequence[float],
    along: Mapping[str, Sequence[float]] | None = None,
    note: str = "",
) -> Sweep:
    """Return a run for each value of a setting; `along` has the values of those that follow it."""
    followers = along or {}
    configs = []
    for number, value in enumerate(values):
        changed: dict[str, Any] = {setting: value}
        for name, theirs in followers.items():
            changed[name] = theirs[number]
        configs.append(replace(reference, **changed))
    return Sweep(place, title, setting, tuple(configs), note, tuple(followers))
