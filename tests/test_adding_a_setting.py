"""A setting of a run is its row, the code that heeds it and its control: a copy of the source gets one, and heeds it.

The table is a frozen dataclass, which no test can add a field to from outside.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.training.settings import SETTINGS

ROOT = Path(__file__).parents[1]
COPIED = ("app.py", "pages", "dpcore", "docs/settings.md", "tests/settings_page.py")

SAID = "no step has a smaller learning rate"
ROW = f"""    lr_floor: float = row(Number(
        default=0.0, low=0, high=5, ends="[]", label="Least learning rate", help="{SAID}",
        short=lambda value: f"lr from {{value:g}}", rank=15, unusual=True, since="2", unit="volts",
        needs=(LR_DECAY,),
        slider=Slider(0.01, 5, coarse=True)))

# fmt: on
"""
EDITS = {  # file -> (what stands there, what takes its place)
    "dpcore/training/settings.py": ("\n# fmt: on\n", ROW),
    "dpcore/training/training_run.py": (
        "self.learning_rate.at(step)\n",
        "max(self.learning_rate.at(step), self.config.lr_floor)\n",
    ),
    "pages/parts/train/method.py": (
        ', "lr_epochs": number',
        ', "lr_floor": number(quantity_of("lr_floor")), "lr_epochs": number',
    ),
}
DECAY = ["--lr-schedule", "linear", "--lr", "0.5"]
QUICK = ["train", "--source", "sample", "--model", "mlp", "--batch", "100", "--epochs", "0.05", "--device", "cpu"]

RATES = """
import time
from dpcore.training.config import RunConfig
from dpcore.training.training_run import TrainingRun
config = RunConfig(model="mlp", batch=2000, epochs=1, lr_schedule="linear", lr=0.5, lr_floor=0.25, seed=1)
run = TrainingRun(config, time.perf_counter)
print([run.numbers(step)[1] for step in range(1, run.plan.steps + 1)])
"""
PAGE = """
import json
from streamlit.testing.v1 import AppTest
from dpcore.runs.pool import Pool, ensure_pool
from dpcore.runs.store import Store
from dpcore.training.described import described

Pool._keep_warm = lambda pool: None

def opened(**query):
    page = AppTest.from_file("pages/train.py", default_timeout=60)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception and not page.error
    return page

def labels(page):
    return [each.label.removesuffix(", exact") for each in page.text_input]

idle = labels(opened())
page = opened(lr_schedule="linear", lr_floor="0.25")
shown, (field,) = labels(page), [each for each in page.text_input if each.key == "lr_floor"]
came = field.value
field.set_value("0.125").run()
next(each for each in page.button if each.label == "Start private run").click().run()
assert not page.exception
with Store() as store:
    run = store.runs()[0]
ensure_pool().close()
print(json.dumps({
    "idle": idle, "shown": shown, "came": came,
    "stored": run.settings["lr_floor"], "queued": run.config.lr_floor, "name": run.name, "said": described(run.config),
}))
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source that has one setting more."""
    tree = tmp_path_factory.mktemp("grown")
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    for name, (old, new) in EDITS.items():
        text = (tree / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        (tree / name).write_text(text.replace(old, new), encoding="utf-8")
    return tree


def python(tree: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Python in the copy, which finds the copy's modules."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "DPCORE_HOME": str(tree / "home"), "COLUMNS": "200"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def dpcore(tree: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    return python(tree, "-m", "dpcore", *arguments, status=status)


def test_no_setting_here_has_the_dummys_name() -> None:
    assert "lr_floor" not in SETTINGS


def test_help_and_documentation_have_it(grown: Path) -> None:
    told = dpcore(grown, "train", "--help").stdout.split()
    assert f"--lr-floor VOLTS {SAID}" in " ".join(told)
    python(grown, "-m", "tests.settings_page")
    (row,) = [line for line in (grown / "docs/settings.md").read_text().splitlines() if "lr_floor" in line]
    needed = "an lr_schedule that is not constant"
    assert row == f"| `lr_floor` | `--lr-floor` | {SAID} | in [0, 5] | volts | `0.0` | {needed} | 2 |"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "Expected no lr_floor=0.25 without an lr_schedule that is not constant."),
        ([*DECAY, "--lr-floor", "6"], "Expected lr_floor=6.0 in [0, 5]."),
        ([*DECAY, "--lr-floor", "low"], "--lr-floor"),
    ],
)
@pytest.mark.long
def test_what_is_idle_or_out_of_range_is_one_line_and_status_2(options: list[str], sentence: str, grown: Path) -> None:
    done = dpcore(grown, *QUICK, "--lr-floor", "0.25", *options, status=2)
    (line,) = done.stderr.splitlines()
    assert sentence in line


@pytest.mark.long
def test_train_heeds_and_records_it(grown: Path) -> None:
    assert json.loads(python(grown, "-c", RATES).stdout) == [0.5, 0.4, pytest.approx(0.3), 0.25, 0.25]
    trained = dpcore(grown, *QUICK, *DECAY, "--lr-floor", "0.25", "--json")
    run = trained.stderr.split()[-1].rstrip(".")
    shown = json.loads(dpcore(grown, "runs", "show", run, "--json").stdout)
    assert (shown["status"], shown["settings"]["lr_floor"]) == ("finished", 0.25)
    refused = dpcore(grown, "runs", "export", run, "--format", "opacus", status=2)
    assert "the script does not heed lr_floor (Least learning rate)" in refused.stderr


@pytest.mark.long
def test_the_page_offers_it_where_it_changes_something(grown: Path) -> None:
    found = json.loads(python(grown, "-c", PAGE).stdout)
    label = "Least learning rate"
    assert label not in found["idle"]
    assert label in found["shown"]
    assert found["came"] == "0.25"
    assert found["stored"] == found["queued"] == 0.125
    assert "lr from 0.125" in found["said"]
    assert found["name"] == found["said"]
