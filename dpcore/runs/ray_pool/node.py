"""The worker on a node: a Ray actor that does one run after another and answers who asks for news."""

import fcntl
import os
import shutil
import socket
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import dpcore
from dpcore.runs.kinds import TRAINING
from dpcore.runs.ray_pool.job import Job, News, news_of, take
from dpcore.runs.record import Run, Status, StoreError, device_here
from dpcore.runs.resume_job import NotContinued, job_events, load
from dpcore.runs.store import Store
from dpcore.runs.worker import take_part, warm_up, with_advice
from dpcore.runs.worker_process import FOR_RUNS

ABANDONED = 60.0  # seconds without a question after which an idle worker ends
UNHEARD = 86400.0  # and one whose run has ended
LOOK = 5.0  # seconds between two looks whether it has come to that
PREFIX = "dpcore-node-"


class NodeWorker:
    """Trains in a thread of its own, so that it answers meanwhile.

    What a run says is kept in a store on this node until the head says that it has all of it; so the head may end and
    come back, and a run goes on meanwhile.
    """

    def __init__(
        self,
        train: str,
        threads: int,
        gpus: float,
        leave: Callable[[int], object] = os._exit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        os.environ["OMP_NUM_THREADS"] = str(threads)  # before torch is loaded
        if not gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
        remove_left_behind(Path(tempfile.gettempdir()))
        self._home = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._alive = locked(self._home / "alive")
        self._train = load(train)
        if 0 < gpus < 1:  # others use it too
            take_part(FOR_RUNS * gpus)
        if train == TRAINING.work:  # another function need not end after one step
            warm_up(self._train, self._home)
        self._leave, self._clock, self._ended = leave, clock, threading.Event()
        self._store: Store | None = None
        self._run = ""
        self._asked = self._clock()
        threading.Thread(target=self._end_when_abandoned, daemon=True).start()

    def hello(self) -> dict[str, str]:
        """What the head wants to know of a worker that has warmed up."""
        self._asked = self._clock()
        device = device_here(self._home)
        return {"version": dpcore.__version__, "node": socket.gethostname(), "device": device}

    def work(self, job: Job, worker: str) -> None:
        """Begin a run under this worker's name; nothing, where it has begun already."""
        self._asked = self._clock()
        if self._run == job.run:
            return
        self.forget()
        self._store, self._run = take(job, self._home / job.run), job.run
        run = self._store.run(job.run)
        threading.Thread(target=self._do, args=(self._store, run, worker), daemon=True).start()

    def news(self, run: str, after: int) -> News | None:
        """What is new of a run behind event number `after`; None where it is not here."""
        self._asked = self._clock()
        return news_of(self._store, run, after) if self._store and run == self._run else None

    def cancel(self, run: str) -> None:
        """Have a run stop at its next event."""
        if self._store and run == self._run:
            self._store.cancel(run)

    def forget(self) -> None:
        """Remove what is kept of the last run: the head has it."""
        self._asked = self._clock()
        if self._store:
            self._store.close()
            shutil.rmtree(self._home / self._run, ignore_errors=True)
        self._store, self._run = None, ""

    def _do(self, store: Store, run: Run, worker: str) -> None:
        try:
            status, error = self._done(store, run, worker)
            store.end(run.id, status, error, worker)
        except StoreError:  # this node's disk is full, say: elsewhere the run can go on
            traceback.print_exc()
            self._end()

    def _done(self, store: Store, run: Run, worker: str) -> tuple[Status, str | None]:
        """Do a run: how it ended, and why."""
        try:
            events = job_events(store, run, self._train)
            for event in events:
                if store.append(run.id, event, worker):
                    events.close()
                    return Status.CANCELLED, None
        except StoreError:
            raise
        except NotContinued as error:
            return Status.LOST, str(error)
        except BaseException as error:  # whatever it is, it ends this run only, and the page shows its traceback
            return Status.FAILED, with_advice(error, traceback.format_exc())
        return Status.FINISHED, None

    def _end_when_abandoned(self) -> None:
        """End where no head asks any more: a run goes on to its end, and waits long to be fetched."""
        while not self._ended.wait(LOOK):
            if self.abandoned:
                self._end()

    @property
    def abandoned(self) -> bool:
        """Whether nobody has asked for so long that nobody will."""
        silent = self._clock() - self._asked
        return silent > UNHEARD or (silent > ABANDONED and not self._run)

    def _end(self) -> None:
        self._ended.set()
        shutil.rmtree(self._home, ignore_errors=True)
        self._alive.close()
        self._leave(1)


def remove_left_behind(folder: Path) -> None:
    """Remove what workers have left that were killed: their runs' secret seeds are in it."""
    for place in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another's, or its worker lives
            locked(place / "alive", "r+b").close()
            shutil.rmtree(place, ignore_errors=True)


def locked(path: Path, mode: str = "wb") -> IO[bytes]:
    """A file that this process alone has open; OSError where another has it."""
    file = open(path, mode)  # noqa: SIM115  # held as long as the process lives
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
