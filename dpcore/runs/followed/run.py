"""A training of another program, followed step by step."""

import atexit
import logging
import math
import os
import sys
import weakref
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Self

from dpcore import check
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_Q, MIN_SIGMA, Reading, Release
from dpcore.runs.followed.budget import Budget, affordable_steps, reading_of
from dpcore.runs.followed.count import MAX_PHASES, Phase, epoch_of, joined, releases_of
from dpcore.runs.followed.engine import Reader
from dpcore.runs.followed.events import Logged
from dpcore.runs.followed.keeping import ENDED_WITHOUT, Kept
from dpcore.runs.followed.request import Followed
from dpcore.runs.followed.writer import Told, Writer
from dpcore.runs.lifecycle import Status
from dpcore.training.events import Evaluated

LOG = logging.getLogger("dpcore.follow")
MAX_KEYS = 200  # of what is logged
MAX_STRIDE = 1_000_000
MAX_KEY_CHARS = 80
OWN = "privacy/"  # of keys that the run counts itself
MAX_SHOWN = 80  # characters of a value in a warning
ACCURACY = ("accuracy", "acc")  # the last word of a key of a measured accuracy
IN_TRAINING = "train"  # the first word of one that is not measured on other data

open_runs: "weakref.WeakSet[FollowedRun]" = weakref.WeakSet()


