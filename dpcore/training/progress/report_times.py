"""When a run reports its steps and when it tests its model; it never changes what is trained."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPORT = 0.25  # seconds between two reports of steps
FIRST = 0.3  # seconds to the first evaluation: an accuracy must be seen soon after the start
EVALUATE = 2.0  # seconds between two evaluations where an epoch takes longer
SAVE = 10.0  # seconds between two checkpoints
SHARE = 0.1  # of the time may go into evaluations


class ReportTimes:
    """The clock of one run."""

    def __init__(self, clock: Callable[[], float], epochs_per_step: float) -> None:
        self._clock = clock
        self._epochs_per_step = epochs_per_step
        self._start = self._reported = self._evaluated = self._saved = clock()
        self._reported_step = 0
        self._epoch = -1  # of the last evaluation; -1 before the first
        self._pause = FIRST

    def start(self, step: int = 0) -> None:
        """Training begins now, after so many steps of an earlier process."""
        self._reported_step = step
        self._start = self._reported = self._evaluated = self._saved = self._clock()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    def report_due(self, step: int) -> bool:
        """Whether the steps up to this one should be reported: the first at once, then about four times a second."""
        return step == 1 or self._clock() - self._reported >= REPORT

    def reported(self, step: int) -> float:
        """Steps per second since the last report."""
        now = self._clock()
        rate = (step - self._reported_step) / max(now - self._reported, 1e-9)
        self._reported, self._reported_step = now, step
        return rate

    def save_due(self) -> bool:
        """Whether to write a checkpoint now; the answer yes counts as one."""
        now = self._clock()
        if now - self._saved < SAVE:
            return False
        self._saved = now
        return True

    def evaluation_due(self, step: int) -> bool:
        """Whether to test now: early once, then every epoch or every two seconds, within a tenth of the time."""
        waited = self._clock() - self._evaluated
        if waited < self._pause:
            return False
        return self._epoch < 0 or waited >= EVALUATE or int(step * self._epochs_per_step + 1e-9) > self._epoch

    @contextmanager
    def evaluating(self, step: int) -> Iterator[None]:
        """An evaluation after the step: its time counts neither as training nor as waiting."""
        begun = self._clock()
        yield
        now = self._clock()
        self._reported += now - begun
        self._pause = (now - begun) * (1 / SHARE - 1)
        self._evaluated, self._epoch = now, int(step * self._epochs_per_step + 1e-9)
