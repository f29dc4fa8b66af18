"""Under CI no test is skipped unnoticed, in one process and in several; marks alone say what a suite leaves out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPED = 'import pytest\n\n@pytest.mark.skip(reason="none")\ndef test_skipped(): ...\n\ndef test_passes(): ...\n'
LEFT_OUT = "import pytest\n\ndef test_passes(): ...\n"
LEFT_OUT += "".join(f"\n@pytest.mark.{mark}\ndef test_{mark}(): raise OSError\n" for mark in ("long", "cuda"))


def status(folder: Path, text: str, *words: str, **environment: str) -> int:
    """How a suite of these tests ends, under this suite's settings."""
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "tests" / "test_it.py").write_text(text)
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", *words]
    return subprocess.run(command, cwd=folder, env=plain | environment, capture_output=True, timeout=250).returncode


@pytest.mark.parametrize("processes", ["0", pytest.param("2", marks=pytest.mark.long)])
def test_under_ci_no_test_may_be_skipped(processes: str, tmp_path: Path) -> None:
    assert status(tmp_path, SKIPPED, "-n", processes, CI="true") == 1


@pytest.mark.long
def test_elsewhere_one_may(tmp_path: Path) -> None:
    assert status(tmp_path, SKIPPED) == 0


@pytest.mark.parametrize("words", [(), pytest.param(("-m", "long"), marks=pytest.mark.long)], ids=["short", "long"])
def test_marks_say_what_a_suite_leaves_out(words: tuple[str, ...], tmp_path: Path) -> None:
    assert status(tmp_path, LEFT_OUT, *words, CI="true") == len(words) // 2
