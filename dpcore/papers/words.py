"""Rows, texts and figures of a paper, from `paper.toml` in its folder.

A line break in a text is a space. A text may name computed numbers, as {sigma:g}; that of a trained
row, settings of its run as well.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting, Trained
from dpcore.papers.paper import (
    Calculator,
    CheckedClaim,
    Curve,
    Drawing,
    Grid,
    Lines,
    Quantity,
    Remark,
    TextRows,
)
from dpcore.papers.records import NotRecorded
from dpcore.privacy import words_in
from dpcore.privacy.report.numbers import DIGITS, outward
from dpcore.training.config import RunConfig

Texts = Mapping[str, Any]  # a table of paper.toml
Numbers = dict[str, Any]  # by their names in a text
Values = Mapping[str, Any]  # fields of RunConfig, by name
NONE: Numbers = {}


def words_of(folder: str) -> dict[str, Any]:
    """Read a paper's `paper.toml`."""
    return words_in(Path(__file__).parent / folder / "paper.toml")


def filled(texts: Texts, numbers: Numbers) -> dict[str, Any]:
    """Return a table with these numbers in its texts."""
    found = dict(texts)
    for name, value in texts.items():
        if isinstance(value, str):
            found[name] = value.format_map(numbers)
    return found


def computed(
    texts: Texts,
    ours: Callable[[], float],
    setting: PrintedSetting | None = None,
    claim: PrintedClaim | None = None,
    numbers: Numbers = NONE,
) -> Computed:
    """Return a row that `ours` computes, with these numbers in its texts."""
    return Computed(**filled(texts, numbers), ours=ours, setting=setting, claim=claim)


def trained(texts: Texts, config: RunConfig, numbers: Numbers = NONE) -> Trained:
    """Return a row that a run gives, with these numbers in its texts."""
    return Trained(**filled(texts, vars(config) | numbers), config=config)


def rows_of(texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield the texts of each row of a table, with those of the table itself."""
    shared = dict(texts)
    for row in shared.pop("rows"):
        yield shared | row


def table(texts: Texts, reference: RunConfig, numbers: Numbers = NONE) -> Iterator[Trained]:
    """Yield the rows of a table: in each the reference run, with the settings of its `run`."""
    for row in rows_of(texts):
        config = replace(reference, **row.pop("run"))
        yield trained(row, config, numbers)


def grid(texts: Texts, reference: RunConfig, numbers: Numbers = NONE) -> Grid:
    """Return a figure of the reference run at each of `values` of a setting.

    `along` has the values of settings that follow it, `run` what all its runs have.
    """
    found = filled(texts, numbers)
    shared = replace(reference, **found.pop("run", {}))
    followers = found.pop("along", {})
    values = found.pop("values")
    configs = []
    for point in zip(values, *followers.values(), strict=True):
        changed = dict(zip((found["setting"], *followers), point, strict=True))
        configs.append(replace(shared, **changed))
    curve = Curve(tuple(configs))
    return Grid(**found, values=tuple(values), curves=(curve,), along=tuple(followers))


def drawing(texts: Texts, lines: Callable[[], Lines], numbers: Numbers = NONE) -> Drawing:
    """Return a figure with these lines, and these numbers in its texts."""
    return Drawing(**filled(texts, numbers), lines=lines)


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
    for each in tables:
        settings.update(each)
    return RunConfig(**settings)


def checked_claims(
    words: Texts, answers: Mapping[str, Callable[[], Numbers]]
) -> tuple[CheckedClaim, ...]:
    """Return the claims of a paper, each with what holds of it.

    An answer returns the numbers for the text in `words` with the same name.
    """
    claims = []
    for name, texts in words["findings"].items():
        numbers = answers.get(name, dict)  # no numbers without an answer
        claims.append(CheckedClaim(texts["claim"], partial(_answer, texts["holds"], numbers)))
    return tuple(claims)


def _answer(text: str, numbers: Callable[[], Numbers]) -> str:
    try:
        return text.format_map(numbers())
    except NotRecorded:
        return "Not recorded yet; the page Papers can train it."


def remarks(words: Texts, numbers: Numbers = NONE) -> tuple[Remark, ...]:
    """Return the gaps and omissions of a paper, with these numbers in their texts."""
    found = []
    for place, texts in words["remarks"].items():
        found += [Remark(place, text.format_map(numbers)) for text in texts]
    return tuple(found)


def calculator(texts: Texts, rows: Callable[[Mapping[str, float]], TextRows]) -> Calculator:
    """Return a calculator with these rows."""
    return Calculator(
        place=texts["place"],
        title=texts["title"],
        asks=tuple(Quantity(**each) for each in texts["asks"]),
        columns=tuple(texts["columns"]),
        rows=rows,
        note=texts["note"],
    )
