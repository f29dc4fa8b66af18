"""The written proof names what exists, and every constant of the room stands in it."""

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


def constants() -> list[str]:
    """Every constant of the room as module.NAME."""
    return [f"{path.stem}.{name}" for path in sorted(ROOM.glob("*.py")) for name in CONSTANT.findall(path.read_text())]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_in_the_proof_exists(name: str) -> None:
    module, *path = name.split(".")
    found = importlib.import_module(f"dpcore.privacy.certified.{module}")
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
