"""What a written proof names: functions, tests and constants of its room."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSTANT = re.compile(r"^([A-Z][A-Z_]*)(?:: [^=]+)? = ", re.MULTILINE)


def names_in(text: str) -> list[str]:
    """Everything of the form `module.name`."""
    return sorted(set(re.findall(r"`([a-z_]+\.[A-Za-z_][\w.]*)`", text)))


def attacks_in(text: str) -> list[tuple[str, str]]:
    """Everything of the form `test_file.py::test_name`."""
    return sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)))


def constants_of(room: Path) -> list[str]:
    """Every constant of the room as module.NAME."""
    return [
        f"{path.stem}.{name}" for path in sorted(room.glob("[a-z]*.py")) for name in CONSTANT.findall(path.read_text())
    ]


def find(name: str, room: Path) -> None:
    """Fail where there is nothing of this name in the room, or else in the package."""
    module, *path = name.split(".")
    inside = ".".join(room.relative_to(ROOT).parts) if (room / f"{module}.py").exists() else "dpcore"
    found = importlib.import_module(f"{inside}.{module}")
    for each in path:
        found = getattr(found, each)


def has_test(file: str, test: str) -> bool:
    """Whether some file of that name has the test."""
    return any(f"def {test}(" in path.read_text() for path in (ROOT / "tests").rglob(file))


def listed(constant: str, text: str) -> int:
    """How many rows of a table begin with the constant."""
    return len(re.findall(rf"^\| `{re.escape(constant)}` \|", text, re.MULTILINE))
