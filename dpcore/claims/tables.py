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
            start, end = rows[0][0][0], rows[-1][-1][1]
            if any(each.scope.start < end and start < each.scope.end for each in found):
                continue
            for first in range(min(len(rows) - 1, MAX_ABOVE)):
                table = _table(text, rows[first:], ruled=mark is MARKS[0])
                if table:
                    found.append(table)
                    break
    return found


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
    at = start + (line.index(inner) if inner else 0)
    cells: Row = []
    last = at
    for each in mark.finditer(inner):
        cells.append((last, at + each.start()))
        last = at + each.end()
    return [*cells, (last, at + len(inner))]


def _table(text: str, rows: list[Row], *, ruled: bool) -> Table | None:
    first = [text[low:high].strip() for low, high in rows[0]]
    above = [bool(named(each, headed=True).field) for each in first]
    aside = [text[row[0][0] : row[0][1]].strip() for row in rows[1:]]
    beside = [bool(named(each, headed=True).field) for each in aside]
    if not ruled and not all(HEAD.match(each) or named(each, headed=True).field for each in first):
        above = [False]
    if any(VALUE.match(each) for each in first):  # a table without heads
        named_rows = (
            ruled and len(first) == 2 and (any(beside) or named(first[0], headed=True).field)
        )
        return _of_columns(text, [rows[0], *rows], ["", ""]) if named_rows else None
    by_columns = sum(above) > sum(beside) or sum(above) >= MIN_NAMED
    needed = 1 if ruled else MIN_NAMED
    if by_columns and sum(above) >= needed:
        return _of_rows(text, rows, first)
    if ruled and any(beside):
        return _of_columns(text, rows, first)
    return None


def _of_rows(text: str, rows: list[Row], heads: Sequence[str]) -> Table:
    scope = Scope(Kind.TABLE, rows[0][0][0], min(rows[-1][-1][1] + 1, len(text)))
    cells = []
    for count, row in enumerate(rows[1:], 1):
        label = text[row[0][0] : row[0][1]].strip() or f"row {count}"
        if len(label) > 1 and named(label, headed=True).field:  # a row of other values
            continue
        own = Scope(Kind.ROW, row[0][0], min(row[-1][1] + 1, len(text)), label)
        scope.children.append(own)
        cells += [Cell(low, high, head, own) for (low, high), head in zip(row, heads, strict=True)]
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
        name = text[row[0][0] : row[0][1]].strip()
        for (low, high), column in zip(row[1:], columns, strict=True):
            cells.append(Cell(low, high, name, column))
    return Table(scope, tuple(cells), ())
