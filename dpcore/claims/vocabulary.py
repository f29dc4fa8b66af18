"""The names of a claim's values in texts: vocabulary.toml, as patterns."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.sampling import SAMPLERS

FACTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8")
)
REASONS: dict[str, str] = FACTS["reasons"]
NOTES: dict[str, str] = FACTS["notes"]
OPACUS = {"rdp": "rdp", "gdp": "gdp", "prv": "pld"}  # its accountants
# Ranks of a value: the first is taken before the others.
FINAL, PLAIN, TARGET = range(3)
COUNTERS = ("step", "epoch")  # at the end of the name of a log's counter
# Names that alone are a place in a training, which is its end in the last line of a log.
PLACES = ("step", "round", "iteration", "iter", "update")
MAX_WORDS = 12  # of a name


class Named(NamedTuple):
    """What a name means; `field` is empty where it names nothing of a claim."""

    field: str
    rank: int = PLAIN
    why: str = ""  # that its number is not taken
    counts: bool = False  # it is the counter of a log


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first; blanks may be written as _ or -."""
    return "|".join(
        re.escape(each).replace(r"\ ", r"[\s_/'’-]")
        for each in sorted(words, key=len, reverse=True)
    )


def one_blank(name: str) -> str:
    """A name as it stands in the vocabulary."""
    return re.sub(r"[\s_/'’-]+", " ", name).lower()


WORDS = FACTS["words"]
SPELLINGS: dict[str, dict[str, str]] = {
    "sampler": {name: each.spellings for name, each in SAMPLERS.items() if each.spellings},
    "accountant": {name: each.spellings for name, each in ACCOUNTANTS.items() if each.spellings},
}
# A field, its value, and the words that say it.
SAID_IN_WORDS = tuple(
    (field, value, re.compile(pattern, re.IGNORECASE))
    for table in (FACTS["words_of"], SPELLINGS)
    for field, patterns in table.items()
    for value, pattern in patterns.items()
)
OTHER = re.compile(rf"(?i)(?<![^\W\d_])(?:{any_of(WORDS['other'])})(?![^\W\d_])")
RANKS = tuple(
    (rank, re.compile(rf"(?i)(?<![^\W_])(?:{any_of(WORDS[name])})(?![^\W_])"))
    for rank, name in ((FINAL, "final"), (TARGET, "target"))
)
OF_A_NAME = [*WORDS["plain"], *WORDS["final"], *WORDS["target"]]
BESIDE = re.compile(rf"(?:(?:{any_of([*OF_A_NAME, *OPACUS, 'pld', 'moments'])})\s?)*")
BEFORE = re.compile(
    rf"(?i)(?:^|[^\w\s]|(?<![^\W\d_])(?:{any_of([*WORDS['before'], *WORDS['around']])})[\s]?)\s*$"
)
LINKS = any_of(FACTS["links"]["words"])
JOINED = rf"(?:{any_of(FACTS['links']['joined'])})"  # to a name, without a blank
DOUBT = {name: re.compile(pattern) for name, pattern in FACTS["doubt"].items()}
UNIT = {name: re.compile(pattern) for name, pattern in FACTS["unit"].items()}
TOLD = {name: re.compile(pattern) for name, pattern in FACTS["told"].items()}
NOT_PRIVATE = re.compile(FACTS["not_private"]["pattern"])
_FIELDS = {name: field for field, names in FACTS["names"].items() for name in names}
_HEADED = _FIELDS | {name: field for field, names in FACTS["headed"].items() for name in names}
NAME = rf"(?:{any_of(_FIELDS)})"
NEUTRAL = frozenset(FACTS["neutral"]["words"])
LETTER = {letter: field for field, letters in FACTS["letters"].items() for letter in letters}
UNITS = {name: field for field, names in FACTS["units"].items() for name in names}
OF_A_STEP = any_of(FACTS["of_a_step"]["words"])
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_ASIDE = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]?")
_MARKS = re.compile(r"[\s_\-./'’\"|:*#<>,;@()]+")


@cache
def named(phrase: str, *, headed: bool = False) -> Named:
    """What a whole key, option or head of a table names.

    >>> named("noise_multiplier"), named("--target-epsilon").rank == TARGET
    (Named(field='sigma', rank=1, why='', counts=False), True)
    >>> named("adam_epsilon").field, named("local_epochs").field, named("Batch size (B)").field
    ('', '', 'batch')
    """
    if "Δ" in phrase:  # a difference; as a small letter it would be δ
        return Named("", why=REASONS["nameless"])
    if OTHER.search(_MARKS.sub(" ", _CAMEL.sub(" ", phrase))):
        return Named("", why=REASONS["other"])
    bare = phrase if phrase.startswith("len(") else _ASIDE.sub(" ", phrase)
    words = _MARKS.sub(" ", _CAMEL.sub(" ", bare)).lower().split()
    table = _HEADED if headed else _FIELDS
    if len(words) > MAX_WORDS:
        return Named("", why=REASONS["nameless"])
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            core = words[start : start + length]
            field = table.get(" ".join(core))
            rest = [*words[:start], "", *words[start + length :]]
            if field and _are_beside(field, core, rest):
                place = " ".join(core) in PLACES
                rank = TARGET if place else rank_of(" ".join(words))
                return Named(field, rank, counts=place or core[-1] in COUNTERS)
    return Named("", why=REASONS["nameless"])


def _are_beside(field: str, core: list[str], rest: list[str]) -> bool:
    """True if the words around a name leave it what it is: others, or its own symbol."""
    if len(" ".join(core)) == 1 and any(rest) and core[0] not in "εδσ":
        return False  # a letter alone
    others = " ".join(each for each in rest if _FIELDS.get(each) != field).strip()
    return bool(BESIDE.fullmatch(others))


def is_neutral(label: str) -> bool:
    """True for a label that a part of one training may have: a field's name, or "Privacy"."""
    words = _MARKS.sub(" ", _CAMEL.sub(" ", _ASIDE.sub(" ", label))).lower()
    return " ".join(words.split()) in NEUTRAL or bool(named(label, headed=True).field)


def rank_of(words: str) -> int:
    """The rank that the words of a name give its value."""
    return next((rank for rank, pattern in RANKS if pattern.search(words)), PLAIN)
