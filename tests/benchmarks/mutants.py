"""Small faults of a source file, one at a time: what `mutation.py` plants and the tests must notice.

A mutant replaces one node of the syntax tree. Left alone: strings (texts, names, formats), type hints, imports,
decorators (the sizes of caches) and what an error says. Two strings are changed: the sides "left" and "right".
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path


def _operators(table: str) -> dict[type, list[type]]:
    """Each operator of the syntax tree that begins a row, with those that take its place."""
    rows = [[getattr(ast, name) for name in row.split()] for row in table.split(",")]
    return {first: others for first, *others in rows}


ARITHMETIC = _operators(
    "Add Sub, Sub Add, Mult Div, Div Mult, FloorDiv Mult, Mod Mult, Pow Mult,"
    "BitAnd BitOr, BitOr BitAnd, BitXor BitOr, LShift RShift, RShift LShift"
)
COMPARISONS = _operators(  # the boundary moved, and the sense turned
    "Lt LtE GtE, LtE Lt Gt, Gt GtE LtE, GtE Gt Lt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is, In NotIn, NotIn In"
)
_PAIRS = "min max,minimum maximum,floor ceil,argmin argmax,any all,zeros ones,cumsum cumprod,left right,lower upper"
SWAPPED = {a: b for pair in _PAIRS.split(",") for a, b in (pair.split(), pair.split()[::-1])}
SWAPPED |= {"log1p": "log", "expm1": "exp", "logaddexp": "maximum"}
EXTREMES = {"maximum", "minimum", "max", "min"}
ORDERLESS = {"array_equal", "logaddexp", "hypot", "add", "multiply", "bitwise_and"}  # the same, or a crash, if swapped
ORDERLESS |= {"isinstance", "getattr", "zip", "einsum", "transpose"}
UNTOUCHED = {"annotation", "returns", "decorator_list", "exc", "cause", "msg", "type_params", "format_spec"}
Lines = tuple[int, int] | None
Change = tuple[str, Lines, ast.AST, ast.AST, Callable[[ast.AST], None]]


@dataclass(frozen=True)
class Mutant:
    """One fault: which node of which function becomes what, and the lines that a test must run to see it."""

    path: str
    function: str  # or, outside functions, the class or the constant
    before: str
    after: str
    number: int  # among equal changes in one function, from 0
    lines: Lines  # None outside functions: whatever a test reaches there, it was run on import
    index: int  # its place among the changes of the file

    @property
    def name(self) -> str:
        """What stands for it in the list of explained mutants; free of line numbers, so that it outlives edits."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.path} | {self.function} | {self.before} -> {self.after}{again}"


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Every mutant of one file."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for index, (function, lines, before, after, _) in enumerate(_below(ast.parse((root / path).read_text()), "", None)):
        key = function, _text(before), _text(after)
        found.append(Mutant(path, *key, seen[key], lines, index))
        seen[key] += 1
    return found


def mutated(root: Path, mutant: Mutant) -> tuple[ast.Module, int]:
    """The syntax tree of the file with that one fault, and which of its statements holds it."""
    text = (root / mutant.path).read_text()
    tree = ast.parse(text)
    *_, before, after, put = next(islice(_below(tree, "", None), mutant.index, None))
    put(ast.copy_location(after, before))
    pairs = zip(ast.parse(text).body, ast.fix_missing_locations(tree).body, strict=True)
    return tree, next(place for place, (old, new) in enumerate(pairs) if ast.dump(old) != ast.dump(new))


def _below(node: ast.AST, function: str, lines: Lines) -> Iterator[Change]:
    """All changes below a node, in the order of its text: function, lines, the node, its fault, and what puts it in."""
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED or isinstance(value, ast.JoinedStr):
            continue
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            span = _span(child, lines)
            inner = f"{function}.{_scope(child, span)}".strip(".")
            put = _putter(node, field, place, value)
            for after in _faults(child):
                yield inner, span, child, after, put
            yield from _below(child, inner, span)


def _scope(node: ast.AST, lines: Lines) -> str:
    """The name of a function, a class or, outside functions, a constant; "" for all else."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if lines is None and isinstance(node, ast.Assign | ast.AnnAssign):
        return ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return ""


def _putter(node: ast.AST, field: str, place: int, value: object) -> Callable[[ast.AST], None]:
    if isinstance(value, list):
        return lambda after: value.__setitem__(place, after)
    return lambda after: setattr(node, field, after)


def _span(node: ast.AST, outer: Lines) -> Lines:
    """The lines of the innermost simple statement, or of the head of a compound one; None outside functions."""
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if not isinstance(node, ast.stmt) or (outer is None and not is_function):
        return outer
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    compound = getattr(node, "body", None)
    return first, (max(compound[0].lineno - 1, node.lineno) if compound else node.end_lineno or node.lineno)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split()) if not isinstance(node, ast.Pass) else "nothing"


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value=ast.expr() as value) if _text(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise() | ast.Assert() | ast.Break():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield ast.AugAssign(node.target, ARITHMETIC[type(op)][0](), node.value)
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield type(node)(ast.UnaryOp(ast.Not(), test), node.body, node.orelse)
        case ast.Constant(value=value):
            yield from (ast.Constant(other) for other in _other_values(value))  # type: ignore[arg-type]
        case ast.Compare(left=left, ops=ops, comparators=others):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], others)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC and not _is_text(left, right):
            yield ast.BinOp(left, ARITHMETIC[type(op)][0](), right)
        case ast.UnaryOp(op=op) if not isinstance(op, ast.UAdd):
            yield node.operand
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.Attribute(attr=attr, ctx=ast.Load()) if attr in SWAPPED:
            yield ast.Attribute(node.value, SWAPPED[attr], node.ctx)
        case ast.Name(id=("min" | "max" | "any" | "all") as name):
            yield ast.Name(SWAPPED[name], node.ctx)
        case ast.Call(func=func, args=[first, second, *rest]) if not any(
            isinstance(each, ast.Starred) for each in node.args
        ):
            called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if called in EXTREMES:
                yield from (first, second)
            elif called not in ORDERLESS and _text(first) != _text(second):
                yield ast.Call(func, [second, first, *rest], node.keywords)


def _is_text(*nodes: ast.expr) -> bool:
    return any(isinstance(each, ast.Constant) and isinstance(each.value, str | None) for each in nodes)


def _other_values(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1) if value else (1,)
    if isinstance(value, float):
        return (value * 2, value / 2) if value else (1.0,)
    return (SWAPPED[value],) if value in ("left", "right") else ()
