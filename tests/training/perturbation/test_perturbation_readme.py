"""The theorems in the room's README: what they name is there, and none is left without a test."""

import re
from pathlib import Path

import dpcore

ROOM = Path(dpcore.__file__).parent / "training" / "perturbation"
HOMES = [ROOM, ROOM / "methods", ROOM.parent.parent / "privacy"]


def test_nothing_that_the_readme_names_is_missing_and_every_theorem_names_its_function_and_its_tests() -> None:
    text = " ".join((ROOM / "README.md").read_text(encoding="utf-8").split())
    theorems = re.split(r"(?=\*\*Theorem \d|\*\*No theorem)", text)[1:]
    named = [name.split(".") for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", text) if not name.endswith(".py")]
    tests = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(theorems) > 5
    assert min(len(named), len(tests)) > 10
    missing = [each[:60] for each in theorems if "**Is** `" not in each or "**Attacked by** `test_" not in each]
    for module, function in named:
        paths = [home / f"{module}.py" for home in HOMES if (home / f"{module}.py").exists()]
        missing += [] if any(f"def {function}(" in path.read_text(encoding="utf-8") for path in paths) else [function]
    for file, test in tests:
        missing += [] if f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8") else [test]
    assert missing == []
