"""The extras of the package: the modules that each brings are those of its file of requirements."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from dpcore import extras
from dpcore.__main__ import main

ROOT = Path(__file__).parents[1]
# Part of a file of requirements, and imported by nobody here.
UNSEEN = {"mlflow-skinny"}  # brings the module mlflow, as mlflow does


def asked_in(name: str) -> set[str]:
    """The packages that a file of requirements names, without those of other files."""
    lines = (ROOT / name).read_text().splitlines()
    return {re.split("[<>=; ]", line)[0] for line in lines if line[:1] not in ("#", "-")}


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_an_extra_brings_the_modules_that_it_is_asked_for(extra: str) -> None:
    packages = packages_distributions()
    brought = set()
    for module in extras.EXTRAS[extra]:
        brought |= {each.lower() for each in packages.get(module, [])}
    if not brought:
        pytest.skip("not installed here")
    asked = asked_in(f"requirements-{extra}.txt")
    assert asked - brought <= UNSEEN
    assert brought & asked


def test_the_first_command_of_the_readme_installs_library_pages_and_training() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    files = [line.removeprefix("-r ") for line in lines if not line.startswith("#")]
    assert files == ["requirements-core.txt", "requirements-app.txt", "requirements-train.txt"]


def test_a_command_that_lacks_a_module_ends_with_a_sentence_and_the_status_of_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert main(["app"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpcore: The pages need it: streamlit is not installed.")
    assert "pip install 'dpcore[app]'" in line


def test_a_module_that_no_extra_brings_is_a_defect_and_not_bad_input() -> None:
    assert extras.said(ModuleNotFoundError(name="dpcore.nothing")) == ""


def test_importing_the_library_loads_nothing_heavy() -> None:
    code = (
        "import sys, dpcore; dpcore.Mechanism.constant(0.01, 4.0, 9);"
        " print(sorted({'torch', 'streamlit', 'plotly', 'sklearn', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
