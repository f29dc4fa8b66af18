"""README and docs are true: commands work, the notebook lines run, links lead somewhere, figures
were recorded.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.accuracy import RESULTS, cells
from benchmarks.recipes import RECIPES
from dpcore.__main__ import COMMANDS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.schedule import SCHEDULES
from dpcore.runs import pool
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import SETTINGS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_notebook_lines_run_as_they_stand() -> None:
    lines, _ = blocks("python")
    result = subprocess.run(
        [sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert "0.946" in result.stdout  # the certified lower bound of the headline setting


def test_the_lines_for_a_training_of_ones_own_run_as_they_stand(tmp_path: Path) -> None:
    _, lines = blocks("python")
    own = """
import dpcore
step_of_yours = lambda: 0.5
"""
    result = subprocess.run(
        [sys.executable, "-c", f"{own}{lines}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "DPCORE_HOME": str(tmp_path)},
    )
    assert (result.returncode, result.stderr) == (0, "")
    with Store(tmp_path) as store:
        (run,) = store.runs(kind="followed")
    assert (run.name, run.status, run.done) == ("my-cnn", "finished", 5148)


def test_its_commands_are_those_the_project_promises() -> None:
    run, test = (block.strip() for block in blocks("sh")[:2])
    venv = "python3 -m venv .venv && .venv/bin/pip install -r"
    assert run == f"{venv} requirements.txt && .venv/bin/streamlit run app.py"
    assert test == f"{venv} requirements-dev.txt && .venv/bin/pytest"
    assert set(re.findall(r"python -m dpcore (\w+)", README)) <= set(COMMANDS)


def test_every_script_that_a_document_names_is_there() -> None:
    text = README + "".join(DOCS.values())
    scripts = re.findall(r"benchmarks/\w+\.py", text) + re.findall(
        r"python -m ((?:tests|benchmarks)[.]\w+(?:[.]\w+)?)", text
    )
    files = {each if each.endswith(".py") else each.replace(".", "/") + ".py" for each in scripts}
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_the_accuracies_are_those_that_were_recorded_of_recipes_that_can_be_run_again() -> None:
    text = "".join(DOCS.values())
    for path in RESULTS.glob("*.json"):
        recorded = json.loads(path.read_text())
        assert cells(recorded) in text, path.stem
        again = RECIPES[path.stem] | {"device": recorded["config"]["device"]}
        assert RunConfig(**again) == RunConfig.from_json(recorded["config"]), path.stem


def test_every_accountant_is_explained_in_the_order_it_is_shown() -> None:
    assert re.findall(
        r"^\| `(\w+)` \|", DOCS["methods.md"].split("\n## ")[1], flags=re.MULTILINE
    ) == list(ACCOUNTANTS)


def test_every_method_of_training_has_a_row_that_says_what_it_is_charged() -> None:
    rows = [
        re.split(r"(?<!\\)\|", line)
        for line in DOCS["methods.md"].split("\n## ")[2].splitlines()
        if "|" in line
    ]
    for option, registry in {
        "optimizer": OPTIMIZERS,
        "clipping": CLIPPINGS,
        "schedule": SCHEDULES,
    }.items():
        cells = [row[2].replace(f"--{option} ", "") for row in rows if f"`--{option} " in row[2]]
        named = re.findall(r"\w+", " ".join(cells))
        assert len(named) == len(set(named)), option
        # Plain DP-SGD is the row of the defaults.
        assert {*named, SETTINGS[option].default} == set(registry)


def test_the_readme_says_what_is_known_of_a_gpu() -> None:
    measured = ROOT / "docs" / "measured" / "gpu.json"
    assert "`python -m benchmarks.gpu`" in README
    assert ("not measured on a GPU" in README) == (not measured.exists())
    assert ("](docs/measured/gpu.json)" in README) == measured.exists()


def test_the_readme_can_be_read_in_one_go_and_leads_to_every_document() -> None:
    assert len(README.splitlines()) <= 112
    assert [name for name in DOCS if f"](docs/{name})" not in README] == []


def test_every_picture_and_file_that_a_document_links_is_there() -> None:
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        named = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
        assert [name for name in named if not (path.parent / name).exists()] == [], path


@pytest.mark.long
def test_every_stop_of_the_tour_opens_as_its_link_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pool, "ensure_pool", lambda: SimpleNamespace(store=Store(tmp_path), trouble=None)
    )
    for link in re.findall(r"\]\((http://localhost:8501/[^)]*)\)", README):
        address = urlsplit(link)
        file = f"{address.path.strip('/') or 'lab'}.py"
        app = AppTest.from_file(str(ROOT / "pages" / file), default_timeout=300)
        for name, value in parse_qsl(address.query):
            app.query_params[name] = value
        app.run()
        assert not app.exception, link
        assert not app.error, link
        values = {
            field.key: field.value
            for field in (*app.text_input, *app.segmented_control, *app.selectbox)
        }
        # Data of this size may be here.
        values |= {"n": app.session_state["n"]} if "n" in app.session_state else {}
        for name, value in parse_qsl(address.query):
            assert values[name] == value, link
