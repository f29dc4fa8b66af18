"""A worker process: it warms up, claims one job, does it, and ends.

A pool starts it as `python -m dpcore.runs.worker`. One process does one job, so nothing of a run (memory, random
state, threads) reaches the next one. It ends with its parent while it waits, but not while it trains.
"""

import json
import math
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

from dpcore.runs.holding import Holding
from dpcore.runs.limits import limits_of, overdue
from dpcore.runs.record import Run, Status, StoreError, checkpoint_path, device_path, worker_name
from dpcore.runs.resume import NotContinued, Train, job_events
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started

WORDS = ("out of memory", "can't allocate memory", "not enough memory")
SIZE = re.compile(r"allocate ([\d.,]+ ?(?:bytes|[KMGTP]i?B))")
WAY_OUT = (
    "Choose fewer views, a smaller model or a smaller batch, let fewer runs share the device, or end other programs. "
    "Resume continues from its last checkpoint."
)


def shortage(error: BaseException) -> str:
    """The advice for an error of short memory; "" for any other.

    If a GPU ran short while it summed a batch, the parts were already as small as possible. If it ran short before, a
    smaller batch does not help, but fewer views do: all data lie there with their views.

    >>> shortage(MemoryError("Unable to allocate 3.2 GiB for an array"))[:69]
    'This run does not fit into memory, which lacks 3.2 GiB. Choose fewer '
    """
    text = str(error)
    short = isinstance(error, RuntimeError) and any(word in text.lower() for word in WORDS)
    if not (short or isinstance(error, MemoryError)):
        return ""
    found = SIZE.search(text)
    return f"This run does not fit into memory{f', which lacks {found[1]}' if found else ''}. {WAY_OUT}"


def with_advice(error: BaseException, traceback: str) -> str:
    """The traceback of an error, with advice as its last line if there is any."""
    return f"{traceback.rstrip()}\n{shortage(error)}\n" if shortage(error) else traceback


Noted = TypeVar("Noted")

POLL = 0.05  # seconds between two looks for a run
WATCH = 0.1  # seconds between two looks for a cancellation
BEAT = 1.0  # seconds between two heartbeats
PATIENCE = 30  # attempts, a second apart, to note an event or the end of a run
NICENESS = 5  # the sliders of the pages go first


class Interrupted(BaseException):
    """SIGTERM arrived at a moment that allows it."""


class Interrupts:
    """Note a signal, and raise an error for it inside `allowed`, so never within a transaction of the store.

    With `always` it raises anywhere. Only the main thread notes signals.
    """

    def __init__(
        self, number: signal.Signals = signal.SIGTERM, error: type[BaseException] = Interrupted, *, always: bool = False
    ) -> None:
        self.asked, self._number, self._error, self._always, self._open = False, number, error, always, always
        self.heed()

    def heed(self) -> None:
        """Note the signal from now on, even if another handler has replaced this one."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(self._number, self._note)

    def _note(self, *_: object) -> None:
        self.asked = True
        if self._open:
            self._open = self._always
            raise self._error

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the signal, even an earlier one, raise the error here."""
        self._open = True
        try:
            if self.asked:
                raise self._error
            yield
        finally:
            self._open = False


