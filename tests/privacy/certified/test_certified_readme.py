"""The written proof names what exists, and every constant of the room stands in it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOM = ROOT / "dpcore" / "privacy" / "certified"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`([a-z_]+\.[A-Za-z_][\w.]*)`", TEXT)))
TESTS = sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT)))
CONSTANT = re.compile(r"^([A-Z][A-Z_]*)(?:: [^=]+)? = ", re.MULTILINE)
STATEMENT = re.compile(r"^(?:\*\*((?:Theorem|Lemma) \d+)|\*(The core|Sums of a tail)\.\*)", re.MULTILINE)
BUDGET = re.compile(r"^\*\*((?!Is|Attacked)[A-Z][a-z ]+)\.?\*\*", re.MULTILINE)  # in the section on floating point


def statements() -> dict[str, str]:
    """Each theorem, lemma and paragraph of the budget, with its text up to the next one."""
    found = {}
    for part in re.split(r"(?=^## )", TEXT, flags=re.MULTILINE)[2:8]:
        heads = list((BUDGET if part.startswith("## 6") else STATEMENT).finditer(part))
        ends = [*(head.start() for head in heads[1:]), len(part)]
        for head, end in zip(heads, ends, strict=True):
            found[next(name for name in head.groups() if name)] = part[head.start() : end]
    return found


@pytest.mark.parametrize("name", statements())
def test_every_statement_says_what_it_is_and_what_attacks_it(name: str) -> None:
    text = statements()[name]
    assert re.search(r"\*\*Is\*\*\s+`[a-z_]+\.\w+", text)
    assert re.search(r"\*\*Attacked by\*\*\s+`test_\w+\.py::", text)


def test_no_statement_is_overlooked() -> None:
    numbered = [
        *(f"Theorem {n}" for n in (1, 2, 9, 13, 14, 15, 16, 17)),
        *(f"Lemma {n}" for n in (*range(3, 9), *range(10, 13))),
    ]
    others = ["The core", "Sums of a tail", "Masses and places of one step", "Transforms", "Powers"]
    budget = ["Masses without a tilt", "The sum over frequencies", "The rest", "The reserve", "Underflow"]
    assert set(statements()) == {*numbered, *others, *budget}


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.stem)
def test_no_error_is_charged_by_a_number_without_a_name(path: Path) -> None:
    """What is multiplied by the unit roundoff inside a function is 1, 2, or a name that the proof lists."""
    for function in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)):
        for product in (node for node in ast.walk(function) if isinstance(node, ast.BinOp)):
            parts = list(ast.walk(product))
            if any(isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each).endswith("UNIT") for each in parts):
                numbers = {each.value for each in parts if isinstance(each, ast.Constant)}
                assert numbers <= {1, 2}, f"{function.name}: {ast.unparse(product)}"


def constants() -> list[str]:
    """Every constant of the room as module.NAME."""
    return [f"{path.stem}.{name}" for path in sorted(ROOM.glob("*.py")) for name in CONSTANT.findall(path.read_text())]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_in_the_proof_exists(name: str) -> None:
    module, *path = name.split(".")
    room = "dpcore.privacy.certified" if (ROOM / f"{module}.py").exists() else "dpcore"
    found = importlib.import_module(f"{room}.{module}")
    for each in path:
        found = getattr(found, each)


@pytest.mark.parametrize(("file", "test"), TESTS)
def test_every_test_in_the_proof_exists(file: str, test: str) -> None:
    assert any(f"def {test}(" in path.read_text() for path in (ROOT / "tests").rglob(file))


@pytest.mark.parametrize("constant", constants())
def test_every_constant_is_listed_once(constant: str) -> None:
    assert len(re.findall(rf"^\| `{re.escape(constant)}` \|", TEXT, re.MULTILINE)) == 1


def stated(constant: str) -> float:
    """The value that the table of constants gives: a number, a power, a share in % or a count of values."""
    row = re.search(rf"^\| `{re.escape(constant)}` \| ([^|=]+)", TEXT, re.MULTILINE)
    assert row
    text = row[1].strip().removesuffix("values").strip()
    if "^" in text:
        base, exponent = text.split("^")
        return float(base) ** float(exponent)
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


@pytest.mark.parametrize("constant", constants())
def test_every_constant_has_the_value_that_the_proof_states(constant: str) -> None:
    module, name = constant.split(".")
    value = getattr(importlib.import_module(f"dpcore.privacy.certified.{module}"), name)
    if name == "LEAST_DELTA":
        value = value[0]
    assert (len(value) if name == "CHECKED" else float(value)) == pytest.approx(stated(constant), rel=1e-12, abs=0)


def test_there_is_something_to_check() -> None:
    assert len(NAMES) > 60
    assert len(TESTS) > 20
    assert len(constants()) > 40
