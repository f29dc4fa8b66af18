"""What travels between the head and a node: a run with all that is needed to do it, and what is new of it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from dpcore.runs.kinds import event_from_json
from dpcore.runs.record import Run, Status, checkpoint_path, insert
from dpcore.runs.store import Store
from dpcore.training.checkpoint_header import private
from dpcore.training.events import Checkpointed, Unsaved

MOST = 256 * 2**20  # bytes that a checkpoint may have to travel


class Job(NamedTuple):
    """A claimed run, as the store of the head has it: its secret seed with it, so that it goes to one node only."""

    run: str
    row: dict[str, Any]  # of the run
    bodies: list[str]  # what it has said already
    checkpoint: bytes | None


class News(NamedTuple):
    """What a run has said behind the events that the head has, and how it stands."""

    bodies: list[str]
    checkpoint: bytes | None  # the newest, where one of these events says that it was written
    status: str
    error: str | None


def job_of(store: Store, run: Run) -> Job:
    """All that is needed to do a claimed run, or to go on with it."""
    with store.reading() as db:
        found = db.execute("SELECT * FROM runs WHERE id = ?", (run.id,)).fetchone()
    row = {name: found[name] for name in found.keys() if name != "number"}  # noqa: SIM118
    bodies = [body for _, body in store.bodies(run.id)]
    return Job(run.id, row, bodies, checkpoint_in(store, run.id))


def checkpoint_in(store: Store, run: str) -> bytes | None:
    """The run's last checkpoint, if it has one that is small enough to travel."""
    file = checkpoint_path(store.home, run)
    try:
        return file.read_bytes() if file.stat().st_size <= MOST else None
    except FileNotFoundError:
        return None


def take(job: Job, home: Path) -> Store:
    """A store of its own for a job, in which it runs as it does in that of the head."""
    store = Store(home)
    with store.writing() as db:
        insert(db, job.row)
        said = ((job.run, number, body) for number, body in enumerate(job.bodies, 1))
        db.executemany("INSERT INTO events VALUES (?, ?, ?)", said)
    if job.checkpoint:
        put(job.checkpoint, checkpoint_path(home, job.run))
    return store


def put(checkpoint: bytes, path: Path) -> None:
    """Write a checkpoint: the whole file or none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    with open(aside, "wb", opener=private) as file:
        file.write(checkpoint)
    aside.replace(path)


def news_of(store: Store, run: str, after: int) -> News:
    """What is new of a run behind event number `after`."""
    now = store.run(run)  # before the events: a run that has ended then has all of them
    saved = any(_is_saved(body) for _, body in store.bodies(run, after))
    checkpoint = checkpoint_in(store, run) if saved else None
    bodies = [body for _, body in store.bodies(run, after)]  # after the file: they reach at least as far
    return News(bodies, checkpoint, now.status, now.error)


def record(store: Store, run: Run, after: int, news: News, worker: str) -> int:
    """Put what is new behind event `after` into the store of the head, unless the run was taken from the worker.

    How many events it is.
    """
    last = max((number for number, body in enumerate(news.bodies) if _is_saved(body)), default=None)
    for number, body in enumerate(news.bodies):
        event = event_from_json(run.kind, json.loads(body))
        if number == last and news.checkpoint:
            put(news.checkpoint, checkpoint_path(store.home, run.id))
        if isinstance(event, Checkpointed) and not news.checkpoint:
            event = Unsaved(event.step, f"it is larger than {MOST // 2**20} MB, too large to leave its node")
        store.append(run.id, event, worker)
    return len(news.bodies)


def ended(news: News) -> bool:
    """Whether the run does not go on."""
    return news.status not in (Status.QUEUED, Status.RUNNING)


def _is_saved(body: str) -> bool:
    return body.startswith('{"event": "checkpointed"')
