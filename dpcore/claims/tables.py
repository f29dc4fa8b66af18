"""Tables in texts: of Markdown, LaTeX and HTML, of commas or tabs, and of aligned columns."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dpcore.claims.scopes import Kind, Scope, lines_of
from dpcore.claims.vocabulary import named

MARKS = (  # what separates cells
    re.compile(r"\|"),
    re.compile(r"\t"),
    re.compile(r","),
    re.compile(r";"),
    re.compile(r" {2,}"),
)
HEAD = re.compile(r"[^\W\d_#(|][^:=;!?]{0,60}$|#\w+$|$")
VALUE = re.compile(r"[<>=≈~]*\s?[-+]?\d")
RULE = re.compile(r":?-+:?")
MAX_ABOVE = 3  # lines above the heads that have as many cells
MIN_NAMED = 2  # heads with a name, where no rule and no line around cells shows a table


class Cell(NamedTuple):
    """A cell, the head that names it, and the row or column that it is of."""

    start: int
    end: int
    head: str
    scope: Scope


class Table(NamedTuple):
    """A table as scopes, and its cells with values."""

    scope: Scope
    cells: tuple[Cell, ...]
    heads: tuple[tuple[int, int], ...]  # places of the heads


Row = list[tuple[int, int]]  # places of cells


def tables_of(text: str) -> list[Table]:
    """The tables of a text in which heads of columns, or of rows, have the name of a value.

    >>> (table,) = tables_of("sigma,steps\\n1.1,20\\n")
    >>> [(each.head, each.scope.kind.value) for each in table.cells]
    [('sigma', 'row'), ('steps', 'row')]
    """
    found: list[Table] = []
    for mark in MARKS:
        for rows in _grids(text, mark):
            if _overlaps(rows, found):
                continue
            for first in range(min(len(rows) - 1, MAX_ABOVE)):
                table = _table(text, rows[first:], ruled=mark is MARKS[0])
                if table:
                    found.append(table)
                    break
    return found


def _overlaps(rows: Sequence[Row], tables: Sequence[Table]) -> bool:
    """True for rows of which one stands in one of these tables."""
    start, end = rows[0][0][0], rows[-1][-1][1]
    return any(each.scope.start < end and start < each.scope.end for each in tables)


def _grids(text: str, mark: re.Pattern[str]) -> list[list[Row]]:
    """Lines one below the other with as many cells each, at least two."""
    grids: list[list[Row]] = []
    current: list[Row] = []
    for start, line in lines_of(text):
        cells = _cells(start, line, mark)
        if len(cells) < 2 or (current and len(cells) != len(current[0])):
            if len(current) > 1:
                grids.append(current)
            current = []
        if len(cells) > 1:
            current.append(cells)
    if len(current) > 1:
        grids.append(current)
    return grids


def _cells(start: int, line: str, mark: re.Pattern[str]) -> Row:
    inner = line.strip()
    if mark is MARKS[0] and inner.startswith("|") and inner.endswith("|"):
        inner = inner[1:-1]
    at = start
    if inner:
        at += line.index(inner)
    cells: Row = []
    last = at
    for each in mark.finditer(inner):
        cells.append((last, at + each.start()))
        last = at + each.end()
    return [*cells, (last, at + len(inner))]


def _table(text: str, rows: list[Row], *, ruled: bool) -> Table | None:
    first = [text[low:high].strip() for low, high in rows[0]]
    beside = 0  # rows whose first cell names a value
    for row in rows[1:]:
        beside += _is_named(_first_cell(text, row))
    if any(VALUE.match(each) for each in first) and not _is_rule(text, rows[1]):  # without heads
        if ruled and len(first) == 2 and (beside or _is_named(first[0])):
            return _of_columns(text, [rows[0], *rows], ["", ""])
        return None
    above = _named_heads(first, ruled=ruled)
    by_columns = above > beside or above >= MIN_NAMED
    needed = 1 if ruled else MIN_NAMED
    if by_columns and above >= needed:
        return _of_rows(text, rows, first)
    if ruled and beside:
        return _of_columns(text, rows, first)
    return None


def _named_heads(heads: Sequence[str], *, ruled: bool) -> int:
    """How many heads name a value; none, where no rule shows a table and one is no head."""
    count = 0
    for each in heads:
        if _is_named(each):
            count += 1
        elif not ruled and not HEAD.match(each):
            return 0
    return count


def _is_named(phrase: str) -> bool:
    return bool(named(phrase, headed=True).field)


def _is_rule(text: str, row: Row) -> bool:
    """True for the line below the heads of a table in Markdown."""
    return all(RULE.fullmatch(text[low:high].strip()) for low, high in row)


def _first_cell(text: str, row: Row) -> str:
    return text[row[0][0] : row[0][1]].strip()


def _of_rows(text: str, rows: list[Row], heads: Sequence[str]) -> Table:
    scope = Scope(Kind.TABLE, rows[0][0][0], min(rows[-1][-1][1] + 1, len(text)))
    cells = []
    for count, row in enumerate(rows[1:], 1):
        label = _first_cell(text, row) or f"row {count}"
        if len(label) > 1 and _is_named(label):  # a row of other values
            continue
        own = Scope(Kind.ROW, row[0][0], min(row[-1][1] + 1, len(text)), label)
        scope.children.append(own)
        for (low, high), head in zip(row, heads, strict=True):
            cells.append(Cell(low, high, head, own))
    return Table(scope, tuple(cells), tuple(rows[0]))


def _of_columns(text: str, rows: list[Row], heads: Sequence[str]) -> Table:
    """A table whose rows are named: a column of values, or one column for each training."""
    scope = Scope(Kind.TABLE, rows[0][0][0], min(rows[-1][-1][1] + 1, len(text)))
    columns = [scope] * (len(heads) - 1)
    if len(heads) > 2:
        columns = [Scope(Kind.COLUMN, scope.start, scope.end, head) for head in heads[1:]]
        scope.children += columns
    cells = []
    for row in rows[1:]:
        name = _first_cell(text, row)
        for (low, high), column in zip(row[1:], columns, strict=True):
            cells.append(Cell(low, high, name, column))
    return Table(scope, tuple(cells), ())
