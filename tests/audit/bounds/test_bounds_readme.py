"""The page beside the audits names what exists, and each of its theorems says what it is and what
attacks it.
"""

import importlib
import re
from functools import reduce
from pathlib import Path

import dpcore
from dpcore.audit.bounds.finding import Evidence

TEXT = (Path(dpcore.__file__).parent / "audit" / "bounds" / "README.md").read_text(encoding="utf-8")


def there(name: str) -> bool:
    """Whether the room has this function or attribute, named with its module."""
    module, *parts = name.split(".")
    try:
        reduce(getattr, parts, importlib.import_module(f"dpcore.audit.bounds.{module}"))
    except (ImportError, AttributeError):
        return False
    return True


def test_whatever_is_named_is_there_and_every_theorem_is_a_function_with_a_number_of_its_own() -> (
    None
):
    names = set(re.findall(r"`((?!test_)[a-z_]+\.[A-Za-z_][\w.]*)`", TEXT))
    tests = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT))
    sources = {
        file: (Path(__file__).parent / file).read_text(encoding="utf-8") for file, _ in tests
    }
    assert [name for name in sorted(names) if not there(name)] == []
    assert [pair for pair in sorted(tests) if f"def {pair[1]}(" not in sources[pair[0]]] == []
    assert len(names) >= 10
    assert len(tests) > 7
    proven = re.split(r"^\*\*(?=Theorem)", TEXT, flags=re.MULTILINE)[1:]
    assert [int(re.findall(r"\d+", text)[0]) for text in proven] == list(range(1, 13))
    # Which Theorem 6 uses.
    assert [text[:9] for text in proven if "**Is** `" not in text] == ["Theorem 5"]
    assert re.findall(r"^\| (bound|conditional|estimate) \|", TEXT, re.MULTILINE) == [
        each.value for each in Evidence
    ]
