"""All values that a plain text may claim, each with its place, its rank, and a reason if it belongs
elsewhere.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpcore.claims import vocabulary as words
from dpcore.claims.claim import NAMES, Claim
from dpcore.claims.layout import cells_of, logs_of, paths_of
from dpcore.claims.likeness import LEARNT, features, hashed, likeness
from dpcore.claims.printed import printed_epsilon
from dpcore.claims.vocabulary import (
    FIELDS,
    FINAL,
    LIKENED,
    PATTERNS,
    PLAIN,
    REASONS,
    SUPPOSED,
    TARGET,
)
from dpcore.written_number import read_number

WHOLE = ("batch", "examples", "steps", "devices", "nodes", "device_batch", "accumulation")
SHARES = ("q", "delta")  # fields printed as fractions: 3/10 epochs are a place in a training
SELDOM_THOUSANDS = ("epsilon", "delta", "sigma", "q")  # 1,068 of these is seldom more than 10
MIN_EPSILON = 1e-3  # a smaller epsilon is an optimizer's
MAX_SIGMA_READ = 100.0  # a larger sigma in a text is asked back
MAX_LIKENED = 400  # numbers
# Fields that say one thing, together or one for the other.
SAME = (("q", "batch", "examples"), ("steps", "epochs"))
# Shares that are enough for a number, and for one that another reason passes over.
LIKELY, SURE = 0.2, 0.95
BEFORE, AFTER, SENTENCE = 100, 60, 240  # characters around a number that tell its meaning


class Found(NamedTuple):
    """A value, its place, and the reason if it is passed over."""

    field: str  # "" for a number of no field
    value: Any
    start: int
    end: int
    why: str = ""
    rank: int = PLAIN


class Reader:
    """Reads the values of one plain text."""

    def __init__(self, text: str) -> None:
        self.text = text
        cells = cells_of(text, lambda head: _name_at(f"{head} | ") is not None)
        self.logs = logs_of(text, cells)
        self._cells = {place: each for each in cells for place in range(each.start, each.end)}
        self._earlier = {
            place for log in self.logs for line in log.earlier for place in range(*line)
        }
        self._places, self._paths = paths_of(text)
        self._cohorts, self._scale, self._rate = (
            each.search(text) for each in (PATTERNS.cohorts, PATTERNS.scale, PATTERNS.short_rate)
        )
        self._stops = [each.end() for each in PATTERNS.stop.finditer(text)]
        self._figures = list(PATTERNS.figure.finditer(text))
        self._products = [
            each
            for each in PATTERNS.product.finditer(text)
            if _is_product(each["parts"], each["n"])
        ]

    def found(self) -> list[Found]:
        """Return all values in the order of the text."""
        known = list(self._known())
        taken = {place for each in known for place in range(each.start, each.end)}
        taken |= {place for each in self._products for place in range(*each.span())}
        rest, last = [], 0
        for figure in self._figures:
            if figure.start() not in taken:
                rest.append(self._figure(figure, last))
            last = figure.end()
        return sorted({*known, *rest, *self._words()}, key=lambda each: (each.start, each.field))

    def surroundings(self) -> Iterator[tuple[re.Match[str], float, list[int]]]:
        """Yield the first numbers of the text, each with its value and its features."""
        pairs = [
            (each, value)
            for each in self._figures[:MAX_LIKENED]
            if (value := _number(each[0])) is not None
        ]
        values = [value for _, value in pairs]
        for place, (figure, value) in enumerate(pairs):
            cell = self._cells.get(figure.start())
            keys = (
                f"{cell.head if cell else ''}"
                f" {self._paths[bisect_right(self._places, figure.start()) - 1]}"
            )
            yield figure, value, hashed(features(self.text, figure.span(), values, place, keys))

    def likened(self, found: list[Found]) -> list[Found]:
        """Fill fields that no name gives a value with numbers that have such surroundings in other
        texts.
        """
        surroundings = list(self.surroundings())
        shares = likeness([each for *_, each in surroundings])
        named = [each for each in found if not each.why]
        taken = {each.start for each in named}
        passed = {each.start for each in found if each.why != REASONS["elsewhere"]}
        # What the text says twice, differently, is of several runs: no likeness tells which one is
        # meant.
        twice = {each.field for each in found if _contradicts(each)}
        doubtful = [field for each in SAME for field in each if twice & {*each}]
        lacking = {*LEARNT} - {each.field for each in named} - twice - {*doubtful}
        filled = []
        for place, k in zip(
            *np.unravel_index(np.argsort(-shares, axis=None, kind="stable"), shares.shape),
            strict=True,
        ):
            figure, field, share = surroundings[place][0], LEARNT[k], shares[place, k]
            enough = SURE if figure.start() in passed else LIKELY
            if share > enough and field in lacking and figure.start() not in taken:
                value = self._value(field, figure[0], figure.start())
                if not value.why:
                    filled.append(value._replace(rank=PLAIN if share > SURE else LIKENED))
                    lacking.remove(field)
                    taken.add(figure.start())
        places = {each.start for each in filled}
        return [*(each for each in found if each.start not in places), *filled]

    def _known(self) -> Iterator[Found]:
        """Yield the ends of logs, pairs of epsilon and delta, shares of all clients, and orders of
        Renyi DP.
        """
        for log in self.logs:
            yield Found(log.field, log.count + log.from_zero, log.start, log.end)
        for each in PATTERNS.pair.finditer(self.text):
            cell = self._cells.get(each.start())
            tiny = (
                each["open"]
                and PATTERNS.tiny.search(each["delta"])
                and not PATTERNS.tiny.search(each["epsilon"])
            )
            sure = each["named"] or each["after"] or tiny
            if sure or (cell and PATTERNS.epsilon_delta.search(cell.head)):
                yield from (
                    self._value(field, each[field], each.start(field))
                    for field in ("epsilon", "delta")
                )
        for each in PATTERNS.k_of_n.finditer(self.text):
            around = self._sentence(each.start()) + self.text[each.end() : each.end() + AFTER]
            if PATTERNS.rounds.search(around):
                share = each["k"] if "%" in each["k"] else f"{each['k']}/{each['n']}"
                yield self._value("q", share, each.start())._replace(end=each.end("k"))
                yield self._value("examples", each["n"], each.start("n"))
        for each in self._products:
            yield self._value("batch", each["n"], each.start("n"))._replace(rank=FINAL)
        for each in PATTERNS.order.finditer(self.text):
            if each.start() not in self._earlier:
                yield Found("accountant", "rdp", *each.span("order"))

    def _figure(self, figure: re.Match[str], last: int) -> Found:
        """Read one number by the words around it."""
        start, end = figure.span()
        before, after = self._before(start, max(last, start - BEFORE)), self.text[end : end + AFTER]
        # Epochs in the examples of Opacus, which have -sr beside it.
        short_n = PATTERNS.short_n.search(before)
        if short_n and not self._rate:
            return Found("", figure[0], start, end, REASONS["option"])
        field, lead = (
            ("epochs", "") if short_n else _name_at(before) or self._head(start) or ("", before)
        )
        if not field:
            return Found("", figure[0], start, end, REASONS["elsewhere"])
        field = "q" if figure[0].endswith("%") and field in ("batch", "examples") else field
        if (
            field in ("batch", "epochs")
            and self._cohorts
            and PATTERNS.own.match(before[len(lead) :])
        ):
            return Found(field, figure[0], start, end, FIELDS[field]["reason"])
        if PATTERNS.below.search(before) and (
            self._scale if field == "epsilon" else PATTERNS.of_n.match(figure[0])
        ):
            return Found(field, figure[0], start, end, REASONS["another"])
        if figure["odd"] or PATTERNS.list.match(after):
            return Found(field, figure[0], start, end, REASONS["unread"])
        return self._value(field, figure[0], start, lead)

    def _before(self, start: int, low: int) -> str:
        """Return the text before a number, with the head of its cell or the keys around it."""
        if cell := self._cells.get(start):
            own = self.text[max(low, cell.start) : start].lstrip()
            return own if low > cell.start and "(" in own else f"{cell.head} | {own}"
        path = self._paths[bisect_right(self._places, start) - 1]
        before = self.text[low:start]
        own = PATTERNS.key_start.split(before)[-1]
        inner = own.lstrip() if own.strip() or before[-1:] in "([{" else before
        return f"{path} {inner}" if path else before

    def _sentence(self, start: int) -> str:
        """Return the sentence before a place."""
        place = bisect_right(self._stops, start)
        return self.text[max(self._stops[place - 1] if place else 0, start - SENTENCE) : start]

    def _head(self, start: int) -> tuple[str, str] | None:
        """Return the field that a sentence like a head names, with asides in brackets or a clause,
        as `_name_at`.
        """
        if not PATTERNS.head_like.search(sentence := self._sentence(start)):
            return None
        long = words.LONG_NAME.match(plain := PATTERNS.asides.sub("", sentence))
        return _name_at(plain) or (_name_at(f"{long['name']} | ") if long else None)

    def _value(self, field: str, text: str, start: int, lead: str = "") -> Found:
        """Read a value, with its rank and the reason if it does not belong to the claim."""
        end = start + len(text.rstrip())
        sentence = self._sentence(start)
        line = sentence + PATTERNS.stop.split(self.text[end : end + AFTER])[0]
        supposed = PATTERNS.supposed.search(sentence) or PATTERNS.elsewhere.search(line)
        aimed, done = PATTERNS.targeted.search(lead[-40:]), PATTERNS.finished.search(lead[-40:])
        rank = SUPPOSED if supposed else TARGET if aimed else FINAL if done else PLAIN
        reason = FIELDS[field].get("reason") or REASONS["another"]
        why = reason if words.OTHERS[field].search(lead[-80:]) else ""
        if PATTERNS.formula.search(lead[-12:]) or PATTERNS.script.search(sentence):
            why = REASONS["another"]
        why = REASONS["earlier"] if start in self._earlier else why
        if "/" in text and field not in SHARES:
            return Found(field, text, start, end, why or REASONS["place"])
        try:
            found = in_range(Found(field, read_value(field, text), start, end, why, rank))
        except ValueError as error:
            return Found(field, text.strip(), start, end, why or str(error))
        if PATTERNS.either.fullmatch(text) and _may_be_another(field, text):
            return Found(field, text.strip(), start, end, why or REASONS["comma"])
        return found._replace(why=found.why or _odd(field, found.value))

    def _words(self) -> Iterator[Found]:
        aside = {
            place for each in PATTERNS.aside.finditer(self.text) for place in range(*each.span())
        }
        for field, value, pattern in words.WORDS:
            for each in pattern.finditer(self.text):
                before, after = (
                    self._sentence(each.start()),
                    self.text[each.end() : each.end() + AFTER],
                )
                why = ""
                if PATTERNS.denied.search(before[-60:]) or PATTERNS.denied_after.match(after):
                    why = REASONS["denied"]
                elif field == "sampler" and (
                    PATTERNS.supposed.search(before) or each.start() in aside
                ):
                    why = REASONS["supposed"]
                vague = value == "gdp" or after[:1] in ("(", "=")  # also of the CLT; a call
                yield Found(field, value, *each.span(), why, TARGET if vague else PLAIN)
        for each in words.NAMED_ACCOUNTANT.finditer(self.text):
            yield Found(
                "accountant",
                words.OPACUS.get(name := each["name"].lower(), name),
                *each.span("name"),
            )


def _may_be_another(field: str, text: str) -> bool:
    """True if the comma of 1,068, or the point of 60.000, is an odd one for this field."""
    return field in SELDOM_THOUSANDS if "," in text else field in (*WHOLE, "epochs")


def _odd(field: str, value: Any) -> str:
    """The reason to ask whether this number of the field is meant; "" if it is usual."""
    if field == "epsilon" and value.value < MIN_EPSILON:
        return REASONS["small"]
    return REASONS["loud"] if field == "sigma" and value > MAX_SIGMA_READ else ""


def _name_at(before: str) -> tuple[str, str] | None:
    """Return the field whose name is at the end of a text, and the text before the name."""
    found = next(
        (found for found in (pattern.search(before) for pattern in words.NAMES) if found), None
    )
    return (
        (found.lastgroup, before[: found.start(found.lastgroup)])
        if found and found.lastgroup
        else None
    )


def _number(text: str) -> float | None:
    try:
        return float(read_number(text))
    except ValueError:
        return None


def _contradicts(found: Found) -> bool:
    return found.why.startswith(REASONS["twice"].partition("{")[0])


def _is_product(parts: str, n: str) -> bool:
    factors = [_number(each[0]) for each in PATTERNS.part.finditer(parts)]
    return None not in factors and math.prod(each or 0 for each in factors) == _number(n)


def read_value(field: str, text: str) -> Any:
    """Read a value. Errors: ValueError for a text that is no value of the field."""
    if PATTERNS.of_n.fullmatch(text) and field == "delta":
        return text  # until the number of examples is known
    if field == "epsilon":
        return printed_epsilon(text)
    number = float(read_number(text, field))
    return int(number) if field in WHOLE and number.is_integer() else number


def in_range(found: Found) -> Found:
    """Pass a value over if it is out of its range."""
    try:
        Claim(
            **(
                {found.field: found.value}
                if found.field in NAMES and not isinstance(found.value, str)
                else {}
            )
        )
    except ValueError as error:
        return found._replace(why=found.why or str(error))
    return found
