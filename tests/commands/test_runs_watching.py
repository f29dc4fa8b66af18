"""`runs list --watch` and `runs show --watch`, in a terminal and behind a pipe, beside a run that
goes on.
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpcore.commands.runs.watching import watch_one
from dpcore.runs.expected import duration
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.plan import plan
from tests.commands.printed import Output, Patch, interruptible

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(model="mlp", epochs=0.2)
STEPS = plan(CONFIG).steps


@pytest.fixture
def store(tmp_path: Path, monkeypatch: Patch) -> Iterator[Store]:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    with Store() as store:
        yield store


def in_a_terminal(monkeypatch: Patch) -> None:
    """Have standard output be a terminal."""
    for name, value in {"TERM": "xterm", "COLUMNS": "140", "LINES": "40"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def began(store: Store, name: str = "mine") -> str:
    run = store.submit(CONFIG, name, "elsewhere:1")
    store.append(run, Started(10_000, STEPS, CONFIG.q, "cpu", 795_010, "book-keeping"))
    store.append(run, Stepped(1, CONFIG.q, 2.0, 0.5, (0.1,) * 5, 2.0))
    store.append(run, Evaluated(1, CONFIG.q, 0.25, 1.5, (0.5,) * 10))
    return run


def finish(store: Store, run: str) -> None:
    store.append(run, Evaluated(STEPS, STEPS * CONFIG.q, 0.625, 1.5, (0.5,) * 10))
    store.append(run, Finished(STEPS, 1.0, 0.625))
    store.end(run, Status.FINISHED)


def meanwhile(*happens: Callable[[], object]) -> Callable[[float], object]:
    """A wait that takes no time: the first call lets the first of these happen, and so on."""
    rest = iter(happens)
    return lambda _: next(rest)()


def plain(text: str) -> str:
    """A terminal's text without what moves and colours."""
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text)


def test_a_run_is_watched_until_it_ends_with_its_curve(
    store: Store, capsys: Output, monkeypatch: Patch
) -> None:
    in_a_terminal(monkeypatch)
    run = began(store, "[red]name[/red] \x1b]0;owned\x07")
    shown: list[str] = []

    def goes_on() -> None:
        shown.append(capsys.readouterr().out)
        finish(store, run)

    assert watch_one(store, store.run(run), wait=meanwhile(goes_on)) == 0
    assert "owned\x07" not in shown[0]
    for words in ("[red]name[/red]", "running", "25.0%", f"{duration((STEPS - 1) / 2)} left"):
        assert words in plain(shown[0]), words
    last = plain(capsys.readouterr().out)
    assert f"step {STEPS}, accuracy 62.5%" in last
    assert " 62.5% |" in last.split("test accuracy")[-1]
    assert last.split("test accuracy")[-1].count("•") == 2
    # A run that has ended is shown once.
    assert watch_one(store, store.run(run), wait=meanwhile()) == 0
    assert "finished" in capsys.readouterr().out


@pytest.mark.parametrize("as_json", [True, False])
def test_behind_a_pipe_the_events_are_printed_as_they_come(
    store: Store, as_json: bool, capsys: Output
) -> None:
    run, lines = began(store), []

    def goes_on() -> None:
        lines.extend(capsys.readouterr().out.splitlines())
        finish(store, run)

    assert watch_one(store, store.run(run), as_json=as_json, wait=meanwhile(goes_on)) == 0
    assert len(lines) == 3
    lines += capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    if as_json:
        assert [json.loads(line) for line in lines] == [
            json.loads(body) for _, body in store.bodies(run)
        ]
    else:
        assert lines[-1].startswith(f"done: {STEPS} steps")


def test_a_run_whose_plan_another_version_wrote_is_watched_too(
    store: Store, capsys: Output, monkeypatch: Patch
) -> None:
    in_a_terminal(monkeypatch)
    run = began(store)
    finish(store, run)
    with store.writing() as db:
        db.execute("UPDATE runs SET plan = '{}'")
    watch_one(store, store.run(run), wait=meanwhile())
    assert "62.5%" in plain(capsys.readouterr().out)


@pytest.mark.long
@pytest.mark.parametrize("words", [["show", "RUN", "--watch"], ["list", "--watch"]], ids=" ".join)
def test_ctrl_c_in_a_real_terminal_ends_the_watching_and_not_the_run(
    store: Store, words: list[str]
) -> None:
    interruptible()
    run, text = began(store), ""
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "dpcore",
        "runs",
        *(run if word == "RUN" else word for word in words),
    ]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "140", "LINES": "40"}
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        while "accuracy 25.0%" not in text:
            text += os.read(ours, 65_536).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        try:
            while read := os.read(ours, 65_536):
                text += read.decode(errors="replace")
        except OSError:  # nobody writes any more
            os.close(ours)
    assert process.returncode == 0
    assert "Traceback" not in text
    assert (store.run(run).status, store.run(run).cancelling) == (Status.RUNNING, False)