class Pulse(threading.Thread):
    """Note between events that the worker is alive, and call `interrupt` once its run must stop.

    It must also stop after `longest()` seconds of `clock`; then `overdue` is that number.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        worker: str | None,
        interrupt: Callable[[], None],
        longest: Callable[[], float] = lambda: math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(daemon=True)
        self._store, self._run, self._worker, self._interrupt = store, run, worker, interrupt
        self._longest, self._clock, self._since = longest, clock, clock()
        self._beaten, self._interrupted = -math.inf, False
        self.overdue: float | None = None
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(WATCH):
            with suppress(StoreError):  # the main thread meets it too, and then the run fails
                self.look()

    def look(self) -> None:
        """Check once whether the run must stop, and note that its worker lives."""
        if not self._interrupted and self._store.stopping(self._run, self._worker):
            self._interrupted = True
            self._interrupt()
        now = self._clock()
        if now - self._beaten > BEAT:
            self._beaten = now
            self._store.beat(self._run, self._worker)
            if not self._interrupted and now - self._since > (longest := self._longest()):
                self.overdue, self._interrupted = longest, True
                self._interrupt()

    def __enter__(self) -> "Pulse":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()


def _interrupt_main() -> None:
    # to the main thread itself, so that it wakes where it sleeps
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def perform(
    store: Store, run: Run, train: Train, interrupts: Interrupts, pause: Callable[[float], object] = time.sleep
) -> None:
    """Do a claimed job, a training run by `train`, and record its events and its end.

    `pause` waits while the store cannot take them. StoreError if that lasts: once this process ends, the job is free.
    """
    with Pulse(store, run.id, run.worker, _interrupt_main, partial(longest_here, store.home)) as pulse:
        ended = _outcome(store, run, train, interrupts, pulse, pause)
    note = partial(store.end, run.id, *ended, run.worker) if ended else partial(_leave, store, run)
    if _patiently(note, pause) and ended and ended[0] is Status.FINISHED:  # else another worker may have the run
        checkpoint_path(store.home, run.id).unlink(missing_ok=True)


def longest_here(home: Path) -> float:
    """The seconds that a run may train; unlimited while the file of limits has an error."""
    try:
        return limits_of(home).seconds
    except StoreError:
        return math.inf


def _outcome(
    store: Store, run: Run, train: Train, interrupts: Interrupts, pulse: Pulse, pause: Callable[[float], object]
) -> tuple[Status, str | None] | None:
    """Do the job; its final status and the reason, or None if this worker has to leave it."""
    try:
        _train(store, run, train, interrupts, pause)
    except Interrupted:
        return (Status.FAILED, overdue(pulse.overdue)) if pulse.overdue else None
    except NotContinued as error:
        return Status.LOST, str(error)
    except StoreError:
        raise
    except Exception as error:  # it ends this run only, and the page shows its traceback
        return Status.FAILED, with_advice(error, traceback.format_exc())
    return Status.FINISHED, None


def _leave(store: Store, run: Run) -> None:
    """Leave the run to the next worker, unless it was cancelled or is another worker's."""
    if not store.give_back(run) and (now := store.run(run.id)).worker == run.worker:
        store.recover(now, "Its worker was told to end (SIGTERM).")


def _train(store: Store, run: Run, train: Train, interrupts: Interrupts, pause: Callable[[float], object]) -> None:
    """Append every event; Interrupted once the store says stop."""
    holding = Holding(store, run.id, pause)
    with interrupts.allowed():
        said = [event for _, event in store.tail(run.id)]
        events = job_events(store.home, run, store.secret(run.id), said, partial(train, clock=holding.clock))
    event = None
    while True:
        with interrupts.allowed():
            holding.wait(getattr(event, "step", 0))
            event = next(events, None)
        if event is None:
            holding.end()
            return
        if _patiently(partial(store.append, run.id, event, run.worker), pause):
            with interrupts.allowed():
                events.close()
            holding.end()
            raise Interrupted


def _patiently(note: Callable[[], Noted], pause: Callable[[float], object]) -> Noted:
    """Note something in the store, even if the disk is full or another process holds the store for a while."""
    for _ in range(PATIENCE - 1):
        try:
            return note()
        except StoreError:
            pause(1.0)
    return note()


def wait(store: Store, parent: int, slots: int, interrupts: Interrupts, devices: Sequence[str] = ()) -> Run | None:
    """Wait for a job; None once the parent is gone or SIGTERM came."""
    while os.getppid() == parent and not interrupts.asked:
        if run := store.claim(worker_name(os.getpid()), slots, devices):
            return run
        time.sleep(POLL)
    return None


def warm_up(train: Train, home: Path, devices: Sequence[str] = ()) -> None:
    """Train one step for nothing: the first step of a process pays for much that later ones find done.

    It runs on the device of the runs that the worker will take, and notes the default device for the pages, which do
    not load torch.
    """
    device = "cpu" if devices and "auto" not in devices else "auto"
    for event in train(RunConfig(epochs=1e-6, device=device)):
        if isinstance(event, Started) and device == "auto":
            with suppress(OSError):  # a full disk keeps nobody from training
                device_path(home).write_text(event.device, encoding="utf-8")


def take_part(memory: float) -> None:
    """Bound the part of the GPU's memory that this process takes, if there is a GPU.

    Beyond it an allocation fails as in a full memory, and batches are summed in smaller parts.
    """
    import torch  # late: it takes seconds

    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(memory)


def main() -> None:
    """Import, warm up unless a job is waiting, claim, work, end; `Worker` gives the home, and options as JSON."""
    home, options = sys.argv[1], json.loads(sys.argv[2])
    os.nice(NICENESS)
    train, devices = resolve_name(options["train"]), options["devices"]
    if options["memory"]:
        take_part(options["memory"])
    with Store(home) as store:
        if options["warm_up"] and not store.runs(Status.QUEUED, kind=None):
            warm_up(train, store.home, devices)
        interrupts = Interrupts()  # until here SIGTERM may simply end the process: nothing is claimed
        if run := wait(store, options["parent"], options["count"], interrupts, devices):
            perform(store, run, train, interrupts)


if __name__ == "__main__":
    main()
