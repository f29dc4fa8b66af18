"""Under CI the suite is strict, in one process and in several: nothing is skipped unnoticed, nothing is drawn anew."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parent / "conftest.py"
SKIPPED = '@pytest.mark.skip(reason="none")\ndef test_skipped(): ...\n\n'
NEEDS_CUDA = "@pytest.mark.cuda\ndef test_on_cuda():\n    import torch\n    assert torch.cuda.is_available()\n\n"
LONG = "@pytest.mark.slow\ndef test_long():\n    assert False\n\n"
DRAWN = "from hypothesis import given, strategies as st\n\n@given(st.integers())\ndef test_drawn(n):\n    print(n)\n"


def ran(folder: Path, text: str, *words: str, ci: bool) -> subprocess.CompletedProcess[str]:
    """A suite of one test under this suite's conftest."""
    shutil.copy(CONFTEST, folder)
    (folder / "test_it.py").write_text("import pytest\n\n" + text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-W", "ignore", *words]
    environment |= {"CI": "true"} if ci else {}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("processes", ["0", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("text", "status"), [(SKIPPED, 1), (NEEDS_CUDA, 0)], ids=["any", "on cuda"])
@pytest.mark.slow
def test_under_ci_only_tests_that_need_cuda_may_be_skipped(
    text: str, status: int, processes: str, tmp_path: Path
) -> None:
    assert ran(tmp_path, text, "-n", processes, ci=True).returncode == status


@pytest.mark.slow
def test_long_tests_run_under_ci_and_are_skipped_elsewhere(tmp_path: Path) -> None:
    assert ran(tmp_path, SKIPPED + LONG, ci=False).returncode == 0
    assert ran(tmp_path, LONG, ci=True).returncode == 1
    assert ran(tmp_path, LONG, "--slow", ci=False).returncode == 1


@pytest.mark.slow
def test_under_ci_the_same_examples_are_drawn_every_time(tmp_path: Path) -> None:
    first, second = (ran(tmp_path, DRAWN, ci=True).stdout.splitlines()[:-1] for _ in range(2))
    assert first == second
    assert len(first) > 50
    assert ran(tmp_path, DRAWN, ci=False).stdout.splitlines()[:-1] != first


@pytest.mark.slow
def test_in_a_browser_journeys_run_everywhere_and_the_rest_as_the_long_tests(tmp_path: Path) -> None:
    (tmp_path / "e2e").mkdir()
    fails = "def test_it():\n    assert False\n"
    (tmp_path / "e2e" / "test_browser.py").write_text(fails)
    assert ran(tmp_path, "", ci=False).returncode == 0
    assert ran(tmp_path, "", "--slow", ci=False).returncode == 1
    assert ran(tmp_path, "", ci=True).returncode == 1
    (tmp_path / "e2e" / "test_browser.py").write_text("import pytest\n\n@pytest.mark.journey\n" + fails)
    assert ran(tmp_path, "", ci=False).returncode == 1
