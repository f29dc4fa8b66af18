"""What a sentence of a paper, a model card or a training log claims, read by the usual names of its numbers.

Nothing is invented: what is said twice with different values, or might be something else, is left out.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from dpcore.claims.claim import Claim
from dpcore.claims.printed import printed_epsilon, value_of
from dpcore.claims.vocabulary import ASIDE, LOG_LINE, NUMBERS, PAIR, WORDS

LONGEST = 20_000  # characters that are read
LEAST_EPSILON = 1e-3  # what is called epsilon and smaller is an optimizer's
WHOLE = ("batch", "examples", "steps")


class Found(NamedTuple):
    """A value that was read, and where it stands in the text."""

    field: str
    value: Any
    start: int
    end: int


class Read(NamedTuple):
    """What a text claims, where each value stands in it, and sentences about what was left out."""

    claim: Claim
    found: tuple[Found, ...]
    unsure: tuple[str, ...] = ()


def read_text(text: str) -> Read:
    """The claim of a text. Errors: ValueError for a text that is too long, or a value that is out of its range.

    >>> read = read_text("(ε, δ) = (2.92, 10⁻⁵), noise multiplier 1.1, batch size 256, 60k examples, 15 epochs, RDP")
    >>> read.claim.epsilon.text, read.claim.delta, read.claim.sigma, read.claim.batch, read.claim.accountant
    ('2.92', 1e-05, 1.1, 256, 'rdp')
    >>> [(each.field, each.start, each.end) for each in read.found][:2]
    [('epsilon', 10, 14), ('delta', 16, 20)]
    """
    if len(text) > LONGEST:
        raise ValueError(f"Expected a text of at most {LONGEST:,} characters, and this one has {len(text):,}.")
    found = sorted([*_numbers(_last_of_log(text)), *_words(text)], key=lambda each: each.start)
    values: dict[str, set[Any]] = {}
    for each in found:
        values.setdefault(each.field, set()).add(each.value)
    sure = {field: next(iter(several)) for field, several in values.items() if len(several) == 1}
    unsure = tuple(_twice(field, several) for field, several in values.items() if len(several) > 1)
    return Read(Claim(**sure), tuple(each for each in found if each.field in sure), unsure)


def _numbers(text: str) -> Iterator[Found]:
    """The numbers of a text; what has been read is blotted out, so that it is read once."""
    left = text
    for each in LOG_LINE.finditer(text):
        yield _found("epochs", each["value"], each.start("value"))
        left = _blotted(left, each.start(), each.end("value"))
    for each in list(PAIR.finditer(left)):
        if each["after"] or each["named"]:
            yield _found("epsilon", each["epsilon"], each.start("epsilon"))
            yield _found("delta", each["delta"], each.start("delta"))
            left = _blotted(left, each.start(), each.end())
    for field, pattern in NUMBERS:
        for each in list(pattern.finditer(left)):
            read = _found(field, each["value"], each.start("value"))
            left = _blotted(left, each.start(), each.end())
            if field != "epsilon" or read.value.value >= LEAST_EPSILON:
                yield read


def _found(field: str, text: str, start: int) -> Found:
    end = start + len(text.rstrip())
    if field == "epsilon":
        return Found(field, printed_epsilon(text), start, end)
    value, _ = value_of(text, field)
    whole = field in WHOLE and value.is_integer()
    return Found(field, int(value) if whole else value, start, end)


def _words(text: str) -> Iterator[Found]:
    """What a text says in words. Accounting as Poisson is not sampling like that."""
    plain = ASIDE.sub(lambda each: " " * len(each[0]), text)
    for field, value, pattern in WORDS:
        for each in pattern.finditer(plain):
            yield Found(field, value, each.start(), each.end())


def _last_of_log(text: str) -> str:
    """The text without the lines of a training log, but for the last of them: it says what was spent in the end."""
    lines = list(LOG_LINE.finditer(text))
    for each in lines[:-1]:
        text = _blotted(text, each.start(), each.end())
    return text


def _blotted(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", "\0", text[start:end]) + text[end:]


def _twice(field: str, values: set[Any]) -> str:
    shown = sorted(str(getattr(value, "text", value)) for value in values)
    return f"{field} is left out: the text says {' and '.join(shown)}."
