"""The layout of a plain text: heads of table cells, keys around keys, and the lines of a log before
its last.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from dpcore.claims.vocabulary import PATTERNS

MAX_DEPTH = 6


class Cell(NamedTuple):
    """A cell of a table, and the head of its column or row; "" if nothing stands there."""

    start: int
    end: int
    head: str
    row: tuple[int, int]


class Log(NamedTuple):
    """A log: its last counter with its field and place, its last line, and its lines before."""

    field: str
    count: int
    start: int
    end: int
    line: tuple[int, int]
    earlier: tuple[tuple[int, int], ...] = ()
    from_zero: bool = False


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its place."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line
        start += len(line)


def cells_of(text: str, is_name: Callable[[str], bool]) -> list[Cell]:
    """Return the cells of all tables, each with its head: of the column if heads have known names,
    or of the row.

    >>> [(each.head, each.row) for each in cells_of("a | b\\n1 | 2\\n", "b".__eq__)]
    [('a', (6, 12)), ('b', (6, 12))]
    """
    found: list[Cell] = []
    heads: list[str] = []
    blank = False
    for start, line in lines_of(text):
        if not line.strip():
            blank = True
        elif "|" not in line:
            heads = []
        elif not PATTERNS.ruler.match(line):
            cells, row = list(_cells(start, line)), (start, start + len(line))
            words = [text[low:high].strip() for low, high in cells]
            above = [*[""] * (len(cells) - len(heads)), *heads]  # a first head may be empty
            if (
                len(above) - len(heads) < 2
                and len(above) == len(cells)
                and any(is_name(each) for each in heads)
            ):
                found += [
                    Cell(low, high, head, row)
                    for (low, high), head in zip(cells, above, strict=True)
                ]
            elif is_name(words[0]):
                found += [
                    Cell(low, high, f"{column} {words[0]}".strip(), row)
                    for (low, high), column in zip(cells[1:], above[1 : len(cells)], strict=True)
                ]
            named = [] if any(each[:1].isdigit() for each in words) else words
            heads, blank = (named if blank and named else heads or named), False
    return found


def _cells(start: int, line: str) -> Iterator[tuple[int, int]]:
    inner = line.strip().strip("|")
    at = start + line.index(inner)
    for part in inner.split("|"):
        yield at, at + len(part)
        at += len(part) + 1


def paths_of(text: str) -> tuple[list[int], list[str]]:
    """Return places, ascending, and the keys around each, of brackets and of indented lines.

    >>> paths_of("noise:\\n  scale: {value: 3}")[1]
    ['', 'noise', 'noise scale', 'noise']
    """
    places, paths = [0], [""]
    keys: list[tuple[int, str]] = []  # each with its indentation, or -1 for a bracket

    def note(place: int) -> None:
        if (path := " ".join([key for _, key in keys if key][-MAX_DEPTH:])) != paths[-1]:
            places.append(place)
            paths.append(path)

    for start, line in lines_of(text):
        indent = len(line) - len(line.lstrip())
        if line.strip() and not any(depth < 0 for depth, _ in keys):
            keys = [each for each in keys if each[0] < indent]
        note(start)
        if opened := PATTERNS.key_line.match(line.strip()):
            keys = [*keys, (indent, opened["key"])] if opened["key"] else [(-2, opened["section"])]
            continue
        for each in re.finditer(r"[({\[]|[)}\]]", line):
            if each[0] in "({[":
                before = PATTERNS.key_before.search(line[max(0, each.start() - 64) : each.start()])
                keys = [*keys, (-1, before["key"].strip() if before else "")][-4 * MAX_DEPTH :]
            elif keys and keys[-1][0] == -1:
                keys.pop()
            note(start + each.end())
    return places, paths


def logs_of(text: str, cells: Iterable[Cell]) -> list[Log]:
    """Return the logs of a text: alike lines, or rows of a table, with a growing counter and an
    epsilon.

    >>> logs = logs_of("Round 1/9 | eps=0.2\\nRound 9/9 | eps=0.4", [])
    >>> [(each.field, each.count) for each in logs]
    [('steps', 9)]
    """
    alike: dict[str, list[Log]] = {}
    for start, line in lines_of(text):
        counter = PATTERNS.counter.search(line[:200])
        if (
            counter
            and PATTERNS.log_start.match(line[: counter.start()])
            and PATTERNS.epsilon.search(line)
        ):
            alike.setdefault(PATTERNS.figures.sub("#", line.strip(" \t\r\n,")), []).append(
                _log((start, start + len(line)), counter, start)
            )
    private = {each.row for each in cells if PATTERNS.epsilon.search(each.head)}
    for each in cells:
        own = text[each.start : each.end]
        if each.row in private and (
            counter := PATTERNS.counter.fullmatch(f"{each.head} {own.strip()}")
        ):
            shift = each.start + own.index(own.strip()) - len(each.head) - 1
            alike.setdefault(f"| {each.head}", []).append(_log(each.row, counter, shift))
    return [
        logs[-1]._replace(
            earlier=tuple(each.line for each in logs[:-1]),
            from_zero=not logs[0].count
            and (logs[0].field == "epochs" or len(logs) > logs[-1].count),
        )
        for logs in alike.values()
        if logs[-1].count and all(one.count < other.count for one, other in pairwise(logs))
    ]


def _log(line: tuple[int, int], counter: re.Match[str], shift: int) -> Log:
    field = "epochs" if counter["unit"][0] in "eEéÉエ에轮" else "steps"
    start, end = shift + counter.start("count"), shift + counter.end()
    return Log(field, int(counter["count"]), start, end, line)
