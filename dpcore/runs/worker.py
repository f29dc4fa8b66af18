"""A working process: it warms up, claims one run or job of another kind, does it, and ends.

Started by a pool as `python -m dpcore.runs.worker`. One process does one job, so that nothing of a run (memory,
random state, threads) reaches the next one. While it waits it ends with its parent; once it trains it goes on without.
"""

import argparse
import importlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpcore.runs.kinds import TRAINING, kind_named
from dpcore.runs.record import Run, Status, StoreError, checkpoint_path, device_path, worker_name
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Started

# of a configuration, with `file`, where its state is kept, `planned`, its plan, and `secret`, its seed
Train = Callable[..., Generator[Event, None, None]]

POLL = 0.05  # seconds between two looks for a run
WATCH = 0.1  # seconds between two looks for a cancellation
BEAT = 1.0  # seconds between two heartbeats
PATIENCE = 30  # attempts, a second apart, to note how a run ended
NICENESS = 5  # the pages' sliders go before training


class Interrupted(BaseException):
    """SIGTERM arrived while it was allowed to."""


class Interrupts:
    """Turns SIGTERM into Interrupted inside `allowed`, so never within a transaction of the store."""

    def __init__(self) -> None:
        self.asked = False
        self._open = False
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, *_: object) -> None:
        self.asked = True
        if self._open:
            self._open = False
            raise Interrupted

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Where SIGTERM, also one from before, raises Interrupted."""
        self._open = True
        try:
            if self.asked:
                raise Interrupted
            yield
        finally:
            self._open = False


class Pulse(threading.Thread):
    """Between events: notes that the worker is alive, and calls `interrupt` once its run must stop."""

    def __init__(self, store: Store, run: str, interrupt: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._store, self._run, self._interrupt, self._done = store, run, interrupt, threading.Event()

    def run(self) -> None:
        beaten, interrupted = 0.0, False
        while not self._done.wait(WATCH):
            try:
                if not interrupted and self._store.stopping(self._run):
                    interrupted = True
                    self._interrupt()
                if time.monotonic() - beaten > BEAT:
                    beaten = time.monotonic()
                    self._store.beat(self._run)
            except StoreError:  # the main thread meets it too, and fails the run
                continue

    def __enter__(self) -> "Pulse":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()


def _interrupt_main() -> None:
    # to the main thread itself, so that it wakes where it sleeps
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def perform(store: Store, run: Run, train: Train, interrupts: Interrupts) -> None:
    """Do a claimed job, a training run by `train`, and record its events and how it ended."""
    with Pulse(store, run.id, _interrupt_main):
        try:
            _train(store, run, train, interrupts)
        except Interrupted:
            reason = "Its worker was told to end (SIGTERM)."
            _patiently(lambda: store.give_back(run) or store.lose(run.id, reason))
        except Exception:  # whatever it is, it ends this run only, and the page shows its traceback
            error = traceback.format_exc()
            _patiently(lambda: store.end(run.id, Status.FAILED, error))
        else:
            _patiently(lambda: store.end(run.id, Status.FINISHED))
            checkpoint_path(store.home, run.id).unlink(missing_ok=True)


def _train(store: Store, run: Run, train: Train, interrupts: Interrupts) -> None:
    """Append every event; Interrupted where the store says stop."""
    with interrupts.allowed():
        events = _events(store, run, train)
    while True:
        with interrupts.allowed():
            event = next(events, None)
        if event is None:
            return
        if store.append(run.id, event):
            with interrupts.allowed():
                events.close()
            raise Interrupted


def _events(store: Store, run: Run, train: Train) -> Generator[Event, None, None]:
    secret = store.secret(run.id)
    if run.kind == TRAINING.name:
        return train(run.config, file=checkpoint_path(store.home, run.id), planned=run.plan, secret=secret)
    return load(kind_named(run.kind).work)(run.request, secret=secret)


def _patiently(note: Callable[[], bool]) -> None:
    """Note how a run ended, also where the disk is full for a moment."""
    for _ in range(PATIENCE - 1):
        try:
            note()
            return
        except StoreError:
            time.sleep(1)
    note()


def wait(store: Store, parent: int, slots: int, interrupts: Interrupts) -> Run | None:
    """The job to do, or None once the parent is gone or SIGTERM came."""
    while os.getppid() == parent and not interrupts.asked:
        if run := store.claim(worker_name(os.getpid()), slots):
            return run
        time.sleep(POLL)
    return None


def warm_up(train: Train, home: Path) -> None:
    """One step of a default run, thrown away: the first step of a process pays for much that later ones find done.

    The pages, which do not load torch, learn from it which device runs train on.
    """
    for event in train(RunConfig(epochs=1e-6)):
        if isinstance(event, Started):
            with suppress(OSError):  # a full disk keeps nobody from training
                device_path(home).write_text(event.device, encoding="utf-8")


def load(work: str) -> Train:
    """The function that "module:name" names."""
    module, _, name = work.partition(":")
    return getattr(importlib.import_module(module), name)


def main() -> None:
    """Import, warm up unless a job is waiting, claim, work, end."""
    parser = argparse.ArgumentParser(prog="dpcore.runs.worker", description=__doc__)
    parser.add_argument("--home", required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--train", required=True)
    parser.add_argument("--warm-up", action="store_true")
    options = parser.parse_args()
    os.nice(NICENESS)
    train = load(options.train)
    with Store(options.home) as store:
        if options.warm_up and not store.runs(Status.QUEUED, kind=None):
            warm_up(train, store.home)
        interrupts = Interrupts()  # until here SIGTERM may simply end the process: nothing is claimed
        if run := wait(store, options.parent, options.slots, interrupts):
            perform(store, run, train, interrupts)


if __name__ == "__main__":
    main()
