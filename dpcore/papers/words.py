"""The words of the papers: `paper.toml` in a paper's folder holds what it prints, and what is said of it here.

A line break in a text is a space. A text may name numbers that are computed, as {sigma:g}.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpcore.papers.paper import Calculator, CheckedClaim, Quantity, Remark, TextRows

Numbers = Mapping[str, object]  # by the name that a text has for them
UNKNOWN = "Not recorded yet; the page Papers can train it."


def words_of(folder: str) -> dict[str, Any]:
    """The tables of a paper's `paper.toml`."""
    text = (Path(__file__).parent / folder / "paper.toml").read_text(encoding="utf-8")
    return _in_lines(tomllib.loads(text))


def _in_lines(value: Any) -> Any:
    """The same with each text in one line."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_in_lines(each) for each in value]
    return {name: _in_lines(each) for name, each in value.items()} if isinstance(value, dict) else value


def with_numbers(texts: Mapping[str, Any], **numbers: object) -> dict[str, Any]:
    """A table with these numbers in its texts."""
    return {name: each.format(**numbers) if isinstance(each, str) else each for name, each in texts.items()}


def findings(words: Mapping[str, Any], **computed: Callable[[], Any]) -> tuple[CheckedClaim, ...]:
    """The claims of a paper, each with what holds of it.

    The file has the text of that, and `computed` by name the numbers in it; or `computed` has the whole text, where its
    sentences depend on the outcome.
    """
    return tuple(_finding(texts, computed.get(name, dict)) for name, texts in words["findings"].items())


def _finding(texts: Mapping[str, str], computed: Callable[[], Any]) -> CheckedClaim:
    return CheckedClaim(texts["claim"], (lambda: texts["holds"].format(**computed())) if "holds" in texts else computed)


def remarks(words: Mapping[str, Any], **numbers: object) -> tuple[Remark, ...]:
    """The gaps and the silences of a paper, with these numbers in their texts."""
    return tuple(Remark(**with_numbers(each, **numbers)) for each in words["remarks"])


def calculator(texts: dict[str, Any], rows: Callable[[Mapping[str, float]], TextRows]) -> Calculator:
    """A calculator with these rows."""
    asks, columns = (Quantity(**each) for each in texts["asks"]), texts["columns"]
    return Calculator(texts["place"], texts["title"], tuple(asks), tuple(columns), rows, texts["note"])
