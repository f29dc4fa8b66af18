"""Under CI no test is skipped unnoticed, in one process and in several; marks alone say what a
suite leaves out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = (
    'import pytest\n\n@pytest.mark.skip(reason="none")\ndef test_skipped(): ...\n\ndef'
    " test_passes(): ...\n"
)
TESTS += "".join(
    f"\n@pytest.mark.{mark}\ndef test_{mark}(): raise OSError\n" for mark in ("long", "cuda")
)


def status(folder: Path, *words: str, **environment: str) -> int:
    """How a suite of these tests ends, under this suite's settings."""
    (folder / "tests").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "tests" / "test_it.py").write_text(TESTS)
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", *words]
    return subprocess.run(
        command, cwd=folder, env=plain | environment, capture_output=True, timeout=250
    ).returncode


def test_under_ci_no_test_may_be_skipped(tmp_path: Path) -> None:
    assert status(tmp_path, "-n", "0", CI="true") == 1


@pytest.mark.long
def test_marks_say_what_a_suite_leaves_out_and_a_skipped_test_is_noticed_in_several_processes(
    tmp_path: Path,
) -> None:
    assert status(tmp_path) == 0  # elsewhere a test may be skipped, and what is marked is not run
    assert status(tmp_path, "-n", "2", CI="true") == 1
    assert status(tmp_path, "-k", "not skipped", CI="true") == 0
    assert status(tmp_path, "-m", "long", CI="true") == 1
