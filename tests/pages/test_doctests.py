"""The examples in the docstrings of the pages' modules are right.

Pytest collects those of dpcore itself; of the pages, files in several folders have one name, which
it cannot tell apart.
"""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = [each for each in sorted(ROOT.glob("pages/parts/**/*.py")) if ">>> " in each.read_text()]


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_the_examples_hold(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
