"""The layout of a plain text: what stands within what.

A scope is a part of a text: the whole of it, a section, a paragraph, a line, a table with its rows,
a pair of brackets. What one scope says holds for all scopes within it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any


class Kind(StrEnum):
    """What a scope is; rows, columns, elements and commands are of a training each."""

    TEXT = "text"
    SECTION = "section"
    BLOCK = "paragraph"
    GROUP = "group"
    LINE = "line"
    ELEMENT = "element"
    COMMAND = "command"
    TABLE = "table"
    ROW = "row"
    COLUMN = "column"


APART = (Kind.ELEMENT, Kind.COMMAND, Kind.ROW, Kind.COLUMN)
MAX_DEPTH = 40
MAX_LONG = 500  # parts of several lines that others are compared with
WRAPPED = 50  # characters
LAST = 40  # characters of a line, in which no sign stands if it is a sentence
MAX_KEY = 6  # words of a key, with its sign
HEADING = re.compile(
    r"(?P<level>#{1,6})\s+(?P<label>[^\n]*)$|\[{1,2}(?P<name>[\w\"'][\w. \"'-]{0,60})\]{1,2}$"
)
UNDERLINE = re.compile(r"(?:={3,}|-{3,})\s*$")
BULLET = re.compile(r"\s*(?:[-*+•·]|\d{1,2}[.)])\s+")
KEYED = re.compile(
    r"\s*[\"']?[^\W\d][^:=\n|]{0,60}?[\"']?\s?(?::|=|\s=>|\?=)(?!\w)\s?|\s*--?\w[\w-]*[ =]"
)
COMMAND = re.compile(
    r"\s*(?:[$>%]\s+)?(?:\w+=\S+\s+)*"
    r"(?:python3?|torchrun|accelerate|bash|sh|deepspeed|srun|flwr|uv run|poetry run|\./)\b[^\n]*"
)
COMMENTED = re.compile(
    r"\s*(?:#+|//|%|;|--)\s*"  # the sign of a comment
    r"(?:[$>]\s+)?(?=(?:python3?|torchrun|bash)\s"  # before a command
    r"|[\w.\"'-]+\s?=\s?\S"  # a value that is set
    r"|--\w"  # an option
    r"|[\w.]+:\s+[-\d.])"  # a key with a number
)
REMARK = re.compile(r"(?:\s#\s|\s//\s|\s%\s)[^\n]*")
BEFORE_BRACKET = re.compile(
    r"(?P<key>[A-Za-z_][\w .-]{0,40}?)[\"'\]]*\s*(?:[:=]\s*)?(?:[A-Za-z_][\w.]{0,30})?$"
)
SENTENCE = re.compile(r"\W{0,9}(?:[^\W\d_]{1,40}\W{1,9}){4}")
UNENDED = re.compile(r"[\w,)]\s*$")
LABEL = re.compile(r"\s*(?:[-*+•]\s+)?(?P<label>[A-Za-z][\w .()-]{0,40}?)\s?[:=]")
COUNTER = re.compile(
    r"(?i)(?<![A-Za-z])(?P<unit>epoch[ea]?|époque|época|エポック|에폭|에포크|轮次|ep(?!s)"  # epochs
    r"|round|step|it|iter|iteration|update"  # rounds and steps
    r"|runde|schritt|ronda|tour|ラウンド|ステップ|라운드|스텝)"  # in other languages
    r"[\"']?\s?[:=#]?\s{0,8}\[?"  # a sign between
    r"(?P<count>\d{1,9})(?:\s?/\s?\d{1,9})?(?![\d.]|,\d| ?%)"  # 3, or 3/10
)
LOG_START = re.compile(r"[\W\d]{0,60}(?:[A-Za-z]\w{0,30}?[\W\d_]{1,24}){0,5}$")
EPSILON = re.compile(
    r"(?i)(?<![a-z])(?:eps(?:ilon)?|ε)(?![a-z])|隐私预算|隱私預算|プライバシー予算"
)
ANOTHERS = re.compile(
    r"(?i)\bbaseline|\bnon-?private|\bwithout (?:dp|privacy)|\bpre-?train"
    r"|\b(?:others|related work|(?:prior|earlier|previous|published) (?:work|art|results)"
    r"|literature|state of the art|wrong|incorrect|buggy|falsch)\b"
    r"|\bcomparisons? (?:with|to)\b"
)
AHEAD = re.compile(  # the heading of what is not done
    r"(?i)\W*(?:(?:to-?do|next(?: steps?)?|future(?: work)?|outlook|plans?|planned|ideas?"
    r"|(?:open )?questions?|wishes|wish ?list|roadmap|ausblick|fragen|perspectives|à faire"
    r"|pendiente|próximos pasos|trabajo futuro|trabalhos? futuros?"
    r"|travaux futurs)\b|今後|将来|展望|未来|计划)"
)


@dataclass(eq=False)
class Scope:
    """A part of a text, the parts within it, and what stands in it outside of those."""

    kind: Kind
    start: int
    end: int
    label: str = ""
    children: list["Scope"] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)

    def at(self, place: int) -> "Scope":
        """The innermost scope at a place."""
        inner = self._within(place)
        if inner is None:
            return self
        return inner.at(place)

    def _within(self, place: int) -> "Scope | None":
        """The part that a place is in; the columns of a table are none."""
        found = bisect_right(self.children, place, key=attrgetter("start")) - 1
        if found < 0:
            return None
        each = self.children[found]
        if each.kind is Kind.COLUMN or place >= each.end:
            return None
        return each

    def path(self, place: int) -> list["Scope"]:
        """All scopes around a place whose labels tell whose numbers stand there."""
        found: list[Scope] = []
        if self._tells():
            found.append(self)
        inner = self._within(place)
        if inner:
            found += inner.path(place)
        return found

    def _tells(self) -> bool:
        """True if the label says whose numbers stand here; of a heading, few words do."""
        if self.kind is Kind.SECTION:
            return bool(ANOTHERS.search(self.label) or AHEAD.match(self.label))
        return bool(self.label)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its place."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line
        start += len(line)


def outline(text: str, tables: Sequence[Scope]) -> Scope:
    """All scopes of a text; its tables are known."""
    lines = list(lines_of(text))
    found = [*_brackets(text), *tables]
    long = [each for each in found if "\n" in text[each.start : each.end]]
    for each in (*_sections(lines, len(text)), *_indented(lines), *_blocks(lines)):
        if _crosses_one(each, long):
            continue
        found.append(each)
        if each.kind is not Kind.BLOCK and len(long) < MAX_LONG:
            long.append(each)
    for each in _lines(lines):
        inside = any(table.start <= each.start < table.end for table in tables)
        if not inside and not _crosses_one(each, long):
            found.append(each)
    return _nested(found, len(text))


def _crosses_one(scope: Scope, others: Sequence[Scope]) -> bool:
    return any(_cross(scope, other) for other in others)


def _cross(one: Scope, other: Scope) -> bool:
    """True if two scopes overlap and none is within the other."""
    if one.end <= other.start or other.end <= one.start:
        return False
    within = other.start <= one.start and one.end <= other.end
    around = one.start <= other.start and other.end <= one.end
    return not within and not around


def _nested(found: list[Scope], length: int) -> Scope:
    root = Scope(Kind.TEXT, 0, length)
    stack = [root]
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        while len(stack) > 1 and each.start >= stack[-1].end:
            stack.pop()
        parent = stack[-1]
        if each.end <= parent.end and len(stack) < MAX_DEPTH:
            parent.children.append(each)
            stack.append(each)
    return root


def _brackets(text: str) -> Iterator[Scope]:
    """Yield pairs of brackets around keys with values: of JSON, of a call, of a structure."""
    opened: list[tuple[str, int]] = []
    for each in re.finditer(r"[({\[]|[)}\]]", text):
        if each[0] in "({[":
            opened.append((each[0], each.start()))
        elif opened:
            sign, start = opened.pop()
            inner = text[start + 1 : each.start()]
            called = sign != "(" or text[start - 1 : start].isalnum() or "\n" in inner
            if not called or not re.search(r"[:=]", inner):
                continue
            label = _label_before(text, start)
            kind = Kind.GROUP
            if opened and opened[-1][0] == "[" and not label:
                kind = Kind.ELEMENT
            yield Scope(kind, start, each.end(), label)


def _label_before(text: str, start: int) -> str:
    """The key before a bracket, in its line."""
    line = text[max(0, start - 80) : start].split("\n")[-1]
    before = BEFORE_BRACKET.search(line)
    return before["key"].strip() if before else ""


def _sections(lines: list[tuple[int, str]], length: int) -> Iterator[Scope]:
    """Yield the part below each heading, up to the next one of its level."""
    heads: list[tuple[int, int, str, Kind]] = []  # place, level, label, kind
    before = ""
    for place, (start, line) in enumerate(lines):
        found = HEADING.match(line.strip())
        below = ""
        if place + 1 < len(lines):
            below = lines[place + 1][1]
        if found and found["name"] and "=" not in line:
            kind = Kind.GROUP
            if line.strip().startswith("[["):
                kind = Kind.ELEMENT
            heads.append((start, 1, found["name"], kind))
        elif found and found["level"] and not before.strip() and not COMMENTED.match(line):
            heads.append((start, len(found["level"]), found["label"], Kind.SECTION))
        elif UNDERLINE.match(below) and line.strip() and "|" not in line and not before.strip():
            heads.append((start, 1, line.strip(), Kind.SECTION))
        before = line
    for place, (start, level, label, kind) in enumerate(heads):
        end = length
        for next_start, next_level, _, _ in heads[place + 1 :]:
            if next_level <= level:
                end = next_start
                break
        yield Scope(kind, start, end, label)


def _indented(lines: list[tuple[int, str]]) -> Iterator[Scope]:
    """Yield each line that ends with a colon, with the lines or items below it."""
    for place, (start, line) in enumerate(lines):
        head = REMARK.sub("", line).rstrip()
        element = bool(BULLET.match(line) and KEYED.match(BULLET.sub("", line, count=1)))
        if not (head.endswith(":") or element) or len(head) > 100:
            continue
        end = _end_below(lines, place, element=element)
        if end > start + len(line):
            label = BULLET.sub("", head).strip(" \"':")
            if element:
                yield Scope(Kind.ELEMENT, start, end, label.partition(":")[2].strip(" \"'"))
            else:
                yield Scope(Kind.GROUP, start, end, label)


def _end_below(lines: list[tuple[int, str]], place: int, *, element: bool) -> int:
    """Where the lines or items below a line end; its own end if there are none."""
    start, line = lines[place]
    depth = _depth(line)
    end = start + len(line)
    gap = False
    for at, below in lines[place + 1 :]:
        if not below.strip():
            gap = True
            continue
        item = bool(BULLET.match(below))
        if element and (item or not KEYED.match(below)):
            break
        deeper = _depth(below) > depth
        listed = item and not BULLET.match(line) and _depth(below) >= depth
        if not deeper and (gap or not listed):
            break
        end = at + len(below)
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: list[tuple[int, str]]) -> Iterator[Scope]:
    """Yield the paragraphs: lines without a blank one between them."""
    start = end = 0
    for at, line in lines:
        if line.strip():
            end = at + len(line)
        elif end > start:
            yield Scope(Kind.BLOCK, start, end)
        if not line.strip():
            start = end = at + len(line)
    if end > start:
        yield Scope(Kind.BLOCK, start, end)


def _lines(lines: list[tuple[int, str]]) -> list[Scope]:
    """The lines that stand for themselves: items, keys with values, and commands.

    A line that goes on with the one before, deeper or in its sentence, is part of it.
    """
    found: list[Scope] = []
    goes_on = False  # the line before is one that stands for itself
    unended = False  # the line before is in the middle of a sentence
    wrapped = False  # the line before is long enough for one that is wrapped
    for start, line in lines:
        end = start + len(line)
        keyed = counter_of(line) is not None or (not unended and _has_key(line))
        command = COMMAND.match(line) and not COMMENTED.match(line)
        prose = not keyed and not command and SENTENCE.match(line)
        unended = bool((prose and UNENDED.search(line[-9:])) or (keyed and _goes_on(line)))
        in_sentence = wrapped and line[:1].islower()
        if command:
            found.append(Scope(Kind.COMMAND, start, end))
            goes_on = False
        elif BULLET.match(line) or keyed:
            named = LABEL.match(line)
            label = named["label"] if named else ""
            found.append(Scope(Kind.LINE, start, end, label))
            goes_on = True
        elif line.strip() and goes_on and (_depth(line) or in_sentence):
            found[-1].end = end
        else:
            goes_on = False
        wrapped = len(line) >= WRAPPED
    return found


def _goes_on(line: str) -> bool:
    """True for a long line of words that ends with a comma or an open bracket."""
    whole = line.rstrip()
    return whole[-1:] in ",(" and len(whole) >= WRAPPED and "=" not in whole[-LAST:]


def _has_key(line: str) -> bool:
    """True for a line that begins with a key; many words before = are a sentence's."""
    found = KEYED.match(line)
    return bool(found) and not ("=" in found[0] and len(found[0].split()) > MAX_KEY)


def counter_of(line: str) -> re.Match[str] | None:
    """The counter near the beginning of a line that has an epsilon."""
    found = COUNTER.search(line[:160])
    if found is None or SENTENCE.match(line):
        return None
    if EPSILON.search(line) and LOG_START.match(line[: found.start()]):
        return found
    return None
