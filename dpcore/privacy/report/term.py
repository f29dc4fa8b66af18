"""An entry of the glossary."""

from dataclasses import dataclass

THIS_APP = "a word of this app"  # as a source


@dataclass(frozen=True)
class Term:
    """A word, what it means in a few sentences, where they come from, and the heads of tables that stand for it."""

    name: str
    meaning: str
    source: str
    heads: tuple[str, ...] = ()
