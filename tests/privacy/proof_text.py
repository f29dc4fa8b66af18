"""The functions, tests and constants that a written proof names, and those that are missing."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSTANT = re.compile(r"^([A-Z][A-Z_]*)(?:: [^=]+)? = ", re.MULTILINE)
NAME = re.compile(r"`([a-z_]+\.[A-Za-z_][\w.]*)`")
TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")
IS = re.compile(r"\*\*Is\*\*\s+`[a-z_]+\.\w+")
ATTACKED = re.compile(r"\*\*Attacked by\*\*\s+`test_\w+\.py::")


def missing(room: Path, statements: dict[str, str]) -> list[str]:
    """Names in the README of a room that do not exist, constants that it does not list once, and
    statements without a place in the code or a test."""
    text = (room / "README.md").read_text(encoding="utf-8")
    tests = {each for path in (ROOT / "tests").rglob("test_*.py") for each in _tests_of(path)}
    constants = [
        f"{path.stem}.{name}"
        for path in room.glob("[a-z]*.py")
        for name in CONSTANT.findall(path.read_text())
    ]
    return [
        *(
            f"There is no {name}."
            for name in sorted(set(NAME.findall(text)))
            if not _exists(name, room)
        ),
        *(f"There is no {'::'.join(each)}." for each in sorted(set(TEST.findall(text)) - tests)),
        *(
            f"{each} does not begin one row of a table."
            for each in constants
            if _rows(each, text) != 1
        ),
        *(
            f"{name} does not say what it is."
            for name, each in statements.items()
            if not IS.search(each)
        ),
        *(
            f"{name} does not say what attacks it."
            for name, each in statements.items()
            if not ATTACKED.search(each)
        ),
    ]


def _tests_of(path: Path) -> list[tuple[str, str]]:
    return [
        (path.name, test)
        for test in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def _exists(name: str, room: Path) -> bool:
    """True if the room, or else the package, has it."""
    module, *path = name.split(".")
    inside = (
        ".".join(room.relative_to(ROOT).parts) if (room / f"{module}.py").exists() else "dpcore"
    )
    try:
        found = importlib.import_module(f"{inside}.{module}")
        for each in path:
            found = getattr(found, each)
    except (ImportError, AttributeError):
        return False
    return True


def _rows(constant: str, text: str) -> int:
    return len(re.findall(rf"^\| `{re.escape(constant)}` \|", text, re.MULTILINE))
