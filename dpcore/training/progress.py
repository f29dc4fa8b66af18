"""Reports of a run: when steps are reported and the model is tested, and figures of the steps since the last report."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from dpcore.training.events import NORM_QUANTILES, REPORT_SECONDS, Stepped

FIRST_SECONDS = 0.3  # seconds to the first evaluation: an accuracy must be seen soon after the start
EVALUATE_SECONDS = 2.0  # seconds between two evaluations where an epoch takes longer
SAVE_SECONDS = 10.0  # seconds between two checkpoints
EVALUATION_SHARE = 0.1  # of the time may go into evaluations


class ReportTimes:
    """The clock of one run."""

    def __init__(self, clock: Callable[[], float], epochs_per_step: float) -> None:
        self._clock = clock
        self._epochs_per_step = epochs_per_step
        self._tested = -1  # the half epochs before the last evaluation; -1 before the first
        self._pause = FIRST_SECONDS
        self.start(0)

    def start(self, step: int) -> None:
        """Training begins now, after so many steps of an earlier process."""
        self._reported_step = step
        self._start = self._reported = self._evaluated = self._saved = self._clock()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    def report_due(self, step: int) -> bool:
        """Whether the steps up to this one should be reported: the first at once, then about four times a second."""
        return step == 1 or self._clock() - self._reported >= REPORT_SECONDS

    def reported(self, step: int) -> float:
        """Steps per second since the last report."""
        now = self._clock()
        rate = (step - self._reported_step) / max(now - self._reported, 1e-9)
        self._reported, self._reported_step = now, step
        return rate

    def save_due(self) -> bool:
        """Whether to write a checkpoint now; the answer yes counts as one."""
        now = self._clock()
        if now - self._saved < SAVE_SECONDS:
            return False
        self._saved = now
        return True

    def evaluation_due(self, step: int) -> bool:
        """Whether to test now: early once, then every half epoch or every two seconds, within a tenth of the time."""
        waited = self._clock() - self._evaluated
        if waited < self._pause:
            return False
        return self._tested < 0 or waited >= EVALUATE_SECONDS or self._half_epochs(step) > self._tested

    def _half_epochs(self, step: int) -> int:
        return int(2 * step * self._epochs_per_step + 1e-9)

    @contextmanager
    def evaluating(self, step: int) -> Iterator[None]:
        """An evaluation after the step: its time counts neither as training nor as waiting."""
        began = self._clock()
        yield
        now = self._clock()
        self._reported += now - began
        self._pause = (now - began) * (1 / EVALUATION_SHARE - 1)
        self._evaluated, self._tested = now, self._half_epochs(step)


class StepTotals:
    """Sums over steps; a report empties it.

    A thread that reads a number from a GPU waits until all work asked for before is done. So where the figures are not
    on the CPU, they are looked at only when a report is due.
    """

    def __init__(self, *, at_once: bool = True) -> None:
        self._at_once = at_once
        self._loss, self._clipped = 0.0, 0
        self._norms: list[Tensor] = []
        self._waiting: list[tuple[int, Tensor, Tensor, Tensor]] = []
        self._decisions, self._accepted = "", None
        self.last = 0.0, (0.0,) * len(NORM_QUANTILES)  # loss and norms of the last report, which alone outlast it

    def add(self, step: int, losses: Tensor, norms: Tensor, clipped: Tensor) -> None:
        """Take in one step's losses, norms and whether clipped, (B,) each; look at them now if it is `at_once`."""
        if len(losses):
            self._waiting.append((step, losses, norms, clipped))
        if self._at_once:
            self.settle()

    def settle(self) -> None:
        """Look at all steps taken in; RuntimeError for the first one whose loss is not finite."""
        if not self._waiting:
            return
        steps, *columns = zip(*self._waiting, strict=True)
        self._waiting = []
        sizes = [len(losses) for losses in columns[0]]
        losses, norms, clipped = (torch.cat(column).cpu() for column in columns)
        for step, part in zip(steps, losses.double().split(sizes), strict=True):
            loss = part.sum().item()
            if not abs(loss) < float("inf"):
                raise RuntimeError(f"loss is not finite at step {step}")
            self._loss += loss
        self._clipped += int(clipped.sum())
        self._norms.append(norms)

    def judge(self, accepted: bool, total: int) -> None:
        """Take in whether the step was accepted, and how many were so far."""
        self._decisions += "a" if accepted else "r"
        self._accepted = total

    def report(self, step: int, epoch: float, steps_per_second: float) -> Stepped:
        """The figures since the last report; where no example was drawn, its loss and norms again."""
        self.settle()
        norms = torch.cat(self._norms).numpy() if self._norms else None
        clipped = 0.0
        if norms is not None:
            clipped = self._clipped / len(norms)
            self.last = self._loss / len(norms), tuple(np.quantile(norms, NORM_QUANTILES).tolist())
        self._loss, self._clipped, self._norms = 0.0, 0, []
        decisions, self._decisions = self._decisions, ""
        loss, quantiles = self.last
        return Stepped(step, epoch, loss, clipped, quantiles, steps_per_second, decisions, self._accepted)
