"""The README is true: its commands are the ones that work, its notebook lines run, its links lead somewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.training.config import RunConfig
from tests.benchmarks.accuracy import RESULTS, cells
from tests.benchmarks.recipes import RECIPES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_notebook_lines_run_as_they_stand() -> None:
    (lines,) = blocks("python")
    result = subprocess.run([sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "0.946" in result.stdout  # the certified lower bound of the headline setting


def test_the_two_commands_are_those_the_project_promises() -> None:
    run, test = (block.strip() for block in blocks("sh")[:2])
    venv = "python3 -m venv .venv && .venv/bin/pip install -r"
    assert run == f"{venv} requirements.txt && .venv/bin/streamlit run app.py"
    assert test == f"{venv} requirements-dev.txt && .venv/bin/pytest"


@pytest.mark.parametrize("command", re.findall(r"^python -m dpcore (\w+)", README, flags=re.MULTILINE))
def test_each_command_exists(command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dpcore", command, "--help"], cwd=ROOT, capture_output=True, timeout=120
    )
    assert result.returncode == 0


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_the_accuracies_are_those_that_were_recorded(path: Path) -> None:
    told = README + (ROOT / "docs" / "methods.md").read_text()
    assert cells(json.loads(path.read_text())) in told


def test_every_recorded_recipe_is_one_that_can_be_run_again() -> None:
    for path in RESULTS.glob("*.json"):
        recorded = json.loads(path.read_text())["config"]
        again = RECIPES[path.stem] | {"device": recorded["device"]}
        assert RunConfig(**again) == RunConfig.from_json(recorded)


def test_every_accountant_is_explained_in_the_order_it_is_shown() -> None:
    assert re.findall(r"^\| `(\w+)` \|", README, flags=re.MULTILINE) == list(ACCOUNTANTS)


def test_every_picture_and_file_it_names_is_there() -> None:
    named = re.findall(r"\]\(([^)#:]+)\)", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
