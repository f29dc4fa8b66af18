"""Pause a training run between two steps, as its reader asks.

A paused run keeps its state in memory. It draws and releases nothing, so its epsilon does not
change, and its own clock stands still.
"""

import time
from collections.abc import Callable
from contextlib import suppress

from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.training.events import REPORT_SECONDS

MAX_SECONDS = 600.0  # after which a held run goes on by itself: others wait for its place
GOES_ON = "go"  # what is posted of a run that is not held
POLL_SECONDS = 0.05  # between two looks whether it may go on


def can_be_held(store: Store, run: str) -> bool:
    """True while a worker of this machine trains the run: no cluster or command can pause one."""
    return store.board(_name(run)) is not None


def steps_granted(store: Store, run: str) -> int | None:
    """The number of steps that the run may take before it waits again; None if it is not held."""
    posted = store.board(_name(run))
    if posted is None or posted == GOES_ON:
        return None
    return int(posted or 0)


def hold(store: Store, run: str) -> None:
    """Hold the run after the step that it is at; one that is held may take one step more."""
    granted = steps_granted(store, run)
    steps = 0 if granted is None else granted + 1
    store.post(_name(run), str(steps))


def let_go(store: Store, run: str) -> None:
    """Let the run go on."""
    store.post(_name(run), GOES_ON)


def _name(run: str) -> str:
    return f"held {run}"


class Holding:
    """Keeps a run where it is while it is held, in the process that trains it."""

    def __init__(
        self,
        store: Store,
        run: str,
        pause: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._store = store
        self._run = run
        self._pause = pause
        self._clock = clock
        self._first: int | None = None  # the step after which it was held
        self._zero = clock()  # `clock` counts from here
        self._since: float | None = None  # when it began to wait
        with suppress(StoreError):  # a full disk keeps nobody from training
            if not can_be_held(store, run):  # another process may have left it held
                let_go(store, run)

    def clock(self) -> float:
        """Seconds of training, without those for which the run was held; it stands still meanwhile.

        Each wait counts for one pause between reports, so that the one step which may follow is
        reported at once.
        """
        now = self._clock() if self._since is None else self._since
        return now - self._zero

    @property
    def held(self) -> bool:
        """True if the run was held at the last look."""
        return self._first is not None

    def look(self, step: int) -> None:
        """Find out whether the run is held after this step, without a wait."""
        self._held(step)

    def wait(self, step: int) -> None:
        """Wait while the run is held after this step, for at most MAX_SECONDS."""
        if not self._held(step):
            return
        began = self._clock()
        self._since = began
        while self._held(step):
            if self._clock() - began > MAX_SECONDS:
                with suppress(StoreError):
                    let_go(self._store, self._run)
            self._pause(POLL_SECONDS)
        self._zero += self._clock() - began - REPORT_SECONDS
        self._since = None

    def end(self) -> None:
        """Note that the run can be held no more."""
        with suppress(StoreError):
            self._store.post(_name(self._run), None)

    def _held(self, step: int) -> bool:
        try:
            granted = steps_granted(self._store, self._run)
        except StoreError:  # the next event meets it too
            return False
        if granted is None:
            self._first = None
            return False
        if self._first is None:
            self._first = step
        return step >= self._first + granted
