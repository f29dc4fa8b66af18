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
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.test_adding import PAPER_MODULE, PAPER_TOML, Tally, Turns, by_turns

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.long
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
SHORT = ["--batch", "100", "--epochs", "0.05", "--device", "cpu"]
QUICK = ["train", "--source", "sample", "--model", "mlp", *SHORT]
DECAY = ["--lr-schedule", "linear", "--lr", "0.5"]
FLOOR = ["--lr-floor", "0.25"]
ASKED = ["--q", ".01", "--sigma", "4", "--steps", "10000", "--delta", "1e-5"]
TALLIED = ["epsilon", *ASKED, "--accountant", "tally", "--json"]
TAKEN_BY_TURNS = ["--sampler", "turns"]
RATES = """
import json, time
from dpcore.training.config import RunConfig
from dpcore.training.training_run import TrainingRun
rates = {"lr_schedule": "linear", "lr": 0.5, "lr_floor": 0.25}
config = RunConfig(model="mlp", batch=2000, epochs=1, seed=1, **rates)
run = TrainingRun(config, time.perf_counter)
print(json.dumps([run.numbers(step)[1] for step in range(1, run.plan.steps + 1)]))
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the source, and its programs."""

    tree: Path

    def python(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy, which has to end with this status."""
        places = {
            "PYTHONPATH": str(self.tree),
            "DPCORE_HOME": str(self.tree / "home"),
            "COLUMNS": "200",
        }
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.tree,
            env=os.environ | places,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done

    def command(self, *words: str) -> str:
        """What a command prints."""
        return self.python("-m", "dpcore", *words).stdout

    def refusal(self, *words: str) -> str:
        """The line with which a command refuses what it was given."""
        (line,) = self.python("-m", "dpcore", *words, status=2).stderr.splitlines()
        return line

    def written(self, file: str) -> str:
        """The text of a file."""
        return (self.tree / file).read_text(encoding="utf-8")

    def insert(self, file: str, before: str, text: str) -> None:
        """Write a text where this pattern is found in a file, or into a new file."""
        old = ""
        if before:
            old = self.written(file)
        found = re.search(before, old, flags=re.MULTILINE)
        assert found, (file, before)
        place = found.start()
        path = self.tree / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(old[:place] + text + old[place:], encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy that has one of each more, with its table of settings written anew."""
    tree = tmp_path_factory.mktemp("copy") / "tree"
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    made = Copy(tree)
    for file, before, text in ADDED:
        made.insert(file, before, text)
    file, line = HEEDED
    old = made.written(file)
    assert old.count(line) == 1
    heeding = old.replace(line, f"max({line.strip()}, self.config.lr_floor)\n")
    (tree / file).write_text(heeding, encoding="utf-8")
    made.python("-m", "tests.settings_page")
    return made


def test_an_added_setting_is_offered_and_explained(copy: Copy) -> None:
    assert f"--lr-floor VOLTS {SAID}" in " ".join(copy.command("train", "--help").split())
    table = copy.written("docs/settings.md").splitlines()
    (row,) = [line for line in table if "lr_floor" in line]
    needed = "an lr_schedule that is not constant"
    assert (
        row == f"| `lr_floor` | `--lr-floor` | {SAID} | in [0, 5] | volts | `0.0` | {needed} | 2 |"
    )


def test_an_added_setting_is_checked(copy: Copy) -> None:
    needed = "Leave lr_floor at 0: 0.25 needs an lr_schedule that is not constant."
    assert needed in copy.refusal(*QUICK, *FLOOR)
    bounded = "Expected lr_floor=6.0 to be at least 0 and at most 5."
    assert bounded in copy.refusal(*QUICK, *DECAY, "--lr-floor", "6")


def test_an_added_setting_is_heeded_and_recorded(copy: Copy) -> None:
    rates = json.loads(copy.python("-c", RATES).stdout)
    assert rates == [0.5, 0.4, pytest.approx(0.3), 0.25, 0.25]
    trained = copy.python("-m", "dpcore", *QUICK, *DECAY, *FLOOR, "--json")
    run = trained.stderr.split()[-1].rstrip(".")
    shown = json.loads(copy.command("runs", "show", run, "--json"))
    assert (shown["status"], shown["settings"]["lr_floor"]) == ("finished", 0.25)
    refused = copy.python("-m", "dpcore", "runs", "export", run, "--format", "opacus", status=2)
    assert "the script does not use lr_floor (Least learning rate)" in refused.stderr


def test_an_added_accountant_is_asked(copy: Copy) -> None:
    found = json.loads(copy.command(*TALLIED))
    assert found["accountants"]["tally"]["epsilon"][-1] == pytest.approx(0.5)


def test_an_added_sampler_is_offered_and_trains(copy: Copy) -> None:
    found = json.loads(copy.command(*TALLIED, *TAKEN_BY_TURNS))
    assert found["sampler"]["name"] == "turns"
    offered = "one of poisson, shuffle, random_allocation, turns"
    assert offered in copy.written("docs/settings.md")
    copy.command(*QUICK, *TAKEN_BY_TURNS)


def test_claims_of_an_added_sampler_are_read_and_judged(copy: Copy) -> None:
    step = {"class_name": "GaussianDpEvent", "noise_multiplier": 1.0}
    event = {"class_name": "TurnSampledDpEvent", "turn_probability": 0.1, "event": step}
    for text in (json.dumps(event), "Taken by turns, q = 0.1, sigma = 1.0, T = 10 steps."):
        (copy.tree / "claim.txt").write_text(text)
        printed = copy.command("check", "--text", "claim.txt", "--delta", "1e-5", "--json")
        (found,) = json.loads(printed)["runs"]
        assert found["claim"]["sampler"] == "turns", text
        assert found["certificate"]["upper"] == pytest.approx(4.377, abs=1e-3), text


def test_an_added_paper_is_compared(copy: Copy) -> None:
    rows = json.loads(copy.command("papers", "--paper", "999", "--json"))
    assert [each["verdict"] for each in rows] == ["refuted", "untrained", "untrained"]
