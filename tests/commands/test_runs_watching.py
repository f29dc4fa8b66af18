"""`runs list --watch` and `runs show --watch`, in a real terminal and behind a pipe, beside a run that goes on."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.commands.runs.watching import curve
from dpcore.runs.expected import duration
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.plan import plan

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(model="mlp", epochs=0.2)
STEPS = plan(CONFIG).steps
PATIENCE = 60.0  # seconds


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    with Store() as store:
        yield store


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


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *words: str) -> None:
        ours, theirs = pty.openpty()
        self._ours, self.text = ours, ""
        command = [sys.executable, "-m", "dpcore", "runs", *words]
        env = os.environ | {"TERM": "xterm", "COLUMNS": "140", "LINES": "40"}
        self.process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)

    def until(self, words: str) -> str:
        """All that it has shown by the time that the words are on it."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.text:
            assert time.monotonic() < deadline, self.text[-2000:]
            self._read()
        return self.text

    def ended(self) -> int:
        """Its exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.text[-2000:]
            self._read()
        while self._read():
            pass
        os.close(self._ours)
        return self.process.returncode

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], 0.05)[0]:
            return False
        try:
            self.text += os.read(self._ours, 65_536).decode(errors="replace")
        except OSError:  # nobody writes any more
            return False
        return True


def plain(text: str) -> str:
    """A terminal's text without what moves and colours."""
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text)


@pytest.mark.long
def test_a_run_is_watched_until_it_ends_with_its_curve(store: Store) -> None:
    run = began(store, "[red]name[/red] \x1b]0;owned\x07")
    terminal = Terminal("show", run, "--watch")
    shown = terminal.until("25.0%")
    assert "owned\x07" not in shown
    assert "[red]name[/red]" in plain(shown)
    assert "running" in shown
    assert f"{duration((STEPS - 1) / 2)} left" in shown
    finish(store, run)
    assert terminal.ended() == 0
    last = plain(terminal.text).split("test accuracy")[-1]
    assert " 62.5% |" in last
    assert last.count("•") == 2
    assert f"step {STEPS}, accuracy 62.5%" in plain(terminal.text)


@pytest.mark.long
def test_ctrl_c_ends_the_watching_and_not_the_run(store: Store) -> None:
    run = began(store)
    for words in (("show", run, "--watch"), ("list", "--watch")):
        terminal = Terminal(*words)
        assert "step 1" in terminal.until(run) + terminal.until("accuracy 25.0%")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.text
    assert store.run(run).status is Status.RUNNING
    assert not store.run(run).cancelling


def test_the_list_shows_who_waits_and_who_has_gone(store: Store) -> None:
    run, waiting = began(store), store.submit(CONFIG, "next")
    terminal = Terminal("list", "--watch")
    terminal.until(waiting)
    assert "queued, number 1" in terminal.text
    finish(store, run)
    store.cancel(waiting)
    terminal.until("Nothing runs or waits.")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.ended() == 0


@pytest.mark.long
@pytest.mark.parametrize("as_json", [True, False])
def test_behind_a_pipe_the_events_are_printed_as_they_come(store: Store, as_json: bool) -> None:
    run = began(store)
    words = [sys.executable, "-m", "dpcore", "runs", "show", run, "--watch", *(["--json"] if as_json else [])]
    child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    lines = [child.stdout.readline() for _ in range(3)]
    finish(store, run)
    rest, _ = child.communicate(timeout=PATIENCE)
    lines += rest.splitlines(keepends=True)
    assert child.returncode == 0
    assert len(lines) == 5
    if as_json:
        assert [json.loads(line) for line in lines] == [json.loads(body) for _, body in store.bodies(run)]
    else:
        assert lines[-1].startswith(f"done: {STEPS} steps")


@pytest.mark.long
def test_a_run_that_has_ended_is_shown_once(store: Store) -> None:
    run = began(store)
    finish(store, run)
    terminal = Terminal("show", run, "--watch")
    assert terminal.ended() == 0
    assert "finished" in terminal.text


def test_a_curve_of_one_point_or_of_a_run_that_learns_nothing_is_a_line() -> None:
    assert curve([(1, 0.5)], 1)[0].startswith(" 50.0% |")
    assert curve([(1, 0.1), (9, 0.1)], 9)[0].count("•") == 2
