"""Accountants of a mechanism's privacy, and their mathematics. NumPy and SciPy only."""

from functools import cache
from pathlib import Path
from typing import Any


@cache
def words_in(file: Path) -> dict[str, Any]:
    """Read a TOML file of texts; a line break within a text becomes a space."""
    import tomllib  # late: most callers need no texts

    return _in_lines(tomllib.loads(file.read_text(encoding="utf-8")))


def _in_lines(value: Any) -> Any:
    """Put each text on one line."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_in_lines(each) for each in value]
    if isinstance(value, dict):
        return {name: _in_lines(each) for name, each in value.items()}
    return value


def named_words(file: Path, name: str) -> dict[str, Any]:
    """The texts in the table of that name, and the name itself."""
    return {"name": name, **words_in(file)[name]}
