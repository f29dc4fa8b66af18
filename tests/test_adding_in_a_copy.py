"""A copy of the tree gets an accountant, a sampler, a setting and a paper as docs/adding.md says,
and its commands heed them.

A setting cannot be registered from outside: the table is a frozen dataclass.
"""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_adding import PAPER_MODULE, PAPER_TOML, Tally, Turns, by_turns

ROOT = Path(__file__).parents[1]
COPIED = ("app.py", "pages", "dpcore", "docs/settings.md", "tests/settings_page.py")
TALLY = f"""\"\"\"A made-up accountant.\"\"\"
from typing import ClassVar, final
import numpy as np
from dpcore.privacy.accountants.base import Accountant, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.mechanism import FloatArray, IntArray
{inspect.getsource(Tally)}"""
TURNS = f"""\"\"\"A made-up sampler.\"\"\"
import math
from typing import final
import numpy as np
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import *
from dpcore.privacy.sampling.orders import order_bounds
{inspect.getsource(by_turns)}
{inspect.getsource(Turns)}"""
SAID = "no step has a smaller learning rate"
LR_FLOOR = """    lr_floor: float = row(
        Number(default=0.0, low=0, high=5, ends="[]", needs=(LR_DECAY,))
    )
"""
WORDS = f"""[lr_floor]
label = "Least learning rate"
help = "{SAID}"
short = "lr from {{:g}}"
rank = 15
unusual = true
unit = "volts"
slider = {{ low = 0.01, coarse = true }}
since = "2"

"""
ADDED = [  # file, the pattern before which something is written ("": into a new file), and what
    ("dpcore/privacy/accountants/tally.py", "", TALLY),
    (
        "dpcore/privacy/accountants/__init__.py",
        r"^from dpcore\.privacy\.accountants\.zcdp",
        "from .tally import Tally\n",
    ),
    ("dpcore/privacy/accountants/__init__.py", r"\bPld\(\)", "Tally(), "),
    ("dpcore/privacy/sampling/turns.py", "", TURNS),
    (
        "dpcore/privacy/sampling/__init__.py",
        r"^from dpcore\.privacy\.sampling\.truncated",
        "from .turns import Turns\n",
    ),
    ("dpcore/privacy/sampling/__init__.py", r"\bTruncatedPoisson\(\)", "Turns(), "),
    ("dpcore/training/settings.py", r"^    pixel_scale: ", LR_FLOOR),
    ("dpcore/training/settings.toml", r"^\[pixel_scale\]", WORDS),
    ("dpcore/papers/made_up/paper.toml", "", PAPER_TOML),
    ("dpcore/papers/made_up/__init__.py", "", PAPER_MODULE),
    (
        "dpcore/papers/catalogue.py",
        r"^from dpcore\.papers\.comparison",
        "from dpcore.papers import made_up\n",
    ),
    ("dpcore/papers/catalogue.py", r"^        pigdo\.PAPER", "        made_up.PAPER,\n"),
]
HEEDED = ("dpcore/training/training_run.py", "self.learning_rate.at(step)\n")
QUICK = [
    "train",
    "--source",
    "sample",
    "--model",
    "mlp",
    "--batch",
    "100",
    "--epochs",
    "0.05",
    "--device",
    "cpu",
]
DECAY = ["--lr-schedule", "linear", "--lr", "0.5"]
RATES = """
import json, time
from dpcore.training.config import RunConfig
from dpcore.training.training_run import TrainingRun
rates = {"lr_schedule": "linear", "lr": 0.5, "lr_floor": 0.25}
config = RunConfig(model="mlp", batch=2000, epochs=1, seed=1, **rates)
run = TrainingRun(config, time.perf_counter)
print(json.dumps([run.numbers(step)[1] for step in range(1, run.plan.steps + 1)]))
"""


