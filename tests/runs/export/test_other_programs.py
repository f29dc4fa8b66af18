"""What TensorBoard and MLflow find in an exported folder is what the run has said."""

import builtins
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.runs.export import FORMS, FolderForm, RunRecord
from dpcore.runs.export.figures import figures_of
from dpcore.runs.store import Store
from tests.runs.export.recorded_runs import TINY, trained

FOLDERS = [form for form in FORMS.values() if isinstance(form, FolderForm)]


def tensorboard_read(folder: Path, run: str) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / run))
    found.Reload()
    return {tag: [(each.step, each.value) for each in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def mlflow_read(folder: Path, run: str) -> dict[str, list[tuple[int, float]]]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=folder.as_uri())
    (experiment,) = [each for each in client.search_experiments() if each.name == "dpcore"]
    (found,) = [each for each in client.search_runs([experiment.experiment_id]) if each.data.tags["dpcore.run"] == run]
    assert (found.info.status, found.data.params["sigma"], found.data.params["seed"]) == ("FINISHED", "1.0", "5")
    names = found.data.metrics
    return {
        name: [(each.step, each.value) for each in client.get_metric_history(found.info.run_id, name)] for name in names
    }


def said_by(record: RunRecord) -> dict[str, list[tuple[int, float]]]:
    said: dict[str, list[tuple[int, float]]] = {}
    for each in figures_of(record):
        said.setdefault(each.name, []).append((each.step, each.value))
    return said


@pytest.mark.parametrize("form", FOLDERS, ids=lambda form: form.name)
def test_it_has_every_figure_of_every_run_and_touches_nothing_else(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: FolderForm
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    records = [trained(store).record, trained(store, TINY, "named").record]
    folder = tmp_path / "out"
    form.write(records, folder)
    read = {"tensorboard": tensorboard_read, "mlflow": mlflow_read}[form.name]
    for record in records:
        found, said = read(folder, record.run.id), said_by(record)
        assert said["privacy/epsilon"]
        assert set(found) == set(said)
        for name, values in said.items():
            assert [step for step, _ in found[name]] == [step for step, _ in values]
            near = pytest.approx([value for _, value in values], rel=1e-6)  # TensorBoard's have 32 bits
            assert [value for _, value in found[name]] == near
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("out", "home")] == ["elsewhere"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("form", FOLDERS, ids=lambda form: form.name)
def test_a_run_without_a_finite_epsilon_is_written_without_one(store: Store, tmp_path: Path, form: FolderForm) -> None:
    record = trained(store, replace(TINY, private=False)).record
    assert all(math.isfinite(each.value) for each in figures_of(record))
    form.write([record], tmp_path / "out")
    assert any((tmp_path / "out").rglob("*"))


def test_mlflow_keeps_the_runs_own_words_whatever_its_origin_is_called(store: Store, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    record = trained(store).record
    forged = {"run": "forged", "note": "forged", "tags": "forged", "torch": "2.9"}
    FORMS["mlflow"].write([replace(record, run=replace(record.run, origin=forged))], tmp_path / "out")  # type: ignore[call-arg]
    client = MlflowClient(tracking_uri=(tmp_path / "out").as_uri())
    (experiment,) = [each for each in client.search_experiments() if each.name == "dpcore"]
    (found,) = client.search_runs([experiment.experiment_id])
    tags = {name: said for name, said in found.data.tags.items() if name.startswith("dpcore.")}
    assert tags == {"dpcore.run": record.run.id, "dpcore.note": "", "dpcore.tags": "", "dpcore.torch": "2.9"}


def test_what_mlflow_refuses_is_a_sentence(store: Store, tmp_path: Path) -> None:
    record = trained(store).record
    bad = replace(record, run=replace(record.run, origin={"a:b\n*": "x"}))
    with pytest.raises(ValueError, match=rf"^Expected run='{record.run.id}' to be one that MLflow takes, but it says"):
        FORMS["mlflow"].write([bad], tmp_path / "out")  # type: ignore[call-arg]


@pytest.mark.parametrize("form", FOLDERS, ids=lambda form: form.name)
def test_a_missing_package_is_one_sentence_and_nothing_is_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: FolderForm
) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == form.name:
            raise ImportError(name)
        return imported(name, *rest, **kwargs)

    record = trained(store).record
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=rf"^Expected the package {form.name}\S* to be here; 'pip install -r requ"):
        form.write([record], tmp_path / "out")
    assert not (tmp_path / "out").exists()
