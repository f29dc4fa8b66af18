"""The page beside the audits names what exists, and each of its theorems says what it is and what attacks it."""

import importlib
import re
from pathlib import Path

import pytest

import dpcore
from dpcore.audit.bounds.finding import Evidence, Finding, bonferroni

ROOM = Path(dpcore.__file__).parent / "audit" / "bounds"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`((?!test_)[a-z_]+\.[A-Za-z_][\w.]*)`", TEXT)))
TESTS = sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT)))
PROVEN = re.split(r"^\*\*(?=Theorem)", TEXT, flags=re.MULTILINE)[1:]
for module in ROOM.glob("*.py"):
    importlib.import_module(f"dpcore.audit.bounds.{module.stem}")
FINDINGS = Finding.__subclasses__()


@pytest.mark.parametrize("name", NAMES)
def test_every_function_that_is_named_is_there(name: str) -> None:
    module, *parts = name.split(".")
    found = importlib.import_module(f"dpcore.audit.bounds.{module}")
    for part in parts:
        found = getattr(found, part)


@pytest.mark.parametrize(("file", "test"), TESTS)
def test_every_test_that_is_named_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


def test_every_theorem_has_a_number_of_its_own() -> None:
    assert [int(re.findall(r"\d+", text)[0]) for text in PROVEN] == list(range(1, 10))
    assert len(TESTS) > 7


@pytest.mark.parametrize("text", PROVEN, ids=lambda text: text[:10])
def test_every_theorem_is_a_function_of_the_room(text: str) -> None:
    assert "**Is** `" in text or text.startswith("Theorem 5")  # which Theorem 6 uses


@pytest.mark.parametrize("kind", FINDINGS, ids=lambda kind: kind.__name__)
def test_every_finding_says_what_it_tests_and_what_it_does_not(kind: type[Finding]) -> None:
    for words in (kind.tests, kind.untested):
        assert words.endswith(".")
        assert words[0].isupper()
    assert kind.title
    assert kind.source


def test_every_kind_of_evidence_is_told_of() -> None:
    assert re.findall(r"^\| (bound|conditional|estimate) \|", TEXT, re.MULTILINE) == [each.value for each in Evidence]


def test_several_tests_pay_for_one_another() -> None:
    assert bonferroni([0.02, 0.5, 0.3]) == pytest.approx(0.06)
    assert bonferroni(iter([0.9, 0.8])) == 1
