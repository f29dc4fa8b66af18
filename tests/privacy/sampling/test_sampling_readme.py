"""The written proof of batches that are not Poisson names what exists, and every constant of the room stands in it."""

import re

import pytest

from tests.privacy.proof_text import ROOT, attacks_in, constants_of, find, has_test, listed, names_in

ROOM = ROOT / "dpcore" / "privacy" / "sampling"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")
STATEMENTS = re.split(r"(?=^\*\*Theorem)", TEXT.split("## 8.")[0], flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("statement", STATEMENTS, ids=[each[2:11] for each in STATEMENTS])
def test_every_theorem_says_what_it_is_and_what_attacks_it(statement: str) -> None:
    assert re.search(r"\*\*Is\*\*\s+`[a-z_]+\.\w+", statement)
    assert re.search(r"\*\*Attacked by\*\*\s+`test_\w+\.py::", statement)


def test_the_theorems_are_numbered_in_order() -> None:
    assert [int(each) for each in re.findall(r"^\*\*Theorem (\d+)", TEXT, re.MULTILINE)] == list(range(1, 12))


@pytest.mark.parametrize("name", names_in(TEXT))
def test_every_name_in_the_proof_exists(name: str) -> None:
    find(name, ROOM)


@pytest.mark.parametrize(("file", "test"), attacks_in(TEXT))
def test_every_test_in_the_proof_exists(file: str, test: str) -> None:
    assert has_test(file, test)


@pytest.mark.parametrize("constant", constants_of(ROOM))
def test_every_constant_is_listed_once(constant: str) -> None:
    assert listed(constant, TEXT) == 1
