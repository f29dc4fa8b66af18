"""What holds for every form of export: it is listed, takes hostile words for words, and gives no secret away."""

import ast
import csv
import io
import math
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.runs import export
from dpcore.runs import store as store_module
from dpcore.runs.export import FORMS, FolderForm, Form, RunRecord, TextForm, file_name, record_of
from dpcore.runs.record import Status, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.perturbation.request import Request
from tests.runs.export.recorded_runs import TINY, trained

HOSTILE = '"""\n=1+1 <script>alert(1)</script> [x](javascript:1) `$(id)` {} $run \0 \u202e é' + "y" * 10_000
ROOM = Path(export.__file__).parent
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
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_no_form_has_the_secret_seed_of_a_run(store: Store, record: RunRecord, form: Form, tmp_path: Path) -> None:
    secret = store.secret(record.run.id)
    assert secret
    contents = written(form, [record], tmp_path / "out").values()
    assert any(contents)
    for content in contents:
        for shape in (f"{secret}", f"{secret:x}", f"{secret:032x}"):
            assert shape.encode() not in content


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if getattr(form, "ending", "") == ".py"])
def test_a_hostile_name_is_no_code(record: RunRecord, name: str) -> None:
    form = FORMS[name]
    assert isinstance(form, TextForm)
    text = form.write([record])
    ast.parse(text)
    assert "alert" not in text


def test_a_hostile_name_is_no_formula_in_a_table(store: Store) -> None:
    form = FORMS["csv"]
    assert isinstance(form, TextForm)
    record = trained(store, TINY, "\t =HYPERLINK(1)\r\nx").record
    rows = list(csv.reader(io.StringIO(form.write([record]))))
    assert {row[1] for row in rows[1:]} == {"'=HYPERLINK(1) x"}


def test_a_hostile_name_is_no_markup_in_a_card(record: RunRecord) -> None:
    form = FORMS["card"]
    assert isinstance(form, TextForm)
    title = form.write([record]).splitlines()[0]
    assert "\\<script\\>alert(1)\\</script\\>" in title
    assert "\\[x\\](javascript\\:1)" in title
    assert "\0" not in title


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


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_a_run_that_was_cancelled_early_has_what_it_came_to(store: Store, form: Form, tmp_path: Path) -> None:
    run = store.new_id()
    store.submit_as(run, replace(TINY, pca=10), "", "elsewhere:1")
    store.append(run, Started(10_000, 32, 0.0064, "cpu", 1, "book-keeping"))
    store.cancel(run)
    store.end(run, Status.CANCELLED)
    if form.name == "opacus":
        with pytest.raises(ValueError, match="it has no DP-PCA"):
            written(form, [record_of(store, run)], tmp_path / "out")
        return
    assert any(written(form, [record_of(store, run)], tmp_path / "out").values())


def test_a_run_that_has_not_begun_has_nothing_to_export(store: Store) -> None:
    run = store.submit(RunConfig())
    with pytest.raises(ValueError, match=f"Expected run='{run}' to have begun, but it is queued"):
        record_of(store, run)


def test_an_unknown_run_and_a_job_of_another_kind_are_named(store: Store) -> None:
    with pytest.raises(UnknownRun, match="'nope'"):
        record_of(store, "nope")
    job = store.submit(Request("iris"))
    with pytest.raises(ValueError, match=f"'{job}' to be a training run, but it is of the kind perturbation"):
        record_of(store, job)


def test_every_file_that_defines_a_form_is_listed() -> None:
    defining = {
        path.stem
        for path in ROOM.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in ("TextForm", "FolderForm")
    }
    assert len(defining) == len(FORMS)
    assert all(form.title and form.name == name for name, form in FORMS.items())


def test_the_room_needs_neither_torch_nor_streamlit() -> None:
    code = "import sys, dpcore.runs.export; print([x for x in ('torch', 'streamlit', 'mlflow') if x in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOM.parents[2], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_number_that_an_older_version_stored_and_is_none_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpcore.runs.kinds import event_to_json
    from dpcore.training.events import Evaluated

    run = store.new_id()
    store.submit_as(run, TINY, "", "elsewhere:1")
    monkeypatch.setattr(store_module, "body_of", lambda event: __import__("json").dumps(event_to_json(event)))
    store.append(run, Started(10_000, 32, 0.0064, "cpu", 1, "book-keeping"))
    store.append(run, Evaluated(3, 0.02, 0.5, math.nan, (0.5, math.inf)))
    form = FORMS["csv"]
    assert isinstance(form, TextForm)
    rows = list(csv.DictReader(io.StringIO(form.write([record_of(store, run)]))))
    assert [row["figure"] for row in rows] == ["test/accuracy", "test/accuracy of class 0", "privacy/epsilon"]
