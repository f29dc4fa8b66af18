"""Patterns for texts: patterns.toml, and the names of a claim's values in vocabulary.toml."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.sampling import SAMPLERS

OPACUS = {"rdp": "rdp", "gdp": "gdp", "prv": "pld"}  # its accountants
# Ranks of a value: a lower one is taken before a higher one.
FINAL, PLAIN, TARGET, SUPPOSED, LIKENED = range(5)


def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _one_line(pattern: str) -> str:
    return re.sub(r"\s*\n\s*", "", pattern)


def _expanded(patterns: dict[str, str]) -> dict[str, str]:
    """Replace each @name by the pattern of that name, which stands before."""
    known: dict[str, str] = {}
    for name, pattern in patterns.items():
        known[name] = re.sub(r"@(\w+)", lambda each: known[each[1]], _one_line(pattern))
    return known


FACTS, _WRITTEN = _tables("vocabulary.toml"), _tables("patterns.toml")
FIELDS = {
    field: {part: _one_line(each) for part, each in parts.items()}
    for field, parts in FACTS["fields"].items()
}
REASONS, NOTES = FACTS["reasons"], FACTS["notes"]
RULES = tuple((re.compile(pattern), new) for pattern, new in _WRITTEN["plain"]["rules"])
PATTERNS = SimpleNamespace(
    **{name: re.compile(each) for name, each in _expanded(_WRITTEN["patterns"]).items()}
)
_AROUND = _expanded(_WRITTEN["names"])


def _any(part: str, before: str, after: str, flags: str = "(?i:") -> re.Pattern[str]:
    """Return the pattern of a part of all fields, a group each; one without it never matches."""
    groups = (f"(?P<{field}>{flags}{words.get(part, '(?!)')}))" for field, words in FIELDS.items())
    return re.compile(f"{before}(?:{'|'.join(groups)}){after}")


NAMES = (  # at the end of the text before a number
    _any("names", _AROUND["start"], f"(?i:{_AROUND['symbol']}{_AROUND['gap']})"),
    _any("headed", _AROUND["start"], f"(?i:{_AROUND['symbol']}{_AROUND['headed_gap']})"),
    _any("headed", _AROUND["option"], "[ =]$"),
    _any("headed", r"[;,(]\s{1,4}", " $"),  # in a list, as in "sigma 1.1, epochs 15"
    _any("letters", r"(?:(?<![\w-])(?<![A-Z][A-Z] )|(?<=\s--))", _AROUND["after_letter"], "(?:"),
)
OTHERS = {
    field: re.compile(rf"(?i){_AROUND['start']}(?:{each})(?: [A-Za-z]+){{0,3}}[ \t\"'-]*\Z")
    for field, words in FIELDS.items()
    for each in ["|".join([FACTS["models"], *([words["other"]] if "other" in words else [])])]
}
_ALL_NAMES = "|".join(
    words[part] for words in FIELDS.values() for part in ("names", "headed") if part in words
)
# Of a line, with a clause.
LONG_NAME = re.compile(rf"(?i)[^\w(]*(?P<name>{_ALL_NAMES}){_AROUND['clause']}")
WORDS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(  # the field, its value, and its words
    (field, value, re.compile(_one_line(pattern), re.IGNORECASE))
    for field, pairs in (
        *FACTS["words"].items(),
        ("sampler", {n: s.spellings for n, s in SAMPLERS.items()}),
        ("accountant", {n: a.spellings for n, a in ACCOUNTANTS.items()}),
    )
    for value, pattern in pairs.items()
    if pattern
)
_NAMES = "|".join({*OPACUS, *ACCOUNTANTS})
NAMED_ACCOUNTANT = re.compile(
    rf"(?i)\b(?:accountant|accounting|mechanism)\W{{1,8}}(?P<name>{_NAMES})\b"
)
