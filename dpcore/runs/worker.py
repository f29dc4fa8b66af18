"""A worker process: it warms up, claims one job, does it, and ends.

A pool starts it as `python -m dpcore.runs.worker`. One process does one job, so nothing of a run
(memory, random state, threads) reaches the next one. It ends with its parent while it waits, but
not while it trains.
"""

import json
import math
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

from dpcore.data.loading import load
from dpcore.runs.holding import Holding
from dpcore.runs.lifecycle import Status
from dpcore.runs.limits import limits_of, overdue
from dpcore.runs.record import Run, StoreError, note_device, worker_name
from dpcore.runs.resume import NotContinued, Train, job_events
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import suited_features
from dpcore.training.events import Started, Stepped

WORDS = ("out of memory", "can't allocate memory", "not enough memory")
SIZE = re.compile(r"allocate ([\d.,]+ ?(?:bytes|[KMGTP]i?B))")
WAY_OUT = (
    "Choose fewer views, a smaller model or a smaller batch, let fewer runs share the device, or"
    " end other programs. Resume continues from its last checkpoint."
)


def shortage(error: BaseException) -> str:
    """The advice for an error of short memory; "" for any other.

    If a GPU ran short while it summed a batch, the parts were already as small as possible. If it
    ran short before, a smaller batch does not help, but fewer views do: all data lie there with
    their views.

    >>> shortage(MemoryError("Unable to allocate 3.2 GiB for an array"))[:69]
    'This run does not fit into memory, which lacks 3.2 GiB. Choose fewer '
    """
    text = str(error)
    short = isinstance(error, RuntimeError) and any(word in text.lower() for word in WORDS)
    if not (short or isinstance(error, MemoryError)):
        return ""
    found = SIZE.search(text)
    size = f", which lacks {found[1]}" if found else ""
    return f"This run does not fit into memory{size}. {WAY_OUT}"


def ended_by(error: Exception) -> tuple[Status, str]:
    """The status of a run that an error ended, and its traceback, with any advice as last line."""
    if isinstance(error, NotContinued):
        return Status.LOST, str(error)
    trace = "".join(traceback.format_exception(error))
    advice = shortage(error)
    if advice:
        trace = f"{trace.rstrip()}\n{advice}\n"
    return Status.FAILED, trace


Noted = TypeVar("Noted")

POLL = 0.05  # seconds between two looks for a run
WATCH = 0.1  # seconds between two looks for a cancellation
BEAT = 1.0  # seconds between two heartbeats
PATIENCE = 30  # attempts, a second apart, to note an event or the end of a run
NICENESS = 5  # the sliders of the pages go first
SAMPLES = ("mnist", "fashion_mnist")  # whose features are there before anybody asks


