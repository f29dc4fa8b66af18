"""Every form of export is complete; TensorBoard and MLflow find a run in an exported folder."""

import ast
import builtins
import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.data.catalogue import DATASETS
from dpcore.runs.export import FORMS, FolderForm, Form, RunRecord, TextForm, file_name, record_of
from dpcore.runs.export.data_forms import figures_of
from dpcore.runs.plain_text import as_csv, as_text
from dpcore.runs.record import Status, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.events import Started
from dpcore.training.perturbation.request import Request
from tests.runs.export.recorded_runs import TINY, trained

HOSTILE = (
    '"""\n=1+1 <script>alert(1)</script> [x](javascript:1) `$(id)` {} $run \0 \u202e é'
    + "y" * 10_000
)
SECRET_SEED = replace(TINY, seed=None)


@pytest.fixture
def record(store: Store) -> RunRecord:
    return trained(store, SECRET_SEED, HOSTILE).record


def written(form: Form, records: Iterable[RunRecord], folder: Path) -> dict[str, bytes]:
    """The files that a form makes, by their names."""
    if isinstance(form, TextForm):
        return {file_name(form, []): form.write(list(records)).encode()}
    assert isinstance(form, FolderForm)
    form.write(list(records), folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_no_form_has_the_secret_seed_of_a_run_and_a_hostile_name_is_no_code(
    store: Store, record: RunRecord, tmp_path: Path
) -> None:
    secret = store.secret(record.run.id)
    assert secret
    for name, form in FORMS.items():
        contents = written(form, [record], tmp_path / name)
        assert any(contents.values()), name
        for file, content in contents.items():
            for shape in (f"{secret}", f"{secret:x}", f"{secret:032x}"):
                assert shape.encode() not in content, name
            if file.endswith(".py"):
                ast.parse(content)
                assert b"alert" not in content, name


def test_a_hostile_name_is_no_formula_in_a_table(store: Store) -> None:
    form = FORMS["csv"]
    assert isinstance(form, TextForm)
    record = trained(store, TINY, "\t =HYPERLINK(1)\r\nx").record
    rows = list(csv.reader(io.StringIO(form.write([record]))))
    assert {row[1] for row in rows[1:]} == {"'=HYPERLINK(1) x"}


# Of a formula, in full and small width, too.
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
CELLS = (
    "{}1+1",
    "a;{}1+1;b",
    "a|{}1+1|b",
    'a;"{}1+1";b',
    'a; "{}1+1|{}2";{}3',
    '";{}1+1',
    "a;;|{}1",
    "a,b;{}1",
)


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_no_cell_of_a_table_is_a_formula_whatever_separates_the_cells(separator: str) -> None:
    names = [cell.replace("{}", sign) for cell in CELLS for sign in SIGNS]
    text = as_csv(names, [[name, 1.5, name] for name in names])
    for row in csv.reader(io.StringIO(text), delimiter=separator):
        for cell in row:
            assert not cell.strip(' "').startswith(tuple(SIGNS)), cell


def test_words_without_a_formula_stay_as_they_are_and_a_quoted_one_is_quoted_once() -> None:
    for words in ("a-b", "x; y|z", "1e-5", "'=1+1", "a = b"):
        assert as_text(words) == words
    assert as_text(as_text("a;=1+1")) == "a;'=1+1"


def test_a_hostile_name_is_no_markup_in_a_card(record: RunRecord) -> None:
    form = FORMS["card"]
    assert isinstance(form, TextForm)
    title = form.write([record]).splitlines()[0]
    assert "\\<script\\>alert(1)\\</script\\>" in title
    assert "\\[x\\](javascript\\:1)" in title
    assert "\0" not in title


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("www.evil.example/login", "www\\.evil.example/login"),
        ("at (WWW.evil.example)", "at (WWW\\.evil.example)"),
        ("me@evil.example", "me<!-- -->@evil.example"),
        ("- item", "\\- item"),
        ("+ item", "\\+ item"),
        ("---", "\\---"),
        ("1. item", "1\\. item"),
        ("20) item", "20\\) item"),
        ("a-b, 1.5 + 2.", "a-b, 1.5 + 2."),
    ],
)
def test_a_list_a_rule_or_an_address_in_a_name_is_words_in_a_card(
    store: Store, words: str, shown: str
) -> None:
    form = FORMS["card"]
    assert isinstance(form, TextForm)
    run = trained(store, TINY, words).record
    card = form.write([replace(run, run=replace(run.run, note=words, origin={"device": words}))])
    lines = card.splitlines()
    assert lines[0].endswith(f": {shown}")
    assert lines[2] == shown
    assert f"| Device | {shown} |" in lines


