"""The written proof names what exists, and every constant of the room stands in it."""

import ast
import re

from tests.privacy.proof_text import ROOT, missing

ROOM = ROOT / "dpcore" / "privacy" / "certified"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")
STATEMENT = re.compile(
    r"^(?:\*\*((?:Theorem|Lemma) \d+)|\*(The core|Sums of a tail|Rounded to the safe side)\.\*)",
    re.MULTILINE,
)
# In the section on floating point.
BUDGET = re.compile(r"^\*\*((?!Is|Attacked)[A-Z][a-z ]+)\.?\*\*", re.MULTILINE)


def statements() -> dict[str, str]:
    """Each theorem, lemma and paragraph of the budget, with its text up to the next one."""
    found = {}
    for part in re.split(r"(?=^## )", TEXT, flags=re.MULTILINE)[2:8]:
        heads = list((BUDGET if part.startswith("## 6") else STATEMENT).finditer(part))
        ends = [*(head.start() for head in heads[1:]), len(part)]
        for head, end in zip(heads, ends, strict=True):
            found[next(name for name in head.groups() if name)] = part[head.start() : end]
    return found


def test_the_proof_names_nothing_that_is_not_there_and_every_statement_says_what_attacks_it() -> (
    None
):
    assert missing(ROOM, statements()) == []


def test_no_statement_is_overlooked() -> None:
    numbered = [
        *(f"Theorem {n}" for n in (1, 2, 9, 13, 14, 15, 16, 17, 18)),
        *(f"Lemma {n}" for n in (*range(3, 9), *range(10, 13))),
    ]
    others = [
        "The core",
        "Sums of a tail",
        "Rounded to the safe side",
        "Masses and places of one step",
        "Transforms",
        "Powers",
    ]
    budget = [
        "Masses without a tilt",
        "The sum over frequencies",
        "The rest",
        "The reserve",
        "Underflow",
    ]
    assert set(statements()) == {*numbered, *others, *budget}


def test_no_error_is_charged_by_a_number_without_a_name() -> None:
    """Every factor of the unit roundoff in a function is 1, 2, or a name that the proof lists."""
    nodes = [node for path in ROOM.glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
        for product in (node for node in ast.walk(function) if isinstance(node, ast.BinOp)):
            parts = list(ast.walk(product))
            if any(
                isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each).endswith("UNIT")
                for each in parts
            ):
                numbers = {each.value for each in parts if isinstance(each, ast.Constant)}
                assert numbers <= {1, 2}, f"{function.name}: {ast.unparse(product)}"
