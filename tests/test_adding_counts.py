"""The source names what was added in the files that docs/adding.md lists for its kind, and nowhere else."""

import ast
import re

import pytest

from tests.test_architecture import MODULES, ROOT, defines, imports_of, module_of, tree_of

# For each heading of docs/adding.md a test that registers a dummy from outside, or writes one into a copy.
DUMMIES = {
    "A command": "tests/test_adding.py::test_a_command_is_its_module_and_its_line",
    "An action of runs": "tests/test_adding_around_runs.py::test_an_action_of_runs_is_its_object_and_its_line",
    "A form of export": "tests/test_adding_around_runs.py::test_a_form_of_export_is_its_object_and_its_line",
    "A page": "tests/test_adding.py::test_a_page_is_its_file_and_its_line",
    "A lesson": "tests/pages/explain/test_lessons.py::test_a_lesson_of_ones_own_is_driven_like_the_others",
    "A paper": "tests/pages/papers/test_papers_page.py::test_an_unknown_paper_is_said_and_the_first_is_shown",
    "A number of a paper": "tests/pages/papers/test_papers_page.py::test_a_number_tells_theirs_ours_and_why",
    "An accountant": "tests/test_adding.py::test_every_page_shows_a_new_accountant",
    "A sampler": "tests/pages/test_sampler_choice.py::test_a_sampler_is_its_class_and_its_line",
    "An optimizer": "tests/test_adding_to_runs.py::test_an_optimizer_is_its_object_and_its_line",
    "A clipping": "tests/test_adding_to_runs.py::test_a_clipping_is_its_class_and_its_line",
    "A schedule": "tests/test_adding_to_runs.py::test_a_noise_schedule_is_its_object_and_its_line",
    "A data set": "tests/test_adding_to_runs.py::test_a_data_set_is_its_entry_and_its_sample",
    "A table": "tests/test_adding_to_perturbation.py::test_a_table_is_its_object_and_its_line",
    "A perturbation method": "tests/test_adding_to_perturbation.py::test_the_command_takes_a_new_perturbation_method",
    "A model": "tests/test_adding_to_runs.py::test_a_model_is_its_object_and_its_line",
    "A kind of features": "tests/training/test_run_inputs.py::test_a_kind_of_features_is_its_object_and_its_line",
    "A broken trainer": "tests/audit/broken/test_a_trainer_of_ones_own.py::test_a_trainer_is_its_object_and_its_line",
    "A setting of a run": "tests/test_adding_a_setting.py::test_train_heeds_and_records_it",
}
# Of each kind those that are nobody's default or example, and how the source names one.
EVERYDAY = {
    "A command": ("NAME", ["app"]),  # calibrate, epsilon and tradeoff name functions of the package too
    "An action of runs": ("NAME", ["exchange"]),
    "A form of export": (
        "NAME",
        ["tidy_csv", "tensorboard_events", "mlflow_runs", "dp_accounting_script", "model_card"],
    ),
    "A page": ("pages/NAME.py", ["calibrate", "train"]),
    "An accountant": ("NAME", ["zcdp"]),
    "An optimizer": ("NAME", ["adagrad", "rmsprop", "pi_rmsprop", "pi_adagrad", "adadp", "adam_bc"]),
    "A clipping": ("NAME", ["auto_s", "per_layer"]),
    "A model": ("NAME", ["cnn9", "abadi"]),
    "A lesson": ("NAME", ["disagreement", "not_units", "more_steps"]),
    "A schedule": ("NAME", ["time", "polynomial", "delayed"]),
    "A data set": ("NAME", ["cifar10"]),
    "A table": ("NAME", ["bank", "kddcup99", "credit_card"]),
    "A perturbation method": ("NAME", ["bassily", "objective", "paper_input"]),
    "A broken trainer": ("NAME", ["same_noise", "batches_reused", "realised_divisor"]),
}
IDS = {  # of those whose file is named otherwise
    "exchange": "export",
    "tidy_csv": "csv",
    "tensorboard_events": "tensorboard",
    "mlflow_runs": "mlflow",
    "dp_accounting_script": "dp-accounting",
    "model_card": "card",
}
# Settings whose names mean nothing else in the source.
SETTINGS = ["lr_epochs", "sa_q0", "sa_mu0", "pca_sigma", "relevance_sigma", "stop_accountant"]
OPACUS = "dpcore/runs/export/opacus_script.py"  # names those that its script has come to heed
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
@pytest.mark.long
def test_it_is_named_in_the_files_that_adding_takes_and_nowhere_else(kind: str, name: str) -> None:
    takes = listed(kind, name)
    assert takes
    word = EVERYDAY[kind][0].replace("NAME", IDS.get(name, name))
    assert naming(word, {path for path in takes if name in path}) == takes


def test_a_dummy_of_every_kind_is_registered_and_driven() -> None:
    assert list(DUMMIES) == list(SECTIONS)
    for file, test in (each.split("::") for each in DUMMIES.values()):
        assert defines(ROOT / file, test), test


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_named_by_its_row_its_control_and_the_code_that_heeds_it(name: str) -> None:
    row, heeding = set(), set()
    for path in MODULES.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
                row.add(str(path.relative_to(ROOT)))
            if isinstance(node, ast.Attribute) and node.attr == name:
                heeding.add(str(path.relative_to(ROOT)))
    assert row | naming(name, set()) - {OPACUS} == listed("A setting of a run", name)
    assert heeding
    assert all(path.startswith("dpcore/training/") for path in heeding)
