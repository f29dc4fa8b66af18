"""A store that an older version made opens with all its runs; whatever is asked of one, it agrees
with a model.
"""

import json
import sqlite3
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpcore.runs.kinds import event_to_json
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.store_file import FILE, VERSION, sql_of
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started
from dpcore.training.plan import plan

FIRST = """
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of submission
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'queued',
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    heartbeat REAL,
    worker TEXT,
    cancelling INTEGER NOT NULL DEFAULT 0,
    error TEXT
);
CREATE INDEX runs_by_status ON runs (status, number);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
SETTINGS = {  # of a run, as version 1 stored it
    "dataset": "mnist", "source": "sample", "model": "cnn",
    "activation": "tanh", "optimizer": "sgd",
    "private": True,
    "sigma": 1.5, "batch": 256, "clip_norm": 0.1, "lr": 1.0, "momentum": 0.9, "epochs": 2.0,
    "delta": 1e-05,
    "seed": 3,
    "device": "auto", "clipping": "flat", "reading": "scaled", "schedule": "constant", "rate": 0.0,
    "level_steps": 0,
    "lr_schedule": "constant", "lr_end": 0.0, "lr_epochs": 0.0, "ema": 0.0, "acceptance": "none",
    "sa_q0": 10.0,
    "sa_mu0": 10, "public": 0, "pca": 0, "pca_sigma": 7.0, "relevance_sigma": 10.0,
    "stop_epsilon": 0.0,
    "stop_accountant": "pld",
}  # fmt: skip
SAID = [Started(10_000, 79, 0.0256, "cpu", 26_010, "book-keeping"), Finished(79, 3.0, 0.9)]


@pytest.fixture(params=range(1, VERSION))
def old(home: Path, request: pytest.FixtureRequest) -> Path:
    """A store of an older version with a run that has finished and one that waits."""
    home.mkdir(exist_ok=True)
    db = sqlite3.connect(home / FILE)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(FIRST)
    changes = sql_of("updates").split("-- version ")  # the first one, to version 2, is at place 1
    for version in range(2, request.param + 1):
        db.executescript(f"-- {changes[version - 1]} PRAGMA user_version = {version};")
    insert = "INSERT INTO runs (id, name, settings, status, created) VALUES (?, '', ?, ?, 1.0)"
    db.execute(insert, ("finishedrun", json.dumps(SETTINGS), "finished"))
    db.execute(insert, ("waitingrun", json.dumps(SETTINGS | {"optimizer": "adppl"}), "queued"))
    for number, event in enumerate(SAID, 1):
        db.execute(
            "INSERT INTO events VALUES ('finishedrun', ?, ?)",
            (number, json.dumps(event_to_json(event))),
        )
    db.commit()
    db.close()
    return home


def test_a_store_of_an_older_version_opens_with_all_its_runs_their_plans_and_their_fixed_seeds(
    old: Path,
) -> None:
    (old / FILE).chmod(0o644)
    with Store(old) as store:
        waiting, finished = store.runs()
        assert (finished.id, finished.status, finished.last) == (
            "finishedrun",
            Status.FINISHED,
            SAID[-1],
        )
        assert finished.config == RunConfig.from_json(SETTINGS)
        assert finished.config.sigma == 1.5
        assert store.events("finishedrun") == SAID
        assert (waiting.id, waiting.position) == ("waitingrun", 1)
        for run in (waiting, finished):
            assert (run.kind, run.stored_plan, run.plan) == ("training", None, plan(run.config))
            assert (run.config.seed, store.secret(run.id)) == (3, None)
        store.post("any", "1")
        modes = {file.name: file.stat().st_mode & 0o777 for file in old.glob(f"{FILE}*")}
        # Private from then on.
        assert modes == dict.fromkeys((FILE, f"{FILE}-wal", f"{FILE}-shm"), 0o600)


def test_it_takes_new_runs_and_opens_again_with_the_tables_of_a_new_one(
    old: Path, tmp_path: Path
) -> None:
    with Store(old) as store:
        new = store.submit(RunConfig(epochs=1.0))
    with Store(old) as store:
        assert [run.id for run in store.runs()] == [new, "waitingrun", "finishedrun"]
        assert store.run(new).plan == plan(RunConfig(epochs=1.0))
        claimed = store.claim("here:1")
        assert claimed
        assert claimed.id == "waitingrun"
    Store(tmp_path / "new").close()
    columns = []
    for home in (old, tmp_path / "new"):
        db = sqlite3.connect(home / FILE)
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
        names = [
            name
            for (name,) in db.execute(
                "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
            )
        ]
        columns.append(
            {name: {row[1:5] for row in db.execute(f"PRAGMA table_info({name})")} for name in names}
        )
        db.close()
    assert columns[0] == columns[1]


def test_a_store_that_was_put_back_for_all_to_read_is_private_once_it_is_opened(home: Path) -> None:
    Store(home).close()
    (home / FILE).chmod(0o644)
    with Store(home) as store:
        store.submit(RunConfig())
        assert {file.stat().st_mode & 0o777 for file in home.glob(f"{FILE}*")} == {0o600}


FINAL = [Status.FINISHED, Status.CANCELLED, Status.FAILED, Status.LOST]
any_run = st.integers(0, 30)


@dataclass
class Expected:
    """What a run should be."""

    id: str
    status: Status = Status.QUEUED
    cancelling: bool = False
    events: list[Finished] = field(default_factory=list)


class Stores(RuleBasedStateMachine):
    """A store beside its model."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.store = Store(self.directory.name)
        self.model: list[Expected] = []

    def pick(self, number: int) -> Expected:
        """One of the runs."""
        return self.model[number % len(self.model)]

    @rule()
    def submit(self) -> None:
        self.model.append(Expected(self.store.submit(RunConfig())))

    @rule(limit=st.integers(1, 3))
    def claim(self, limit: int) -> None:
        queued = [run for run in self.model if run.status is Status.QUEUED]
        running = [run for run in self.model if run.status is Status.RUNNING]
        claimed = self.store.claim("here:1", limit)
        if queued and len(running) < limit:
            queued[0].status = Status.RUNNING
            assert claimed is not None
            assert claimed.id == queued[0].id
        else:
            assert claimed is None

    @precondition(lambda self: self.model)
    @rule(number=any_run, step=st.integers(0, 9))
    def append(self, number: int, step: int) -> None:
        run, event = self.pick(number), Finished(step, 1.0, 0.5)
        runs = run.status is Status.RUNNING
        assert self.store.append(run.id, event) is (not runs or run.cancelling)
        if runs:
            run.events.append(event)

    @precondition(lambda self: self.model)
    @rule(number=any_run)
    def cancel(self, number: int) -> None:
        run = self.pick(number)
        if run.status in (Status.QUEUED, Status.RUNNING):
            run.cancelling = True
        if run.status is Status.QUEUED:
            run.status = Status.CANCELLED
        assert self.store.cancel(run.id) is run.status

    @precondition(lambda self: self.model)
    @rule(number=any_run, status=st.sampled_from(FINAL))
    def end(self, number: int, status: Status) -> None:
        run = self.pick(number)
        self.store.beat(run.id)
        assert self.store.end(run.id, status) is (run.status is Status.RUNNING)
        if run.status is Status.RUNNING:
            run.status = status

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.directory.name)

    @invariant()
    def agrees(self) -> None:
        queued = [run.id for run in self.model if run.status is Status.QUEUED]
        runs = self.store.runs()
        assert [run.id for run in runs] == [run.id for run in self.model[::-1]]
        for run, expected in zip(runs, self.model[::-1], strict=True):
            assert self.store.stopping(run.id) is (
                run.status is not Status.RUNNING or run.cancelling
            )
            assert (run.status, run.cancelling) == (expected.status, expected.cancelling)
            assert self.store.events(run.id) == expected.events
            numbers = [number for number, _ in self.store.bodies(run.id)]
            assert numbers == list(range(1, len(numbers) + 1))
            assert run.position == (queued.index(run.id) + 1 if run.id in queued else None)
            assert (run.ended is None) is run.active

    def teardown(self) -> None:
        self.store.close()
        self.directory.cleanup()


TestStores = Stores.TestCase
