"""README and docs are true: commands work, the notebook lines run, links lead somewhere, figures were recorded."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.schedule import SCHEDULES
from dpcore.runs import pool
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import SETTINGS
from tests.benchmarks.accuracy import RESULTS, cells
from tests.benchmarks.recipes import RECIPES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
MAX_LINES = 100


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
@pytest.mark.long
def test_each_command_exists(command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dpcore", command, "--help"], cwd=ROOT, capture_output=True, timeout=120
    )
    assert result.returncode == 0


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_the_accuracies_are_those_that_were_recorded(path: Path) -> None:
    assert cells(json.loads(path.read_text())) in "".join(DOCS.values())


def test_every_recorded_recipe_is_one_that_can_be_run_again() -> None:
    for path in RESULTS.glob("*.json"):
        recorded = json.loads(path.read_text())["config"]
        again = RECIPES[path.stem] | {"device": recorded["device"]}
        assert RunConfig(**again) == RunConfig.from_json(recorded)


def test_every_accountant_is_explained_in_the_order_it_is_shown() -> None:
    assert re.findall(r"^\| `(\w+)` \|", DOCS["methods.md"].split("\n## ")[1], flags=re.MULTILINE) == list(ACCOUNTANTS)


@pytest.mark.parametrize(
    ("option", "registry"), [("optimizer", OPTIMIZERS), ("clipping", CLIPPINGS), ("schedule", SCHEDULES)]
)
def test_every_method_of_training_has_a_row_that_says_what_it_is_charged(option: str, registry: dict) -> None:
    rows = [re.split(r"(?<!\\)\|", line) for line in DOCS["methods.md"].split("\n## ")[2].splitlines() if "|" in line]
    cells = [row[2].replace(f"--{option} ", "") for row in rows if f"`--{option} " in row[2]]
    named = re.findall(r"\w+", " ".join(cells))
    assert len(named) == len(set(named))
    assert {*named, SETTINGS[option].default} == set(registry)  # plain DP-SGD is the row of the defaults


def test_the_readme_says_what_is_known_of_a_gpu() -> None:
    measured = ROOT / "docs" / "measured" / "gpu.json"
    assert "`python -m tests.benchmarks.gpu`" in README
    assert ("not measured on a GPU" in README) == (not measured.exists())
    assert ("](docs/measured/gpu.json)" in README) == measured.exists()


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len(README.splitlines()) <= MAX_LINES


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_every_picture_and_file_it_names_is_there(path: Path) -> None:
    named = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert [name for name in named if not (path.parent / name).exists()] == []


def test_every_document_can_be_reached_from_the_readme() -> None:
    assert [name for name in DOCS if f"](docs/{name})" not in README] == []


@pytest.mark.parametrize("link", re.findall(r"\]\((http://localhost:8501/[^)]*)\)", README))
@pytest.mark.long
def test_every_stop_of_the_tour_opens_as_its_link_says(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=Store(tmp_path), trouble=None))
    address = urlsplit(link)
    app = AppTest.from_file(str(ROOT / "pages" / f"{address.path.strip('/') or 'accountants'}.py"), default_timeout=60)
    for name, value in parse_qsl(address.query):
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert not app.error
    values = {field.key: field.value for field in (*app.text_input, *app.segmented_control, *app.selectbox)}
    values |= {"n": app.session_state["n"]} if "n" in app.session_state else {}  # data of this size may be here
    for name, value in parse_qsl(address.query):
        assert values[name] == value


def test_what_moved_is_where_the_changelog_says() -> None:
    moved = (ROOT / "CHANGELOG.md").read_text().split("### What moved where")[1]
    homes = [row.split("|")[-2] for row in moved.splitlines() if row.startswith("| ")]
    named = [path for home in homes for path in re.findall(r"`([\w./]+/[\w./]+)`", home)]
    assert len(named) > 60
    assert [path for path in named if not (ROOT / path).exists()] == []
