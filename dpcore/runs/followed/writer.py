"""The thread that writes what a followed training tells, so that no step of it waits for a disk."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dpcore.runs.followed.count import Phase, epoch_of, releases_of
from dpcore.runs.followed.events import Stepped
from dpcore.runs.followed.keeping import Kept, Written, plan_of
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import StoreError
from dpcore.training.events import REPORT_SECONDS

LEAST_AHEAD = 8  # steps that are stored before they are taken
AHEAD_SECONDS = 1.0  # of steps, if there are more
BEAT_SECONDS = 4.0  # between two signs of life of a training that tells nothing
REST = 0.03  # seconds between two writings, at least
SHARE = 100  # and so many times as long as a writing takes: a hundredth of a processor at most
MAX_PENDING = 100_000  # numbers that are kept for a store that cannot be written
WAIT_SECONDS = 1.0  # for which a step may wait for the store, once
END_SECONDS = 15.0  # for which the end of a run does
RETRY_SECONDS = 5.0
EVERYTHING = 2**62


class Told(NamedTuple):
    """The count in memory at one moment."""

    phases: Sequence[Phase]
    steps: int
    unaccounted: str
    stride: int  # steps that may be taken before the next are told


class Writer:
    """Writes a followed run in batches.

    **Guarantees:** while the store can be written, it holds at each moment at least one step more
    than `told` has; `covered` is that number. `failed` gets the reason when it cannot be written.
    """

    def __init__(self, kept: Kept, told: Callable[[], Told], failed: Callable[[str], None]) -> None:
        self.covered = 0
        self._kept = kept
        self._told = told
        self._failed = failed
        self._events: list[Any] = []
        self._lock = threading.Lock()  # one writing at a time
        self._wake = threading.Event()
        self._stop = False
        self._last = (0, time.monotonic())  # steps, when they were written
        self._beat = 0.0
        self.down = False  # the last writing failed
        self._thread = threading.Thread(target=self._serve, name="dpcore-follow", daemon=True)

    def start(self) -> None:
        """Write the run for the first time, and go on in the background."""
        self._last = (self._told().steps, time.monotonic())
        self._attempt(begins=True)
        try:
            self._thread.start()
        except RuntimeError as problem:  # the program ends, or has too many threads
            self._fail(f"{problem}.".capitalize())

    def add(self, *events: Any) -> None:
        """Write these events soon."""
        if len(self._events) < MAX_PENDING:
            self._events.extend(events)
        self._wake.set()

    def cover(self) -> None:
        """Have the store hold more steps than were told, unless it fails."""
        if self.down:
            self.covered = EVERYTHING
        else:
            self._attempt()

    def end(self, status: Status, error: str | None = None) -> bool:
        """Write all, and the exact number of steps; False if that is impossible."""
        self._stop = True
        self._wake.set()
        if not self._lock.acquire(timeout=END_SECONDS):
            self._failed("The store did not answer.")
            return False
        try:
            told = self._told()
            plan = plan_of(releases_of(told.phases, told.steps), told.unaccounted)
            self._write(told, Written(plan, (), status, error))
            self.covered = 0
            return True
        except (StoreError, OSError) as problem:
            self._failed(str(problem))
            return False
        finally:
            self._lock.release()

    def _serve(self) -> None:
        while not self._stop:
            self._wake.wait(RETRY_SECONDS if self.down else REPORT_SECONDS)
            self._wake.clear()
            if self._stop:
                return
            began = time.monotonic()
            self._attempt()
            took = time.monotonic() - began
            time.sleep(min(max(REST, SHARE * took), 1.0))
            if self.down:
                time.sleep(RETRY_SECONDS)

    def _attempt(self, *, begins: bool = False) -> None:
        """Write what is new, if anything is; a training never ends by what follows it."""
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            self._fail(f"The store did not answer within {WAIT_SECONDS:g} s.")
            return
        try:
            if not self._stop:
                self._news(begins=begins)
                self.down = False
        except (StoreError, OSError) as problem:
            self._fail(str(problem))
        except Exception as problem:
            self._fail(f"{type(problem).__name__}: {problem}")
        finally:
            self._lock.release()

    def _fail(self, reason: str) -> None:
        """From now on count in memory alone, until the store can be written again."""
        self.down = True
        self.covered = EVERYTHING
        self._failed(reason)

    def _news(self, *, begins: bool) -> None:
        told = self._told()
        before, _ = self._last
        now = time.monotonic()
        due = now - self._beat > BEAT_SECONDS
        lacking = told.steps >= self.covered
        ahead = self._ahead(told)
        too_far = self.covered != EVERYTHING and self.covered > told.steps + 2 * ahead
        nothing_new = told.steps == before and not self._events and not lacking
        if nothing_new and not (begins or due or too_far or self.down):
            return
        # The steps read below are known to obey the new end: a later one waits.
        self.covered = min(self.covered, told.steps + ahead)
        told = self._told()
        covered = told.steps + ahead
        plan = plan_of(releases_of(told.phases, covered), told.unaccounted)
        self._write(told, Written(plan, ()), begins=begins)
        self.covered = covered

    def _ahead(self, told: Told) -> int:
        before, when = self._last
        seconds = max(time.monotonic() - when, 1e-3)
        per_second = (told.steps - before) / seconds
        return max(LEAST_AHEAD, told.stride, int(per_second * AHEAD_SECONDS))

    def _write(self, told: Told, written: Written, *, begins: bool = False) -> None:
        """Write, with the events that wait and a report of the steps; they wait on if it fails."""
        count = len(self._events)
        events = self._events[:count]
        before, when = self._last
        now = time.monotonic()
        if told.steps > before or begins or written.end:
            pace = (told.steps - before) / max(now - when, 1e-3)
            phase = told.phases[-1]
            epoch = epoch_of(told.phases, told.steps)
            events.append(Stepped(told.steps, epoch, phase.q, phase.sigma, pace))
        self._kept.write(written._replace(events=events))
        del self._events[:count]
        self._last = (told.steps, now)
        self._beat = now
