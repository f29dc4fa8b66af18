"""`python -m dpcore runs export | import | delete`: files made whole or not at all, bad input in
one line.
"""

import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.runs.editing import annotate, tag
from dpcore.runs.export import FORMS, FolderForm
from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import plan
from tests.commands.printed import Output, Patch, printed

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(model="mlp", epochs=0.2)
STEPS = plan(CONFIG).steps


@pytest.fixture
def store(tmp_path: Path, monkeypatch: Patch) -> Iterator[Store]:
    """The store that DPCORE_HOME names; the working directory is empty."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with Store() as store:
        yield store


def finished(store: Store, name: str = "mine") -> str:
    """A run that has ended."""
    run = store.submit(CONFIG, name, "elsewhere:1")
    store.append(run, Started(10_000, STEPS, CONFIG.q, "cpu", 795_010, "book-keeping"))
    store.append(run, Evaluated(STEPS, STEPS * CONFIG.q, 0.625, 1.5, (0.5,) * 10))
    store.append(run, Finished(STEPS, 1.0, 0.625))
    store.end(run, Status.FINISHED)
    return run


def refused(capsys: Output, *words: str) -> str:
    """The one line with which the words are refused; nothing is written here."""
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    assert main(["runs", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dpcore: ")
    assert err.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
    return err


def test_an_exported_run_is_imported(
    store: Store, capsys: Output, tmp_path: Path, monkeypatch: Patch
) -> None:
    run = finished(store)
    tag(store, run, ["class of 2026"])
    annotate(store, run, "the first\nof many")
    assert main(["runs", "export", run, "--to", "run.json"]) == 0
    assert capsys.readouterr().err == "Wrote run.json.\n"
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "other"))
    found = printed(capsys, ["runs", "import", "run.json"])
    assert found["id"] != run
    assert (found["name"], found["status"], found["sequence"]) == ("mine", "finished", 3)
    assert (found["tags"], found["note"]) == (["class of 2026"], "the first\nof many")
    assert found["origin"] == {"imported": f"run {run} of another store"}
    assert main(["runs", "list"]) == 0
    assert f"{found['id']}  finished, imported  " in capsys.readouterr().out
    assert main(["runs", "show", found["id"]]) == 0
    assert (
        f"run {run} of another store; its figures were not measured here" in capsys.readouterr().out
    )
    assert "was imported" in refused(capsys, "resume", found["id"])


def test_every_text_is_printed_or_written_into_a_folder_that_is_there(
    store: Store, capsys: Output
) -> None:
    run = finished(store)
    for form in (name for name, form in FORMS.items() if not isinstance(form, FolderForm)):
        assert main(["runs", "export", run, "--format", form]) == 0
        text = capsys.readouterr().out
        assert text, form
        found = printed(capsys, ["runs", "export", run, "--format", form, "--to", "."])
        assert (found["runs"], found["format"]) == ([run], form)
        assert Path(found["to"]).read_text(encoding="utf-8") == text
        assert run in found["to"]


@pytest.mark.long
@pytest.mark.parametrize(
    "form", [name for name, form in FORMS.items() if isinstance(form, FolderForm)]
)
def test_every_folder_is_a_new_one(store: Store, capsys: Output, form: str) -> None:
    runs = [finished(store), finished(store)]
    assert main(["runs", "export", *runs, "--format", form, "--to", "out"]) == 0
    assert capsys.readouterr().err == "Wrote out.\n"
    assert any(Path("out").iterdir())
    assert "export overwrites nothing" in refused(
        capsys, "export", *runs, "--format", form, "--to", "out"
    )
    assert "Expected --to FOLDER" in refused(capsys, "export", *runs, "--format", form)


def test_nothing_is_overwritten(store: Store, capsys: Output) -> None:
    run = finished(store)
    Path("kept").write_text("precious")
    assert "Expected nothing at kept" in refused(capsys, "export", run, "--to", "kept")
    assert Path("kept").read_text() == "precious"
    assert main(["runs", "export", run, "--to", "."]) == 0
    file = capsys.readouterr().err.removeprefix("Wrote ").removesuffix(".\n")
    assert f"Expected nothing at {file}: " in refused(capsys, "export", run, "--to", ".")


REFUSED = {
    "export nope": "run='nope'",
    "export RUN --format zip": "--format",
    "export RUN nope --format csv": "run='nope'",
    "export RUN nope": "Expected one run with --format json, not 2",
    "export RUN --to no/such/folder/x": "Expected no/such/folder/x to be writable",
    f"export RUN --to {'x' * 5000}": "to be writable",
    "export RUN --to nul\0": "null",
    "export RUN --json": "Expected --to with --json",
    "export QUEUED": "is queued and has no events yet",
    "export QUEUED --format tensorboard --to out": "is queued and has no events yet",
    "export JOB --format csv": "is a job of kind perturbation",
    "delete nope --yes": "run='nope'",
    "delete QUEUED --yes": "is queued. Cancel it before you delete it",
    "delete RUN RUNNING --yes": "is running. Cancel it before you delete it",
    "delete RUN": "Expected --yes without a terminal",
    "list --watch": "Expected a terminal",
    "list --watch --json": "Expected no --json",
    "show JOB --watch": "to be a training run, not a perturbation",
}


def test_bad_input_is_one_line_and_nothing_is_written(
    store: Store, capsys: Output, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    running = store.submit(CONFIG, "", "elsewhere:1")
    ids = {
        "RUN": finished(store),
        "QUEUED": store.submit(CONFIG),
        "RUNNING": running,
        "JOB": store.submit(Request()),
    }
    before = [(item.id, item.status, item.sequence) for item in store.runs(kind=None)]
    for words, said in REFUSED.items():
        assert said in refused(capsys, *(ids.get(word, word) for word in words.split(" "))), words
        assert [(item.id, item.status, item.sequence) for item in store.runs(kind=None)] == before


HOSTILE = {
    b"": "to be an exported run in JSON",
    b'{"format": "dpcore run", "ver': "to be an exported run in JSON",
    b'{"version": ' + b"9" * 10_000_000 + b"}": "to be an exported run in JSON",
    b"[" * 10_000_000: "nested too deeply",
    b"\0" * 1000: "to be an exported run in JSON",
    gzip.compress(bytes(10_000_000)): "to be an exported run in JSON",
    b" " * 20_000_000: "to have at most 16,777,216 bytes",
    b'{"format": "dpcore run", "version": 99}': "to be of version 1",
}


def test_a_hostile_file_or_none_is_one_line_and_makes_no_store(
    tmp_path: Path, monkeypatch: Patch, capsys: Output
) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for content, said in HOSTILE.items():
        Path("file").write_bytes(content)
        assert said in refused(capsys, "import", "file"), content[:20]
    for name in (".", "nowhere", "nul\0", "x" * 5000, "/dev/zero"):
        assert "Expected " in refused(capsys, "import", name)
    assert not (tmp_path / "home").exists()


def test_a_deleted_run_is_gone_with_its_checkpoint(store: Store, capsys: Output) -> None:
    runs = [finished(store, f"\x1b[2Jrun {i}") for i in range(3)]
    checkpoint = checkpoint_path(store.home, runs[0])
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"x")
    assert main(["runs", "delete", runs[0], runs[1], "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Deleted run {runs[0]} ([2Jrun 0).\n")
    assert "\x1b" not in out
    assert [item.id for item in store.runs()] == [runs[2]]
    assert not checkpoint.exists()
    assert store.bodies(runs[0]) == []
    assert printed(capsys, ["runs", "delete", runs[2], "--yes"]) == {"deleted": [runs[2]]}


def test_whoever_sits_at_a_terminal_is_asked(
    store: Store, capsys: Output, monkeypatch: Patch
) -> None:
    run = finished(store)
    for answer, left in (("n\n", 1), ("", 1), ("\n", 1), ("y\n", 0)):
        asked = io.StringIO(answer)
        monkeypatch.setattr(asked, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdin", asked)
        assert main(["runs", "delete", run]) == 0
        assert (
            f"Delete {run} (mine) with all events and checkpoints, for good? [y/N]"
            in capsys.readouterr().err
        )
        assert len(store.runs()) == left, answer
