"""The theorems in the room's README: what they name is there, and none is left without a test."""

import re
from pathlib import Path

import pytest

import dpcore

ROOM = Path(dpcore.__file__).parent / "training" / "perturbation"
TEXT = " ".join((ROOM / "README.md").read_text(encoding="utf-8").split())
HOMES = [ROOM, ROOM / "methods", ROOM.parent.parent / "privacy"]
THEOREMS = re.split(r"(?=\*\*Theorem \d|\*\*No theorem)", TEXT)[1:]


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda text: text[2:14])
def test_every_theorem_names_its_function_and_its_tests(theorem: str) -> None:
    assert "**Is** `" in theorem
    assert "**Attacked by** `test_" in theorem


def test_every_function_that_is_named_is_there() -> None:
    named = {name for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", TEXT) if not name.endswith(".py")}
    assert len(named) > 10
    for module, function in (name.split(".") for name in named):
        (path,) = [home / f"{module}.py" for home in HOMES if (home / f"{module}.py").exists()]
        assert f"def {function}(" in path.read_text(encoding="utf-8")


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT)
    assert len(named) > 15
    for file, test in named:
        assert f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")