def test_the_name_of_a_class_is_words_in_a_card(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = FORMS["card"]
    assert isinstance(form, TextForm)
    run = trained(store).record
    strange = replace(DATASETS["mnist"], classes=("www.evil.example", "a & b", *"23456789"))
    monkeypatch.setitem(DATASETS.shipped, "mnist", strange)
    card = form.write([run])
    assert "| Accuracy of www\\.evil.example |" in card
    assert "| Accuracy of a \\& b |" in card


def test_an_origin_takes_no_rows_place_in_a_card_and_its_names_are_no_markup(store: Store) -> None:
    run = trained(store).record
    rows = ("run", "status", "seed", "submitted", "[x](//evil)|", "device")
    form = FORMS["card"]
    assert isinstance(form, TextForm)
    card = form.write([replace(run, run=replace(run.run, origin=dict.fromkeys(rows, "forged")))])
    assert card.count("forged") == 2
    assert "\\[x\\](//evil)\\| | forged |" in card
    assert "| Device | forged |" in card
    assert f"| Run | {run.run.id} |" in card


def test_a_run_that_was_cancelled_early_has_what_it_came_to(store: Store, tmp_path: Path) -> None:
    run = store.submit(replace(TINY, pca=10), "", "elsewhere:1")
    store.append(run, Started(10_000, 32, 0.0064, "cpu", 1, "book-keeping"))
    store.cancel(run)
    store.end(run, Status.CANCELLED)
    with pytest.raises(ValueError, match="it has no DP-PCA"):
        written(FORMS["opacus"], [record_of(store, run)], tmp_path / "opacus")
    for name, form in FORMS.items():
        assert name == "opacus" or any(
            written(form, [record_of(store, run)], tmp_path / name).values()
        ), name


def test_an_unknown_run_and_a_job_of_another_kind_are_named(store: Store) -> None:
    with pytest.raises(UnknownRun, match="'nope'"):
        record_of(store, "nope")
    job = store.submit(Request("iris"))
    with pytest.raises(ValueError, match=f"{job} is a job of kind perturbation"):
        record_of(store, job)


FOLDERS = [form for form in FORMS.values() if isinstance(form, FolderForm)]


def tensorboard_read(folder: Path, run: str) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / run))
    found.Reload()
    return {
        tag: [(each.step, each.value) for each in found.Scalars(tag)]
        for tag in found.Tags()["scalars"]
    }


def mlflow_read(folder: Path, run: str) -> dict[str, list[tuple[int, float]]]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=folder.as_uri())
    (experiment,) = [each for each in client.search_experiments() if each.name == "dpcore"]
    (found,) = [
        each
        for each in client.search_runs([experiment.experiment_id])
        if each.data.tags["dpcore.run"] == run
    ]
    assert (found.info.status, found.data.params["sigma"], found.data.params["seed"]) == (
        "FINISHED",
        "1.0",
        "5",
    )
    names = found.data.metrics
    return {
        name: [
            (each.step, each.value) for each in client.get_metric_history(found.info.run_id, name)
        ]
        for name in names
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
            # TensorBoard's have 32 bits.
            near = pytest.approx([value for _, value in values], rel=1e-6)
            assert [value for _, value in found[name]] == near
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("out", "home")] == [
        "elsewhere"
    ]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_mlflow_keeps_the_runs_own_words_whatever_its_origin_is_called(
    store: Store, tmp_path: Path
) -> None:
    from mlflow import MlflowClient

    record = trained(store).record
    forged = {"run": "forged", "note": "forged", "tags": "forged", "torch": "2.9"}
    FORMS["mlflow"].write(
        [replace(record, run=replace(record.run, origin=forged))], tmp_path / "out"
    )  # type: ignore[call-arg]
    client = MlflowClient(tracking_uri=(tmp_path / "out").as_uri())
    (experiment,) = [each for each in client.search_experiments() if each.name == "dpcore"]
    (found,) = client.search_runs([experiment.experiment_id])
    tags = {name: said for name, said in found.data.tags.items() if name.startswith("dpcore.")}
    assert tags == {
        "dpcore.run": record.run.id,
        "dpcore.note": "",
        "dpcore.tags": "",
        "dpcore.torch": "2.9",
    }


def test_what_mlflow_refuses_is_a_sentence(store: Store, tmp_path: Path) -> None:
    record = trained(store).record
    bad = replace(record, run=replace(record.run, origin={"a:b\n*": "x"}))
    with pytest.raises(ValueError, match=rf"^MLflow refuses run {record.run.id}: "):
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
    with pytest.raises(
        ValueError, match=rf"needs it: {form.name}\S* is not installed\..*'dpcore\[export\]'"
    ):
        form.write([record], tmp_path / "out")
    assert not (tmp_path / "out").exists()
