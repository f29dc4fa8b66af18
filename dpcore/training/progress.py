"""Reports of a run: the times of reports and evaluations, and figures of the steps since the last
report.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from dpcore.training.events import NORM_QUANTILES, REPORT_SECONDS, Stepped

# Seconds to the first evaluation at most, so that an accuracy appears soon after the start.
FIRST_SECONDS = 0.3
EVALUATE_SECONDS = 2.0  # seconds between two evaluations if an epoch takes longer
SAVE_SECONDS = 10.0  # seconds between two checkpoints
EVALUATION_SHARE = 0.1  # of the time may go into evaluations


class ReportTimes:
    """The clock of one run."""

    def __init__(self, clock: Callable[[], float], epochs_per_step: float) -> None:
        self._clock = clock
        self._epochs_per_step = epochs_per_step
        self._tested = -1  # the half epochs before the last evaluation; -1 before the first
        self._pause = 0.0  # seconds to the next evaluation at least, after the first
        self.start(0)

    def start(self, step: int) -> None:
        """Begin to train, after `step` steps of an earlier process."""
        self._reported_step = step
        self._start = self._reported = self._evaluated = self._saved = self._clock()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    def report_due(self, step: int) -> bool:
        """True if the steps up to this one should be reported: the first at once, then about four
        times a second.
        """
        return step == 1 or self._clock() - self._reported >= REPORT_SECONDS

    def reported(self, step: int) -> float:
        """Steps per second since the last report."""
        now = self._clock()
        rate = (step - self._reported_step) / max(now - self._reported, 1e-9)
        self._reported = now
        self._reported_step = step
        return rate

    def save_due(self) -> bool:
        """True if a checkpoint should be written now; then it counts as written."""
        now = self._clock()
        if now - self._saved < SAVE_SECONDS:
            return False
        self._saved = now
        return True

    def evaluation_due(self, step: int) -> bool:
        """True if a test is due: every half epoch or two seconds, in at most a tenth of the time
        but for the first.

        The first is due after half an epoch or 0.3 seconds, whichever is earlier.
        """
        waited = self._clock() - self._evaluated
        if self._tested < 0:
            return waited >= FIRST_SECONDS or self._half_epochs(step) > 0
        if waited < self._pause:
            return False
        return waited >= EVALUATE_SECONDS or self._half_epochs(step) > self._tested

    def _half_epochs(self, step: int) -> int:
        return int(2 * step * self._epochs_per_step + 1e-9)

    @contextmanager
    def evaluating(self, step: int) -> Iterator[None]:
        """Time an evaluation after the step, which counts neither as training nor as waiting."""
        began = self._clock()
        yield
        now = self._clock()
        self._reported += now - began
        self._pause = (now - began) * (1 / EVALUATION_SHARE - 1)
        self._evaluated = now
        self._tested = self._half_epochs(step)


class StepTotals:
    """Sums over the steps since the last report; on a GPU they are read only for a report, since
    reading waits.
    """

    def __init__(self, *, at_once: bool = True) -> None:
        self._at_once = at_once
        self._loss = 0.0
        self._clipped = 0
        self._norms: list[Tensor] = []
        self._waiting: list[tuple[int, Tensor, Tensor, Tensor]] = []
        self._decisions = ""
        self._accepted: int | None = None
        self.last = 0.0, (0.0,) * len(NORM_QUANTILES)  # loss and norms of the last report

    def add(self, step: int, losses: Tensor, norms: Tensor, clipped: Tensor) -> None:
        """Add one step's losses, norms and clipped flags, (B,) each; read them now if `at_once`."""
        if len(losses):
            self._waiting.append((step, losses, norms, clipped))
        if self._at_once:
            self.settle()

    def settle(self) -> None:
        """Read the figures of all waiting steps.

        Errors: RuntimeError for the first loss that is not finite.
        """
        if not self._waiting:
            return
        steps, losses, norms, clipped = zip(*self._waiting, strict=True)
        self._waiting = []
        on_host = torch.cat(losses).cpu().double().split(list(map(len, losses)))
        for step, part in zip(steps, on_host, strict=True):
            loss = part.sum().item()
            if not abs(loss) < float("inf"):
                raise RuntimeError(f"loss is not finite at step {step}")
            self._loss += loss
        self._clipped += int(torch.cat(clipped).sum())
        self._norms.append(torch.cat(norms).cpu())

    def judge(self, accepted: bool, total: int) -> None:
        """Add the decision on a step, and the number of steps accepted so far."""
        self._decisions += "a" if accepted else "r"
        self._accepted = total

    def report(self, step: int, epoch: float, steps_per_second: float) -> Stepped:
        """The figures since the last report; without a drawn example they repeat its loss and
        norms.
        """
        self.settle()
        clipped = 0.0
        if self._norms:
            norms = torch.cat(self._norms).numpy()
            clipped = self._clipped / len(norms)
            self.last = self._loss / len(norms), tuple(np.quantile(norms, NORM_QUANTILES).tolist())
        loss, quantiles = self.last
        report = Stepped(
            step, epoch, loss, clipped, quantiles, steps_per_second, self._decisions, self._accepted
        )
        self._loss = 0.0
        self._clipped = 0
        self._norms = []
        self._decisions = ""
        return report