class FollowedRun:
    """A training that somebody else's code does, and that tells its steps.

    `step`, `sync`, `log` and `would_exceed` never raise: what is wrong is said once, by the logger
    "dpcore.follow", and the training goes on.
    """

    def __init__(
        self, request: Followed, kept: Kept | None, phases: list[Phase], steps: int, missing: str
    ) -> None:
        """`missing` is the reason why the steps before have no epsilon; empty if they have one."""
        self.steps = steps  # told or charged so far
        self.request = request
        self.id = kept.run if kept else ""
        self._phases = phases
        self._q = phases[-1].q
        self._sigma = phases[-1].sigma
        self._epoch = epoch_of(phases, phases[-1].first)  # before the last phase
        self._unaccounted = missing
        self._budget = None
        if request.target_epsilon:
            self._budget = Budget(request.target_epsilon, request.delta)
        self._said: set[str] = set()
        self._keys: set[str] = set()
        self._kept = kept
        self._writer: Writer | None = None
        self._forked = False
        self._reader: Reader | None = None
        self._stride = 0  # steps that may be taken before they are told
        self._gap = 0  # the most that were
        self._epoch_end = 0  # steps, once the engine has taken those of an epoch
        self.ended = False
        if kept:
            self._begin(kept)

    def step(self, *, sigma: float | None = None, q: float | None = None) -> None:
        """Count one release: one noisy sum of clipped gradients, right after it was made.

        `sigma` and `q` are told where they change, and hold from this step on.
        """
        costlier = (sigma is not None or q is not None) and self._tell(sigma, q)
        self.steps += 1
        self._settle(costlier=costlier)

    def sync(self) -> None:
        """Count the steps that the engine of Opacus has taken since the last call.

        `log`, `would_exceed`, `epsilon` and `finish` do so by themselves. Between two calls the
        store holds as many steps more as lay between two calls so far, at first an epoch's.
        """
        if self._reader is None:
            return
        try:
            fresh = self._reader.fresh()
        except Exception as error:
            words = (
                f"run.sync: the history of the engine cannot be read, because {_shown(error)}. Its"
                " steps are not counted: call run.step() for each."
            )
            self._say("engine", words)
            return
        before = self.steps
        costlier = False
        for taken in fresh:
            costlier |= self._tell(taken.sigma, taken.q)
            self.steps += taken.count
        self._gap = max(self._gap, self.steps - before)
        if self.steps >= self._epoch_end:
            self._stride = self._gap
        if fresh:
            self._settle(costlier=costlier)

    def log(self, values: Mapping[str, Any]) -> None:
        """Keep numbers beside the steps. No epsilon covers them.

        A share from 0 to 1 whose name ends with "accuracy", as "test/accuracy", is drawn as the
        run's accuracy.
        """
        self.sync()
        try:
            self._log(values)
        except Exception as error:  # a training never ends by what follows it
            self._say("log", f"run.log: nothing was logged, because {_shown(error)}.")

    def would_exceed(self) -> bool:
        """True if one step more, with the present sigma and q, would exceed the target.

        The certified upper bound decides. Beyond 4 kinds of steps Rényi DP's does, which is larger.
        """
        if self._budget is None:
            words = (
                "run.would_exceed() has no target, and says False. Give target_epsilon to"
                " dpcore.follow."
            )
            self._say("target", words)
            return False
        self.sync()
        if self._unaccounted:
            return True
        try:
            return self._budget.exceeded(self._phases, self.steps + 1)
        except Exception as error:
            words = f"run.would_exceed() found no bound, and says True: {_shown(error)}."
            self._say("bound", words)
            return True

    def steps_left(self) -> int | None:
        """The steps that the target still allows; None without a target.

        Searched once for each sigma and q, in up to a second.
        """
        target = self.request.target_epsilon
        if not target:
            return None
        self.sync()
        if self._unaccounted:
            return 0
        last = self._phases[-1]
        before = releases_of(self._phases, last.first)
        most = affordable_steps(before, last.q, last.sigma, target, self.request.delta)
        return max(most - self.steps, 0)

    def epsilon(self) -> Reading:
        """Epsilon of the steps so far: certified, or by Rényi DP with more than 25 kinds."""
        self.sync()
        if self._unaccounted:
            return Reading(math.inf, None, reading_of((), 0.5).kind, self._unaccounted)
        return reading_of(releases_of(self._phases, self.steps), self.request.delta)

    def releases(self) -> tuple[Release, ...]:
        """The steps so far, in order. Errors: ValueError where they have no epsilon."""
        self.sync()
        if self._unaccounted:
            raise ValueError(f"The run has no epsilon: {self._unaccounted}")
        return releases_of(self._phases, self.steps)

    def privacy(self) -> dict[str, float]:
        """Epsilon and what belongs to it, by the keys for another logger."""
        found = self.epsilon()
        return {
            "privacy/epsilon": found.value,
            "privacy/epsilon_lower": found.lower or 0.0,
            "privacy/delta": self.request.delta,
            "privacy/steps": float(self.steps),
        }

    def finish(self) -> None:
        """Write the exact number of steps, and end the run."""
        self._end(Status.FINISHED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: Any
    ) -> None:
        if error is None:
            self.finish()
        elif isinstance(error, KeyboardInterrupt):
            self._end(Status.CANCELLED)
        else:
            self._end(Status.FAILED, _line(error))

    def __repr__(self) -> str:
        return f"<followed run {self.id or 'in memory'}: {self.steps:,} steps>"

    def _begin(self, kept: Kept) -> None:
        self._writer = Writer(kept, self._told, self._failed)
        self.ended = False
        open_runs.add(self)
        self._writer.start()

    def _told(self) -> Told:
        # Before the phases: a step that begins one meanwhile is new, and is written for itself.
        steps = self.steps
        return Told(list(self._phases), steps, self._unaccounted, self._stride)

    def attach(self, reader: Reader) -> None:
        """Count an engine's steps from now on, beginning with those that are new to the run."""
        self._reader = reader
        self.sync()
        epoch = min(math.ceil(1 / self._q), MAX_STRIDE)
        self._epoch_end = self.steps + epoch
        self._stride = epoch
        self._gap = 0
        self._settle(costlier=True)

    def _settle(self, *, costlier: bool) -> None:
        """Have the store hold more steps than were told, and at once what makes them dearer."""
        writer = self._writer
        if writer is None:
            if self._forked:
                self._say_forked()
        elif costlier or self.steps >= writer.covered:
            self._cover(writer)

    def _cover(self, writer: Writer) -> None:
        """Have the store hold a step more than was told."""
        if not self.ended:
            writer.cover()
            return
        self._say(
            "finished",
            "run.step() after run.finish(): the step is counted, and the run goes on. Call"
            " run.finish() after the last step.",
        )
        if self._kept:
            self._begin(self._kept)

    def _tell(self, sigma: object, q: object) -> bool:
        """Begin a phase where sigma or q differ from before; True if its steps cost more."""
        if _is_as_before(sigma, self._sigma) and _is_as_before(q, self._q):
            return False
        before = self._sigma, self._q, self._unaccounted
        if q is not None:
            self._q = self._rate(q)
        if sigma is not None:
            self._sigma = self._noise(sigma)
        self._go_on_as(Phase(self.steps, self._q, self._sigma))
        less_noise = self._sigma < before[0] or self._unaccounted != before[2]
        return less_noise or self._q > before[1]

    def _go_on_as(self, phase: Phase) -> None:
        """Count the steps from here on as those of a phase."""
        last = self._phases[-1]
        if phase[1:] == last[1:]:
            return
        if last.first == self.steps:
            self._phases[-1] = phase
            return
        if len(self._phases) >= MAX_PHASES:
            words = (
                f"run.step: sigma or q changed {MAX_PHASES:,} times. Neighbouring steps are counted"
                " with the larger q and the smaller sigma of both, which never lowers epsilon. q"
                " is the rate at which examples are drawn, not the size of a drawn batch."
            )
            self._say("phases", words)
            self._phases = joined(self._phases)
        self._epoch = epoch_of(self._phases, self.steps)
        self._phases.append(phase)

    def _rate(self, q: object) -> float:
        number = _number(q)
        if number is not None and MIN_Q <= number <= 1:
            return number
        words = (
            f"run.step(q={_shown(q)}): a sampling rate lies above 0 and is at most 1. These steps"
            " are counted with q = 1, which is never too little. Give q = batch / examples."
        )
        self._say("q", words)
        return 1.0

    def _noise(self, sigma: object) -> float:
        number = _number(sigma)
        if number is not None and MIN_SIGMA <= number <= MAX_SIGMA:
            return number
        if number is not None and number > MAX_SIGMA:
            words = (
                f"run.step(sigma={_shown(sigma)}): no noise multiplier is above {MAX_SIGMA:g}."
                f" These steps are counted with sigma = {self._sigma:g}, as before, which is never"
                " too little. Give the noise multiplier with which the noise was drawn."
            )
            self._say("much sigma", words)
            return self._sigma
        words = (
            f"run.step(sigma={_shown(sigma)}): without noise a step has no epsilon, so from step"
            f" {self.steps + 1:,} on this run has none. Give the noise multiplier with which the"
            " noise was drawn."
        )
        self._say("sigma", words)
        self._unaccounted = (
            f"Not private: step {self.steps + 1:,} was told without noise, so epsilon is infinite."
        )
        return MIN_SIGMA

    def _log(self, values: Mapping[str, Any]) -> None:
        if not isinstance(values, Mapping):
            example = "{'test/accuracy': 0.98}"
            self._say("log", f"run.log({_shown(values)}): give numbers by name, as {example}.")
            return
        kept = {}
        for key, value in values.items():
            number = value if type(value) is float else self._logged(key, value)
            if number is None or not math.isfinite(number):
                self._say_not_finite(key, number)
            elif key in self._keys or self._admits(key):
                kept[key] = number
        writer = self._writer
        if not kept or writer is None:
            if self._forked:
                self._say_forked()
            return
        steps = self.steps
        epoch = self._epoch + (steps - self._phases[-1].first) * self._q
        events: list[Any] = [Logged(steps, epoch, kept)]
        accuracy = self._accuracy(kept)
        if accuracy is not None:
            loss = kept.get("test/loss", kept.get("val/loss"))
            events.append(Evaluated(steps, epoch, accuracy, loss, ()))
        writer.add(*events)

    def _logged(self, key: Any, value: Any) -> float | None:
        """The number of a value that is no float; None, and a warning, if it is none."""
        number = float(value) if isinstance(value, bool) else _number(value)
        if number is None:
            words = (
                f"run.log: {key!r} is of type {type(value).__name__}, not a number, and was left"
                " out. Log one number, such as value.mean().item()."
            )
            self._say(f"type {key}", words)
        elif not isinstance(value, Real | Decimal):
            words = (
                f"run.log: {key!r} is of type {type(value).__name__}. Its one number is kept; to"
                " read it may wait for a GPU. Log value.item() where you need it anyway."
            )
            self._say(f"tensor {key}", words)
        return number

    def _say_not_finite(self, key: Any, number: float | None) -> None:
        if number is not None:
            words = (
                f"run.log: {key!r} is {number} after step {self.steps:,}, and was left out. Others"
                " are kept."
            )
            self._say(f"finite {key}", words)

    def _admits(self, key: Any) -> bool:
        """True for a key that may be logged; a new one is noted."""
        named = isinstance(key, str) and 0 < len(key) <= MAX_KEY_CHARS and key.isprintable()
        if not named:
            words = f"run.log: the key {_shown(key)} was left out. Name it in 1 to 80 letters."
            self._say("key", words)
            return False
        if key.startswith(OWN):
            words = f"run.log: {key!r} was left out, since the run counts {OWN}... itself."
            self._say("own key", words)
            return False
        if len(self._keys) >= MAX_KEYS:
            words = f"run.log: {key!r} was left out. A run keeps {MAX_KEYS} different keys."
            self._say("keys", words)
            return False
        self._keys.add(key)
        return True

    def _accuracy(self, kept: Mapping[str, float]) -> float | None:
        """The accuracy among what is logged; None without one."""
        for key, value in kept.items():
            words = key.lower().replace("_", "/").split("/")
            if words[-1] not in ACCURACY or words[0] == IN_TRAINING:
                continue
            if 0 <= value <= 1:
                return value
            sentence = (
                f"run.log: {key!r} is {value:g}, so it is not drawn as an accuracy. Log a share"
                " from 0 to 1."
            )
            self._say("accuracy", sentence)
        return None

    def _end(self, status: Status, error: str | None = None) -> None:
        self.sync()
        if self.ended:
            return
        self.ended = True
        open_runs.discard(self)
        writer = self._writer
        if writer and not writer.end(status, error):
            LOG.warning(
                "dpcore.follow: run.finish(): the end of run %s was not stored. It took %s steps;"
                " to go on with it, pass done=%s to dpcore.follow.",
                self.id,
                f"{self.steps:,}",
                self.steps,
            )

    def _failed(self, reason: str) -> None:
        words = (
            f"run.step: the run is counted in memory, and the page does not show it. {reason} The"
            f" training goes on. If the process is killed meanwhile, resume with done= the steps"
            " that it took."
        )
        self._say("store", words)

    def _say_forked(self) -> None:
        words = (
            "run.step() or run.log() in a process that was forked from the one that follows the"
            " run: it counts in its own memory, so the stored run is not charged for its steps."
            " Call run.step() where dpcore.follow was called, or dpcore.follow in this process."
        )
        self._say("forked", words)

    def _say(self, topic: str, words: str) -> None:
        """Say something once."""
        if topic not in self._said:
            self._said.add(topic)
            LOG.warning("dpcore.follow: %s", words)

    def detach(self) -> None:
        """Leave the store to the parent, in a process that was forked from the one that follows."""
        self._writer = None
        self._kept = None
        self._forked = True
        self.ended = True


