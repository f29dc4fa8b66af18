"""The names of a claim's values in texts: vocabulary.toml, as patterns."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
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
COUNTERS = ("step", "epoch", "エポック")  # at the end of the name of a log's counter
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
    patterns = []
    for each in sorted(words, key=len, reverse=True):
        patterns.append(re.escape(each).replace(r"\ ", r"[\s_/'’-]"))
    return "|".join(patterns)


def one_blank(name: str) -> str:
    """A name as it stands in the vocabulary."""
    return re.sub(r"[\s_/'’-]+", " ", name).lower()


def _spellings(registry: Mapping[str, Any]) -> dict[str, str]:
    """The patterns of a registry's entries that have one."""
    return {name: each.spellings for name, each in registry.items() if each.spellings}


def _said_in_words() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield a field, its value, and the words that say it."""
    for table in (FACTS["words_of"], SPELLINGS):
        for field, patterns in table.items():
            for value, pattern in patterns.items():
                yield field, value, re.compile(pattern, re.IGNORECASE)


def _words(name: str) -> re.Pattern[str]:
    """One of the words of a list, standing alone or between underscores."""
    return re.compile(rf"(?i)(?<![^\W_])(?:{any_of(WORDS[name])})(?![^\W_])")


def _patterns(room: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in FACTS[room].items()}


def _fields_of(room: str) -> dict[str, str]:
    """The field of each name, in a room that lists the names of each field."""
    fields = {}
    for field, names in FACTS[room].items():
        fields |= dict.fromkeys(names, field)
    return fields


WORDS = FACTS["words"]
SPELLINGS: dict[str, dict[str, str]] = {
    "sampler": _spellings(SAMPLERS),
    "accountant": _spellings(ACCOUNTANTS),
}
SAID_IN_WORDS = tuple(_said_in_words())
OTHER = re.compile(rf"(?i)(?<![^\W\d_])(?:{any_of(WORDS['other'])})(?![^\W\d_])")
RANKS = ((FINAL, _words("final")), (TARGET, _words("target")))
OF_A_NAME = [*WORDS["plain"], *WORDS["final"], *WORDS["target"]]
BESIDE = re.compile(rf"(?:(?:{any_of([*OF_A_NAME, *OPACUS, 'pld', 'moments'])})\s*)*")
BEFORE = re.compile(
    rf"(?i)(?:^|[^\w\s]|(?<![^\W\d_])(?:{any_of([*WORDS['before'], *WORDS['around']])})[\s]?)\s*$"
)
LINKS = any_of(FACTS["links"]["words"])
JOINED = rf"(?:{any_of(FACTS['links']['joined'])})"  # to a name, without a blank
DOUBT = _patterns("doubt")
UNIT = _patterns("unit")
TOLD = _patterns("told")
NOT_PRIVATE = re.compile(FACTS["not_private"]["pattern"])
_FIELDS = _fields_of("names")
_HEADED = _FIELDS | _fields_of("headed")
NAME = rf"(?:{any_of(_FIELDS)})"
NEUTRAL = frozenset(FACTS["neutral"]["words"])
LETTER = _fields_of("letters")
UNITS = _fields_of("units")
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
    bare = phrase
    if not phrase.startswith("len("):
        bare = _ASIDE.sub(" ", phrase)
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
                if " ".join(core) in PLACES:
                    return Named(field, TARGET, counts=True)
                rank = rank_of(" ".join(words))
                return Named(field, rank, counts=core[-1] in COUNTERS)
    return Named("", why=REASONS["nameless"])


def _are_beside(field: str, core: list[str], rest: list[str]) -> bool:
    """True if the words around a name leave it what it is: others, or its own symbol."""
    if len(" ".join(core)) == 1 and any(rest) and core[0] not in "εδσ":
        return False  # a letter alone
    others = [each for each in rest if _HEADED.get(each) != field]
    return bool(BESIDE.fullmatch(" ".join(others).strip()))


def is_neutral(label: str) -> bool:
    """True for a label that a part of one training may have: a field's name, or "Privacy"."""
    words = _MARKS.sub(" ", _CAMEL.sub(" ", _ASIDE.sub(" ", label))).lower()
    return " ".join(words.split()) in NEUTRAL or bool(named(label, headed=True).field)


def rank_of(words: str) -> int:
    """The rank that the words of a name give its value."""
    for rank, pattern in RANKS:
        if pattern.search(words):
            return rank
    return PLAIN