def grown(tree: Path) -> Path:
    """A copy of the source that has one of each more."""
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    for file, place, text in ADDED:
        old = (tree / file).read_text(encoding="utf-8") if place else ""
        found = re.search(place, old, flags=re.MULTILINE)
        assert found, (file, place)
        (tree / file).parent.mkdir(exist_ok=True)
        (tree / file).write_text(
            old[: found.start()] + text + old[found.start() :], encoding="utf-8"
        )
    file, line = HEEDED
    old = (tree / file).read_text(encoding="utf-8")
    assert old.count(line) == 1
    (tree / file).write_text(
        old.replace(line, f"max({line.strip()}, self.config.lr_floor)\n"), encoding="utf-8"
    )
    return tree


@pytest.mark.long
def test_what_is_added_to_a_copy_of_the_tree_is_offered_explained_heeded_and_recorded(
    tmp_path: Path,
) -> None:
    tree = grown(tmp_path / "tree")

    def python(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        places = {"PYTHONPATH": str(tree), "DPCORE_HOME": str(tree / "home"), "COLUMNS": "200"}
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=tree, env=os.environ | places, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        return done

    assert f"--lr-floor VOLTS {SAID}" in " ".join(
        python("-m", "dpcore", "train", "--help").stdout.split()
    )
    python("-m", "tests.settings_page")
    (row,) = [
        line for line in (tree / "docs/settings.md").read_text().splitlines() if "lr_floor" in line
    ]
    needed = "an lr_schedule that is not constant"
    assert (
        row == f"| `lr_floor` | `--lr-floor` | {SAID} | in [0, 5] | volts | `0.0` | {needed} | 2 |"
    )
    assert json.loads(python("-c", RATES).stdout) == [0.5, 0.4, pytest.approx(0.3), 0.25, 0.25]
    for options, sentence in {
        (): "Leave lr_floor at 0: 0.25 needs an lr_schedule that is not constant.",
        (*DECAY, "--lr-floor", "6"): "Expected lr_floor=6.0 to be at least 0 and at most 5.",
    }.items():
        (line,) = python(
            "-m", "dpcore", *QUICK, "--lr-floor", "0.25", *options, status=2
        ).stderr.splitlines()
        assert sentence in line

    trained = python("-m", "dpcore", *QUICK, *DECAY, "--lr-floor", "0.25", "--json")
    run = trained.stderr.split()[-1].rstrip(".")
    shown = json.loads(python("-m", "dpcore", "runs", "show", run, "--json").stdout)
    assert (shown["status"], shown["settings"]["lr_floor"]) == ("finished", 0.25)
    refused = python("-m", "dpcore", "runs", "export", run, "--format", "opacus", status=2)
    assert "the script does not use lr_floor (Least learning rate)" in refused.stderr
    asked = [
        "--q",
        ".01",
        "--sigma",
        "4",
        "--steps",
        "10000",
        "--delta",
        "1e-5",
        "--accountant",
        "tally",
        "--json",
    ]
    found = json.loads(python("-m", "dpcore", "epsilon", *asked).stdout)
    assert found["accountants"]["tally"]["epsilon"][-1] == pytest.approx(0.5)

    turns = ["--sampler", "turns"]
    found = json.loads(python("-m", "dpcore", "epsilon", *asked, *turns).stdout)
    assert found["sampler"]["name"] == "turns"
    assert "one of poisson, shuffle, random_allocation, turns" in (
        (tree / "docs/settings.md").read_text()
    )
    python("-m", "dpcore", *QUICK, *turns)
    step = {"class_name": "GaussianDpEvent", "noise_multiplier": 1.0}
    event = {"class_name": "TurnSampledDpEvent", "turn_probability": 0.1, "event": step}
    for text in (json.dumps(event), "Taken by turns, q = 0.1, sigma = 1.0, T = 10 steps."):
        (tree / "claim.txt").write_text(text)
        judged = python("-m", "dpcore", "check", "--text", "claim.txt", "--delta", "1e-5", "--json")
        found = json.loads(judged.stdout)
        assert found["claim"]["sampler"] == "turns", text
        assert found["certificate"]["upper"] == pytest.approx(4.377, abs=1e-3), text
    rows = json.loads(python("-m", "dpcore", "papers", "--paper", "999", "--json").stdout)
    assert [each["verdict"] for each in rows] == ["refuted", "untrained", "untrained"]