def _is_as_before(told: object, before: float) -> bool:
    """True if nothing was told, or the same number; an array's comparison has no truth value."""
    return told is None or (type(told) in (float, int) and told == before)


def _number(value: Any) -> float | None:
    """A number as float, also that of a tensor with one element; None for anything else.

    It never raises, and a number that no float holds is infinite.
    """
    try:
        if not isinstance(value, Real | Decimal):
            if isinstance(value, str) or not hasattr(value, "item"):
                return None
            value = value.item()
        is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
        return check.as_float(value) if is_number else None
    except Exception:  # of several elements, or of a type of its own
        return None


def _shown(value: object) -> str:
    """A value in a warning, in one short line; Python prints no very long whole number."""
    try:
        words = " ".join(repr(value).split())
    except Exception:
        return f"<{type(value).__name__}>"
    return words if len(words) <= MAX_SHOWN else f"{words[:MAX_SHOWN]}…"


def _line(error: BaseException) -> str:
    """An error in one line, without the paths of a traceback."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]


def _end_all() -> None:
    """End the runs that nobody finished. At the end of the program."""
    failure = getattr(sys, "last_value", None)
    for run in list(open_runs):
        if isinstance(failure, Exception):
            run._end(Status.FAILED, _line(failure))
        else:
            run._end(Status.LOST, ENDED_WITHOUT)


def _detach_all() -> None:
    for run in list(open_runs):
        run.detach()
    open_runs.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_all)
