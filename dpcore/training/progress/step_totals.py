"""What the steps since the last report add up to."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from dpcore.training.events import NORM_QUANTILES, Stepped


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
        self._last_loss, self._last_norms = 0.0, (0.0,) * len(NORM_QUANTILES)

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

    @property
    def last(self) -> tuple[float, tuple[float, ...]]:
        """The loss and norms of the last report: all that is left of it after a report."""
        return self._last_loss, self._last_norms

    @last.setter
    def last(self, figures: tuple[float, Sequence[float]]) -> None:
        self._last_loss, self._last_norms = figures[0], tuple(figures[1])

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
            self._last_loss, clipped = self._loss / len(norms), self._clipped / len(norms)
            self._last_norms = tuple(float(value) for value in np.quantile(norms, NORM_QUANTILES))
        self._loss, self._clipped, self._norms = 0.0, 0, []
        decisions, self._decisions = self._decisions, ""
        figures = (self._last_loss, clipped, self._last_norms, steps_per_second)
        return Stepped(step, epoch, *figures, decisions, self._accepted)
