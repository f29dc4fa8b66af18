"""What docs/adding.md lists is all that adding takes: a copy of the tree gets one of each, and its tests pass.

They are the tests that run over the registries and read the documents; the pages are driven by `test_adding.py` and
`test_adding_to_runs.py`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_adding_counts import SECTIONS

ROOT = Path(__file__).parents[1]
COPIED = ("app.py", "pages", "dpcore", "docs", "tests", "README.md", "CHANGELOG.md", "pyproject.toml")

ACCOUNTANT = '''"""A made-up formula: 2 sqrt(T) q / sigma at any delta."""

from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray, IntArray


@final
class Tally(Accountant):
    """A made-up tally."""

    name: ClassVar[str] = "tally"
    title: ClassVar[str] = "Made-up tally"
    note: ClassVar[str] = "The made-up tally counts what it likes."
    source: ClassVar[str] = "arXiv 0000.00000"
    kind: ClassVar[Kind] = Kind.CLAIMED
    caveat: ClassVar[str] = "Nobody has proved it."

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        squares = np.array([(2 * each.q / each.sigma) ** 2 for each in mechanism.releases])
        return Curve(steps, delta, np.sqrt(mechanism.compositions(steps) @ squares), None, self.kind)
'''
OPTIMIZER = '''"""Gradient descent without any memory."""

from dpcore.training.optimizers.base import POST_PROCESSING, Optimizer, UpdateRules, nothing


def rules(hyperparameters):
    """Step -lr g."""

    def step(parameters, gradient, state, lr, scale):
        parameters.add_(gradient, alpha=-lr)

    return UpdateRules((), nothing, step)


FORGETFUL = Optimizer(
    name="forgetful", title="Forgetful", note=POST_PROCESSING, source="nowhere", rules=rules, lr=0.25,
    baseline_lr=0.125, in_torch="return torch.optim.SGD(weights, lr=config.lr)",
)
'''
CLIPPING = """@final
class Again(Clipping):
    title = "again"
    note = "Clips as flat does. Charges each step at (q, sigma)."
    source = "nowhere"

    def factors(self, squares: Tensor) -> Tensor:
        return (self.clip_norm * SAFETY / squares.sum(0).sqrt()).clamp(max=1.0).expand_as(squares)

    @staticmethod
    def sensitivity(groups: int) -> float:
        return 1.0


"""
SCHEDULE = """        Schedule("zigzag", "Zigzag", "sigma is larger in every other epoch e", "ours, from no paper",
                 lambda rate, level: 1.0 + rate * (level % 2), Rate(0.5, 0.1, 2.0)),
"""
DATASET = """DOTS = Dataset(
    name="dots", title="Dots", folder="Dots", classes=("few", "many"), idx=idx_files("0", "1", "2", "3"),
    origin="nowhere", licence="none", sample_examples=0,
)
"""
NEW = ""  # a file of its own, or else the place before which text goes
Edits = dict[str, list[tuple[str, str]]]  # file -> places and what is written there
ADDED: dict[str, Edits] = {
    "An accountant": {
        "dpcore/privacy/accountants/tally.py": [(NEW, ACCOUNTANT)],
        "dpcore/privacy/accountants/__init__.py": [
            ("from dpcore.privacy.accountants.zcdp", "from dpcore.privacy.accountants.tally import Tally\n"),
            ("        Pld(),", "        Tally(),\n"),
        ],
        "docs/methods.md": [("| `pld` |", "| `tally` | made-up tally | claim | counts what it likes |\n")],
    },
    "An optimizer": {
        "dpcore/training/optimizers/forgetful.py": [(NEW, OPTIMIZER)],
        "dpcore/training/optimizers/__init__.py": [
            (
                "from dpcore.training.optimizers.pi_adam ",
                "from dpcore.training.optimizers.forgetful import FORGETFUL\n",
            ),
            ("ADAGRAD, RMSPROP,", "FORGETFUL, "),
        ],
        "docs/methods.md": [
            ("| AdaDP |", "| Forgetful | `--optimizer forgetful` | none | remembers nothing | all | | |\n")
        ],
    },
    "A clipping": {
        "dpcore/training/gradients/clipping.py": [
            ("CLIPPINGS:", CLIPPING),
            ('"per_layer": PerLayer}', '"again": Again, '),
        ],
        "docs/methods.md": [("| AUTO-S |", "| Again | `--clipping again` | none | flat | all | | |\n")],
    },
    "A schedule": {
        "dpcore/privacy/schedule.py": [('        Schedule(\n            "time"', SCHEDULE)],
        "docs/methods.md": [("\\|linear` | 000 |", "\\|zigzag")],
    },
    "A data set": {
        "dpcore/data/catalogue.py": [("DATASETS = {", DATASET), ("MOVIELENS)}", "DOTS, ")],
    },
}
OVER_REGISTRIES = [  # tests that ask something of whatever is registered, or read the documents
    "tests/test_readme.py::test_every_accountant_is_explained_in_the_order_it_is_shown",
    "tests/test_readme.py::test_every_method_of_training_has_a_row_that_says_what_it_is_charged",
    "tests/test_architecture.py::test_every_accountant_file_has_its_line_in_the_registry",
    "tests/figures/test_palettes.py",
    "tests/training/test_settings.py",
    "tests/training/test_defaults.py::test_there_is_one_for_every_combination",
    "tests/training/optimizers/test_optimizers.py",
    "tests/training/gradients/test_rounding.py",
    "tests/training/gradients/test_clipped_sum.py",
    "tests/privacy/test_schedule.py::test_every_schedule_makes_exactly_the_steps_it_was_asked_for",
    "tests/privacy/test_schedule.py::test_a_schedule_says_what_it_does_and_where_it_comes_from",
    "tests/data/test_catalogue.py",
    "tests/test_adding_counts.py",
]
WHAT_IS_NEW = "again or forgetful or not (test_clipped_sum or test_optimizers)"  # the rest of these is as it was


def items(kind: str) -> set[str]:
    """The files of the kind's numbered items that are always wanted: the first that each of them names."""
    found = re.findall(r"^\d\. ((?:(?!^\d\. |^$).*\n)+)", SECTIONS[kind], flags=re.MULTILINE)
    return {
        re.findall(r"`((?:dpcore|pages|docs|tests)/[\w/.]+)`", each)[0] for each in found if "Where" not in each[:5]
    }


@pytest.mark.parametrize("kind", ADDED)
def test_the_files_that_are_written_here_are_those_of_the_list(kind: str) -> None:
    own = [file for file, edits in ADDED[kind].items() if edits[0][0] == NEW]
    assert {re.sub(r"\w+\.py$", "NAME.py", file) if file in own else file for file in ADDED[kind]} == items(kind)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree that has one of each more."""
    tree = tmp_path_factory.mktemp("grown")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    for edits in ADDED.values():
        for file, written in edits.items():
            for place, text in written:
                old = (tree / file).read_text(encoding="utf-8") if place else ""
                assert place == NEW or old.count(place) == 1, (file, place)
                (tree / file).write_text(old.replace(place, text + place) if place else text, encoding="utf-8")
    return tree


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_runs_over_the_registries_passes_with_one_of_each_more(grown: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(grown), "DPCORE_HOME": str(grown / "home")}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += ["-k", WHAT_IS_NEW, *OVER_REGISTRIES]
    done = subprocess.run(command, cwd=grown, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
