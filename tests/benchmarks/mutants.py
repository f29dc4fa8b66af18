"""Small faults of a source file, one at a time: what the mutation run plants and the tests must notice.

A mutant replaces one node of the syntax tree. Left alone: strings (texts, names, formats), type hints, imports,
decorators (the sizes of caches) and what an error says. Two strings are changed: the sides "left" and "right".
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {  # the boundary moved, and the sense turned
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = "min max,minimum maximum,floor ceil,argmin argmax,any all,zeros ones,cumsum cumprod,left right,lower upper"
SWAPPED = {a: b for pair in _PAIRS.split(",") for a, b in (pair.split(), pair.split()[::-1])}
SWAPPED |= {"log1p": "log", "expm1": "exp", "logaddexp": "maximum"}
UNORDERED = {"isinstance", "getattr", "zip", "einsum"}  # swapped arguments say nothing: a crash, or the same
EXTREMES = {"maximum", "minimum", "max", "min"}
COMMUTING = EXTREMES | {"array_equal", "logaddexp", "hypot", "add", "multiply", "bitwise_and"}
UNTOUCHED = {"annotation", "returns", "decorator_list", "exc", "cause", "msg", "type_params", "format_spec"}


@dataclass(frozen=True)
class Mutant:
    """One fault: which node of which function becomes what, and the lines that a test must run to see it."""

    path: str
    function: str  # or, outside functions, the class or the constant
    before: str
    after: str
    number: int  # among equal changes in one function, from 0
    lines: tuple[int, int] | None  # None outside functions: whatever a test reaches there, it was run on import
    index: int  # its place among the changes of the file

    @property
    def name(self) -> str:
        """What stands for it in the list of explained mutants; free of line numbers, so that it outlives edits."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.path} | {self.function} | {self.before} -> {self.after}{again}"


@dataclass(frozen=True)
class Change:
    """A node and what replaces it, with the act of replacing."""

    function: str
    lines: tuple[int, int] | None
    before: ast.AST
    after: ast.AST
    put: Callable[[ast.AST], None]


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Every mutant of one file."""
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for index, change in enumerate(changes(ast.parse((root / path).read_text()))):
        key = change.function, _text(change.before), _text(change.after)
        seen[key] = seen.get(key, -1) + 1
        found.append(Mutant(path, *key, seen[key], change.lines, index))
    return found


def mutated(root: Path, mutant: Mutant) -> ast.Module:
    """The syntax tree of the file with that one fault."""
    tree = ast.parse((root / mutant.path).read_text())
    for index, change in enumerate(changes(tree)):
        if index == mutant.index:
            change.put(ast.copy_location(change.after, change.before))
            return ast.fix_missing_locations(tree)
    raise LookupError(f"no change {mutant.index} in {mutant.path}")


def changes(tree: ast.Module) -> Iterator[Change]:
    """All changes of a module, in the order of its text."""
    return _below(tree, "", None)


def _below(node: ast.AST, function: str, lines: tuple[int, int] | None) -> Iterator[Change]:
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED or isinstance(value, ast.JoinedStr):
            continue
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            span = _span(child, lines)
            inner = f"{function}.{_scope(child, span)}".strip(".")
            for after in _faults(child):
                yield Change(inner, span, child, after, _putter(node, field, place, isinstance(value, list)))
            yield from _below(child, inner, span)


def _scope(node: ast.AST, lines: tuple[int, int] | None) -> str:
    """The name of a function, a class or, outside functions, a constant; "" for all else."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if lines is None and isinstance(node, ast.Assign | ast.AnnAssign):
        return ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return ""


def _putter(node: ast.AST, field: str, place: int, many: bool) -> Callable[[ast.AST], None]:
    if many:
        return lambda after: getattr(node, field).__setitem__(place, after)
    return lambda after: setattr(node, field, after)


def _span(node: ast.AST, outer: tuple[int, int] | None) -> tuple[int, int] | None:
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
    if isinstance(node, ast.stmt):
        yield from _statement_faults(node)
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in _other_values(node.value))  # type: ignore[arg-type]
    elif isinstance(node, ast.Compare):
        yield from _comparison_faults(node)
    elif isinstance(node, ast.expr):
        yield from _expression_faults(node)


def _statement_faults(node: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.Raise | ast.Assert):
        yield ast.Pass()
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
    elif isinstance(node, ast.Break):
        yield ast.Pass()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _other_values(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1) if value else (1,)
    if isinstance(value, float):
        return (value * 2, value / 2) if value else (1.0,)
    return (SWAPPED[value],) if value in ("left", "right") else ()


def _comparison_faults(node: ast.Compare) -> Iterator[ast.AST]:
    for place, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            yield ast.Compare(node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators)


def _expression_faults(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Attribute) and node.attr in SWAPPED and isinstance(node.ctx, ast.Load):
        yield ast.Attribute(node.value, SWAPPED[node.attr], node.ctx)
    elif isinstance(node, ast.Name) and node.id in ("min", "max", "any", "all"):
        yield ast.Name(SWAPPED[node.id], node.ctx)
    elif isinstance(node, ast.Call):
        yield from _call_faults(node)


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str | None) for each in (node.left, node.right)
    )


def _call_faults(node: ast.Call) -> Iterator[ast.AST]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if len(node.args) < 2 or any(isinstance(each, ast.Starred) for each in node.args):
        return
    if called in EXTREMES:
        yield from node.args[:2]
    elif called not in UNORDERED | COMMUTING and _text(node.args[0]) != _text(node.args[1]):
        yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
