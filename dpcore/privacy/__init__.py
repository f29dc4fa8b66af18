"""What a mechanism costs: accountants, and the mathematics under them. NumPy and SciPy only."""

from functools import cache
from pathlib import Path
from typing import Any


@cache
def words_in(file: Path) -> dict[str, dict[str, Any]]:
    """The tables of a TOML file of texts, by their names; a line break within a text is a space."""
    import tomllib  # late: most of what is here says nothing

    return {
        name: {key: " ".join(text.split()) if isinstance(text, str) else text for key, text in table.items()}
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }
