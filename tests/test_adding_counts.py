"""The source names what was added in the files that docs/adding.md lists for its kind, and nowhere else."""

import ast
import re

import pytest

from tests.test_architecture import MODULES, ROOT, imports_of, module_of, tree_of

# Of each kind those that are nobody's default or example, and how the source names one.
EVERYDAY = {
    "A command": ("NAME", ["app"]),  # calibrate, epsilon and tradeoff name functions of the package too
    "A page": ("pages/NAME.py", ["calibrate", "train"]),
    "An accountant": ("NAME", ["zcdp", "strong"]),
    "An optimizer": ("NAME", ["adagrad", "rmsprop", "pi_adam", "pi_rmsprop", "pi_adagrad", "adadp"]),
    "A clipping": ("NAME", ["auto_s", "per_layer"]),
    "A model": ("NAME", ["cnn9", "abadi"]),
    "A lesson": ("NAME", ["disagreement", "not_units", "more_steps"]),
    "A schedule": ("NAME", ["time", "polynomial", "delayed"]),
    "A data set": ("NAME", ["cifar10"]),
}
# Settings whose names mean nothing else in the source.
SETTINGS = ["lr_epochs", "sa_q0", "sa_mu0", "pca_sigma", "relevance_sigma", "stop_accountant"]
PAPERS = set((ROOT / "dpcore/papers").rglob("*.py"))
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", (ROOT / "docs/adding.md").read_text(), flags=re.MULTILINE))


def listed(kind: str, name: str) -> set[str]:
    """The source files of the kind's numbered items: the first that each of them names."""
    items = re.findall(r"^\d\. ((?:(?!^\d\. |^$).*\n)+)", SECTIONS[kind], flags=re.MULTILINE)
    paths = [next(iter(re.findall(r"`((?:dpcore|pages)/[\w/]+\.py)`", item)), None) for item in items]
    return {path.replace("NAME", name) for path in paths if path}


def naming(word: str, own: set[str]) -> set[str]:
    """The source files that are its own, import those, or hold the word as a text; papers name what they used."""
    modules = {module_of(ROOT / path) for path in own}
    found = set(own)
    for path in set(MODULES.values()) - PAPERS:
        texts = {node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)}
        if word in texts or modules & {name for name, _ in imports_of(path)}:
            found.add(str(path.relative_to(ROOT)))
    return found


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, (_, names) in EVERYDAY.items() for name in names])
@pytest.mark.slow
def test_it_is_named_in_the_files_that_adding_takes_and_nowhere_else(kind: str, name: str) -> None:
    takes = listed(kind, name)
    assert takes
    assert naming(EVERYDAY[kind][0].replace("NAME", name), {path for path in takes if name in path}) == takes


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_named_by_its_row_its_control_and_the_code_that_heeds_it(name: str) -> None:
    row, heeding = set(), set()
    for path in MODULES.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
                row.add(str(path.relative_to(ROOT)))
            if isinstance(node, ast.Attribute) and node.attr == name:
                heeding.add(str(path.relative_to(ROOT)))
    assert row | naming(name, set()) == listed("A setting of a run", name)
    assert heeding
    assert all(path.startswith("dpcore/training/") for path in heeding)
