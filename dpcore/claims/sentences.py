"""Sentences with values: are they of one training?

Nobody can list all that a sentence may be about. So the words are listed that name nothing of their
own: those of claims, and the small words of a language. Sentences are of one training where they
begin alike and one of them has all other words of the rest. A word that speaks of somebody else
parts them, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dpcore.claims.scopes import Scope
from dpcore.claims.values import Said
from dpcore.claims.vocabulary import FACTS, REASONS, SAID_IN_WORDS

MAX_VALUES = 40  # that a sentence says of one training
MAX_OPENING = 4  # words
CJK = 0x2E80  # from this letter on words have no blanks around them
SIGNS = " \t\n=≈<>("
WORD = re.compile(rf"(?<![\w.])[^\W\d_](?:[\w'’-]*\w)?(?P<sign>\s?[{SIGNS}]?)")
PARTS = re.compile(r"[\s'’_-]")
MARK = r"(?:[,;:]\s|\s(?:and|but|while|und|aber|et|mais|y|pero|e|ma)\s)"
CLAUSE = re.compile(rf"(?:^|{MARK})(?:(?!{MARK}).)*", re.DOTALL)
CASE = re.compile(r"(?P<within>(?i:with|on|for))\s(?P<what>[A-Z]\w+)")
SUBJECTS = FACTS["subjects"]
RIVAL = re.compile(SUBJECTS["rival"])
GOES_ON = re.compile(SUBJECTS["goes_on"])  # with what the sentence before is about
SPECIFIC = re.compile(SUBJECTS["specific"])  # of known words: "model 2", "on images"
SPEAKERS = frozenset(SUBJECTS["speakers"])


def _words_in(table: Any) -> Iterator[str]:
    if isinstance(table, str):
        yield from PARTS.split(table.lower())
    elif isinstance(table, list):
        for each in table:
            yield from _words_in(each)
    else:
        yield from _words_in([*table.values()])


def _known_words() -> Iterator[str]:
    yield from _words_in(SUBJECTS["small"])
    for name, listed in FACTS["words"].items():
        if name != "other":
            yield from _words_in(listed)
    for room in ("names", "units", "of_a_step", "neutral", "links"):
        yield from _words_in(FACTS[room])


KNOWN = frozenset(_known_words())


class Sentence(NamedTuple):
    """A sentence with the values that stand in it, each in its scope."""

    start: int
    text: str
    before: str  # the sentence before it
    said: list[tuple[Scope, Said]]

    @property
    def about(self) -> str:
        """All that tells what it is about."""
        if GOES_ON.match(self.text) or SPECIFIC.fullmatch(self.before.strip()):
            return f"{self.before} {self.text}"
        return self.text

    @property
    def is_mixed(self) -> bool:
        """True if it may speak of several trainings by itself."""
        if len(self.said) > MAX_VALUES:
            return True
        if RIVAL.search(self.about):
            return True
        return are_of_several(self._clauses())

    def _clauses(self) -> Iterator[str]:
        """Yield the clauses in which a value stands."""
        places = [said.start - self.start for _, said in self.said]
        for each in CLAUSE.finditer(self.text):
            if any(each.start() <= place < each.end() for place in places):
                yield each[0]


def part(sentences: Sequence[Sentence]) -> None:
    """Offer the values of all sentences where some may be of several trainings."""
    if not _may_be_of_several(sentences):
        return
    _take_out(sentences)
    for sentence in sentences:
        for scope, said in sentence.said:
            scope.said.append(said._replace(why=REASONS["several"]))


def _may_be_of_several(sentences: Sequence[Sentence]) -> bool:
    for each in sentences:
        if each.is_mixed or SPECIFIC.search(each.about):
            return True
    return are_of_several(each.about for each in sentences)


def _take_out(sentences: Sequence[Sentence]) -> None:
    """Take the values of the sentences out of their scopes."""
    scopes = {}
    moved = set()
    for sentence in sentences:
        for scope, said in sentence.said:
            scopes[id(scope)] = scope
            moved.add(id(said))
    for scope in scopes.values():
        scope.said = [each for each in scope.said if id(each) not in moved]


def are_of_several(sentences: Iterable[str]) -> bool:
    """True for sentences, or parts of one, that may be of several trainings.

    >>> are_of_several(["We train for 1000 steps.", "The guarantee is epsilon = 3."])
    False
    >>> are_of_several(["Model A uses sigma = 1.", "Model B reaches epsilon = 3."])
    True
    """
    subjects = []
    openings = set()
    cases: dict[str, set[str]] = {}
    for each in sentences:
        text = each.strip()
        case = CASE.match(text)
        if case:
            cases.setdefault(case["within"].lower(), set()).add(case["what"].lower())
        subjects.append(subjects_of(text))
        opening = opening_of(text)
        if opening:
            openings.add(opening)
    if len(openings) > 1 or any(len(each) > 1 for each in cases.values()):
        return True
    most: frozenset[str] = max(subjects, key=len, default=frozenset())
    return not all(each <= most for each in subjects)


def subjects_of(sentence: str) -> frozenset[str]:
    """The words of a sentence that may name what it is about.

    >>> sorted(subjects_of("Model B reaches epsilon = 0.5 on MNIST at delta 1e-5."))
    ['b', 'mnist', 'model b']
    >>> sorted(subjects_of("The model is trained for 1000 steps with q = 0.01."))
    []
    """
    for _, _, pattern in SAID_IN_WORDS:
        sentence = pattern.sub(" ", sentence)
    found = {each[0].lower() for each in SPECIFIC.finditer(sentence)}
    for each in WORD.finditer(sentence):
        word = each[0].strip(SIGNS)
        symbol = len(word) == 1 and (each["sign"].strip() or word.islower())
        article = each.start() == 0 and word == "A"
        if symbol or article or ord(word[0]) >= CJK:
            continue
        if not _is_known(word.lower()):
            found.add(word.lower())
    return frozenset(found)


def opening_of(sentence: str) -> frozenset[str]:
    """What the first words of a sentence are about, with "we" for the authors and their model.

    >>> sorted(opening_of("The small model reaches epsilon = 0.5.")), opening_of("Noise is 1.0.")
    (['small', 'we'], frozenset())
    """
    first = [*WORD.finditer(re.split(r"[\d(:]", sentence)[0])][:MAX_OPENING]
    if not first:
        return frozenset()
    speaks = [_is_speaker(each[0].strip(SIGNS).lower()) for each in first]
    if speaks[0]:
        return frozenset({"we"})
    found = subjects_of(sentence[: first[-1].end()])
    if any(speaks):
        found |= {"we"}
    return found


def _is_speaker(word: str) -> bool:
    return not SPEAKERS.isdisjoint({word, *PARTS.split(word)})


def _is_known(word: str) -> bool:
    return word in SPEAKERS or (KNOWN | SPEAKERS).issuperset(PARTS.split(word))