class Pulse(threading.Thread):
    """Note between events that the worker is alive, and call `interrupt` once its run must stop.

    It calls `check` with each of these heartbeats, and `interrupt` again if that raises StoreError.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        worker: str | None,
        interrupt: Callable[[], None],
        check: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(daemon=True)
        self._store = store
        self._run = run
        self._worker = worker
        self._interrupt = interrupt
        self._check = check
        self._clock = clock
        self._beaten = -math.inf  # when, by the clock
        self._interrupted = False
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(WATCH):
            with suppress(StoreError):  # the main thread meets it too, and then the run fails
                self.look()

    def look(self) -> None:
        """Check once whether the run must stop, and note that its worker lives."""
        if not self._interrupted and self._store.stopping(self._run, self._worker):
            self._interrupt()
            self._interrupted = True
        now = self._clock()
        if now - self._beaten > BEAT:
            self._beaten = now
            self._store.beat(self._run, self._worker)
            self._check()

    def __enter__(self) -> "Pulse":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()


def perform(
    store: Store,
    run: Run,
    train: Train,
    pause: Callable[[float], object] = time.sleep,
    leave: Callable[[int], object] = os._exit,
) -> None:
    """Do a claimed job, a training run by `train`, and record its events and its end.

    Once the run is cancelled or overdue, this process ends by `leave`, in whatever step it is:
    store and checkpoint are written whole. `pause` waits while the store cannot take events.
    StoreError if that lasts: once this process ends, the job is free.
    """
    holding = Holding(store, run.id, pause)

    def end(status: Status, error: str | None) -> None:
        if store.end(run.id, status, error, run.worker):  # else another worker may have the run
            holding.end()

    def stop(status: Status = Status.CANCELLED, error: str | None = None) -> None:
        end(status, error)
        leave(0)

    def check() -> None:
        longest = longest_here(store.home)
        if holding.clock() > longest:
            stop(Status.FAILED, overdue(longest))

    with Pulse(store, run.id, run.worker, stop, check):
        ended = _outcome(store, run, train, holding, pause)
    _patiently(partial(end, *ended), pause)


def longest_here(home: Path) -> float:
    """The seconds that a run may train; unlimited while the file of limits has an error."""
    try:
        return limits_of(home).seconds
    except StoreError:
        return math.inf


def _outcome(
    store: Store, run: Run, train: Train, holding: Holding, pause: Callable[[float], object]
) -> tuple[Status, str | None]:
    """Do the job and append every event; its final status and the reason."""
    try:
        holding.wait(0)
        said = store.events(run.id)
        steps = partial(train, clock=holding.clock, held=lambda: holding.held)
        for event in job_events(store.home, run, store.secret(run.id), said, steps):
            if _patiently(partial(store.append, run.id, event, run.worker), pause):
                return Status.CANCELLED, None
            step = getattr(event, "step", 0)
            if isinstance(event, Stepped):  # a held run tests after it, and then waits
                holding.look(step)
            else:
                holding.wait(step)
    except StoreError:
        raise
    except Exception as error:  # it ends this run only, and the page shows its traceback
        return ended_by(error)
    return Status.FINISHED, None


def _patiently(note: Callable[[], Noted], pause: Callable[[float], object]) -> Noted:
    """Note something in the store, even if it is full or held by another process for a while."""
    for _ in range(PATIENCE - 1):
        try:
            return note()
        except StoreError:
            pause(1.0)
    return note()


def wait(store: Store, parent: int, slots: int, devices: Sequence[str] = ()) -> Run | None:
    """Wait for a job; None once the parent is gone."""
    while os.getppid() == parent:
        run = store.claim(worker_name(os.getpid()), slots, devices)
        if run:
            return run
        time.sleep(POLL)
    return None


def warm_up(train: Train, home: Path, devices: Sequence[str] = ()) -> None:
    """Train one step for nothing: the first step of a process pays for much that others need not.

    It runs on the device of the runs that the worker will take, and notes the default device for
    the pages, which do not load torch.
    """
    takes_default = not devices or "auto" in devices
    device = "auto" if takes_default else "cpu"
    for event in train(RunConfig(epochs=1e-6, device=device)):
        if isinstance(event, Started) and takes_default:
            with suppress(OSError):  # a full disk keeps nobody from training
                note_device(home, event.device)


def prepare_samples(store: Store) -> None:
    """Compute the features of the samples' defaults, for the first run ever, until a job waits."""
    from dpcore.training.features.cache import kept, load_or_compute  # late: it loads torch

    for dataset in SAMPLES:
        data = load(dataset, "sample")
        kind = suited_features(dataset)[0]
        for part in (data.train, data.test):
            if kept(part, kind, 1):
                continue
            for _ in load_or_compute(part, kind, 1):
                if store.runs(Status.QUEUED, kind=None):
                    return


def take_part(memory: float) -> None:
    """Bound the part of the GPU's memory that this process takes, if there is a GPU.

    Beyond it an allocation fails as in a full memory, and batches are summed in smaller parts.
    """
    import torch  # late: it takes seconds

    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(memory)


def main() -> None:
    """Warm up unless a job is waiting, claim a job, do it, end.

    `Worker` gives the home, and options as JSON.
    """
    home = sys.argv[1]
    options = json.loads(sys.argv[2])
    os.nice(NICENESS)
    train = resolve_name(options["train"])
    devices = options["devices"]
    if options["memory"]:
        take_part(options["memory"])
    with Store(home) as store:
        if options["warm_up"] and not store.runs(Status.QUEUED, kind=None):
            warm_up(train, store.home, devices)
            prepare_samples(store)
        run = wait(store, options["parent"], options["count"], devices)
        if run:
            perform(store, run, train)


if __name__ == "__main__":
    main()
