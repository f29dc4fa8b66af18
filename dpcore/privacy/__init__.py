"""Accountants of a mechanism's privacy, and their mathematics. NumPy and SciPy only."""

from functools import cache
from pathlib import Path
from typing import Any


@cache
def words_in(file: Path) -> dict[str, dict[str, Any]]:
    """Read the tables of a TOML file of texts; a line break within a text becomes a space."""
    import tomllib  # late: most callers need no texts

    return {
        name: {key: " ".join(text.split()) if isinstance(text, str) else text for key, text in table.items()}
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def named_words(file: Path, name: str) -> dict[str, Any]:
    """The texts in the table of that name, and the name itself."""
    return {"name": name, **words_in(file)[name]}
