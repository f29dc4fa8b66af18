"""What of an ended run its rest begins with: the events up to its checkpoint, all of them or none."""

import json
import os
import shutil
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.resume import resume
from dpcore.runs.store import Store
from dpcore.training.accounting import first_steps
from dpcore.training.checkpoint_header import Label, write_label
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated, Event, Started, Stepped

CONFIG = RunConfig()
STARTED = Started(10_000, 98, 0.05, "cpu", 26_010, "book-keeping")


def stepped(step: int) -> Stepped:
    return Stepped(step, step / 20, 1.0, 0.5, (0.1,) * 5, 20.0)


def evaluated(step: int) -> Evaluated:
    return Evaluated(step, step / 20, 0.5, 1.0, (0.5,) * 10)


def ended(store: Store, events: list[Event], saved: int | None) -> str:
    """A lost run with these events, and a checkpoint after so many steps."""
    run = store.submit(CONFIG, worker="here:1")
    for event in events:
        store.append(run, event)
    store.end(run, Status.LOST)
    if saved is not None:
        path = checkpoint_path(store.home, run)
        path.parent.mkdir(exist_ok=True)
        with open(path, "wb") as file:
            write_label(file, Label(saved, CONFIG.chosen(), {}, "", ""))
            file.write(b"the state")
    return run


def rest(store: Store, run: str) -> tuple[list[Event], Path]:
    """The events that the rest of a run begins with, and where its checkpoint would be."""
    new = resume(store, run)
    return [event for _, event in store.tail(new)], checkpoint_path(store.home, new)


def test_it_begins_with_the_events_up_to_the_checkpoint(store: Store) -> None:
    told: list[Event] = [STARTED, stepped(1), stepped(9), evaluated(9), Checkpointed(9)]
    said, file = rest(store, ended(store, [*told, stepped(12), evaluated(12)], saved=9))
    assert said == told
    assert file.read_bytes().endswith(b"the state")


@pytest.mark.parametrize("earlier", [[], [Checkpointed(1)]], ids=["first", "second"])
def test_a_checkpoint_that_was_not_recorded_is_made_up_for_where_all_its_steps_were(
    store: Store, earlier: list[Event]
) -> None:
    told = [STARTED, stepped(1), *earlier, evaluated(9), stepped(9)]
    said, file = rest(store, ended(store, told, saved=9))
    assert said == [*told, Checkpointed(9)]
    assert file.exists()


@pytest.mark.parametrize(
    "told",
    [[], [STARTED], [STARTED, stepped(1), Checkpointed(1), evaluated(9)], [stepped(9)], [STARTED, stepped(12)]],
    ids=["nothing", "no step", "not the last steps", "no start", "later steps only"],
)
def test_where_events_up_to_the_checkpoint_are_missing_it_begins_anew_without_the_file(
    store: Store, told: list[Event]
) -> None:
    run = ended(store, told, saved=9)
    said, file = rest(store, run)
    assert said == []
    assert not file.exists()
    assert checkpoint_path(store.home, run).exists()


def test_a_rest_can_be_resumed_like_the_run_itself(store: Store) -> None:
    told: list[Event] = [STARTED, stepped(9), Checkpointed(9)]
    new = resume(store, ended(store, told, saved=9), worker="here:1")
    store.append(new, stepped(12))
    store.end(new, Status.FAILED)
    assert rest(store, new)[0] == told


def test_a_rest_has_the_plan_that_the_run_was_trained_by(store: Store) -> None:
    run = ended(store, [STARTED], saved=None)
    plan = store.run(run).plan
    shorter = replace(plan, steps=9, drawn=first_steps(plan.drawn, 9), charged=first_steps(plan.charged, 9))
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE runs SET plan = ?", (json.dumps(shorter.to_json()),))
    db.close()
    assert store.run(resume(store, run)).plan == shorter


def test_the_copy_of_a_checkpoint_is_private_from_its_first_byte(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ended(store, [STARTED, stepped(9), Checkpointed(9)], saved=9)
    (store.home / "checkpoints").chmod(0o755)  # as an older version left it
    copied, modes = shutil.copyfileobj, []

    def looked_at(source: IO[bytes], target: IO[bytes], *length: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(target.fileno()).st_mode))
        copied(source, target, *length)

    monkeypatch.setattr(shutil, "copyfileobj", looked_at)
    _, file = rest(store, run)
    assert modes == [0o600]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == checkpoint_path(store.home, run).read_bytes()


def test_a_rest_that_cannot_be_recorded_leaves_no_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ended(store, [STARTED, stepped(9), Checkpointed(9)], saved=9)

    def full(*_: object, **__: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(store, "submit_as", full)
    with pytest.raises(OSError, match="no room"):
        resume(store, run)
    assert list((store.home / "checkpoints").iterdir()) == [checkpoint_path(store.home, run)]
