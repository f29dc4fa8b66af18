"""What can be done with runs: a dummy of a form of export and of an action of `runs`, registered from here alone."""

import io
import zipfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpcore.__main__ import main
from dpcore.commands import Parser, whole
from dpcore.commands.runs import ACTIONS
from dpcore.commands.runs.action import Action
from dpcore.commands.runs.run_texts import print_json
from dpcore.runs import pool
from dpcore.runs.export import FORMS, FolderForm, RunRecord, TextForm, record_of
from dpcore.runs.store import Store
from pages.parts.runs.files_of_runs import written
from tests.commands.printed import printed
from tests.pages.runs.test_files_of_runs import exporting
from tests.pages.runs.test_runs_compared import finished

Output = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of its own for commands and pages, which no worker serves."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    with Store() as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
        yield store


def one_line_each(records: Sequence[RunRecord]) -> str:
    return "".join(f"{each.run.id} {each.steps}\n" for each in records)


def one_folder_each(records: Sequence[RunRecord], folder: Path) -> None:
    for each in records:
        (folder / each.run.id).mkdir(parents=True)
        (folder / each.run.id / "steps").write_text(str(each.steps))


LINES = TextForm("lines", "A line for each run", ".lines", "text/plain", one_line_each, several=True)
FOLDERS = FolderForm("folders", "A folder for each run", one_folder_each)


def help_of(capsys: Output, *words: str) -> str:
    with pytest.raises(SystemExit, match="0"):
        main(["runs", *words, "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_a_form_of_export_is_its_object_and_its_line(
    store: Store, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, LINES.name, LINES)
    first, second = finished(store), finished(store)
    told = one_line_each([record_of(store, first), record_of(store, second)])
    assert "lines: A line for each run" in help_of(capsys, "export")
    assert main(["runs", "export", first, second, "--format", "lines"]) == 0
    assert capsys.readouterr().out == told
    found = printed(capsys, ["runs", "export", first, second, "--format", "lines", "--to", str(tmp_path)])
    assert Path(found["to"]) == tmp_path / f"run-{first}-{second}.lines"
    assert Path(found["to"]).read_text() == told
    page = exporting(first, second, form="lines")
    assert "A line for each run" in page.selectbox(key="export_form").options
    assert "Download" in [each.proto.label for each in page.get("download_button")]


def test_a_form_that_is_a_folder_is_filled_by_the_command_and_packed_by_the_page(
    store: Store, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, FOLDERS.name, FOLDERS)
    run = finished(store)
    record = record_of(store, run)
    assert main(["runs", "export", run, "--format", "folders"]) == 2
    assert "it is a folder" in capsys.readouterr().err
    assert main(["runs", "export", run, "--format", "folders", "--to", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / run / "steps").read_text() == str(record.steps)
    assert "Download" in [each.proto.label for each in exporting(run, form="folders").get("download_button")]
    file, content, _ = written(FOLDERS, [record])
    assert file == f"folders-{run}.zip"
    assert isinstance(content, bytes)
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == [f"{run}/steps"]


def count_arguments(parser: Parser) -> None:
    parser.add_argument("--least", type=whole, default=0, help="where there are fewer, the exit status is 1")


def check_count(arguments: Namespace) -> None:
    if arguments.least < 0:
        raise ValueError(f"Expected least={arguments.least} to be at least 0.")


def count(store: Store, arguments: Namespace) -> int:
    found = len(store.runs())
    print_json({"runs": found}) if arguments.json else print(f"{found} runs")
    return 0 if found >= arguments.least else 1


@pytest.fixture
def action(monkeypatch: pytest.MonkeyPatch) -> Action:
    """An action that is an object, and its line among the others."""
    made = Action("count", "how many training runs there are", count_arguments, count, check_count)
    monkeypatch.setitem(ACTIONS, made.name, made)
    return made


def test_an_action_of_runs_is_its_object_and_its_line(action: Action, store: Store, capsys: Output) -> None:
    finished(store)
    assert f"count {action.help}" in help_of(capsys)
    assert "--least" in help_of(capsys, "count")
    assert main(["runs", "count"]) == 0
    assert capsys.readouterr().out == "1 runs\n"
    assert main(["runs", "count", "--least", "2"]) == 1
    capsys.readouterr()
    assert printed(capsys, ["runs", "count"]) == {"runs": 1}
    assert main(["runs", "count", "--least", "-1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "least=-1" in line


@pytest.mark.usefixtures("action")
def test_an_action_of_no_run_says_so_where_there_is_no_store_and_makes_none(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "nowhere"))
    assert main(["runs", "count"]) == 0
    assert capsys.readouterr().out == "No runs yet.\n"
    assert printed(capsys, ["runs", "count"]) == {"runs": []}
    assert not (tmp_path / "nowhere").exists()
