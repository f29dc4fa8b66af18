"""Trainers for audits: ours, and copies of it with one fault each, which only audits can run.

A fault is a replaced part, other settings, or another claim. A wrapper stands before the part; the trainer's own code
has no fault in it. Free of torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.privacy import words_in
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.gradients.clipping import Clipping, Flat, PerLayer
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.training_run import TrainingRun


class Wrapper:
    """A wrapper before a part of a run; it leaves to the part all that it does not define."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)


def replace_parts(run: TrainingRun, *, engine: Any = None, noise: Any = None) -> None:
    """Give the run another engine or source of noise, and keep the optimizer's state."""
    from dpcore.training.dp_step import Descent  # late: the list of trainers must not load torch

    run.engine, run.noise, before = engine or run.engine, noise or run.noise, run.descent
    run.descent = Descent(run.config, run.engine, run.noise, run.cores)
    run.descent.optimizer = before.optimizer
    run.descent.restore(before.state)


MIN_EPOCHS = 3.0  # for reused batches: the first epoch has no fault
PUBLIC_SHARE = 10  # one in 10 examples is held out to judge proposals
STRICT_Q0 = 1000.0  # rejects nearly every proposal that raises the public loss


@dataclass(frozen=True)
class Trainer:
    """A trainer under audit: its fault, its settings, and its claim."""

    name: str  # on the command line
    title: str
    story: str  # one line on the fault
    fails: str = ""  # the test that must find it
    alter: Callable[[TrainingRun], None] = lambda run: None  # replaces parts of a run before its first step
    trains: Callable[[RunConfig], RunConfig] = lambda config: config  # settings requested -> settings trained
    claims: Callable[[RunConfig, int | None], Mechanism | None] = lambda config, accepted: plan(config).mechanism
    # settings trained, steps accepted -> the mechanism charged; None if nothing is charged


class Scaled(Wrapper):
    """A source of noise with a wrong standard deviation: the right one times a factor, asked for at each draw."""

    def __init__(self, noise: Any, factor: Callable[[], float]) -> None:
        super().__init__(noise)
        self._factor = factor

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        self._part.add(piece, target, std * self._factor(), scale)


class Reseeded(Wrapper):
    """A source of noise that restarts at every draw."""

    def __init__(self, noise: Any) -> None:
        super().__init__(noise)
        self._first = noise.states()

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        self._part.words[piece].restore(self._first[piece])
        self._part.add(piece, target, std, scale)


class Reclipped(Wrapper):
    """An engine that ignores the requested clipping."""

    def __init__(self, engine: Any, clipping_for: Callable[[Clipping], Clipping]) -> None:
        super().__init__(engine)
        self._clipping_for = clipping_for

    def clipped_sum(self, x: Any, y: Any, clipping: Clipping, *others: Any) -> Any:
        return self._part.clipped_sum(x, y, self._clipping_for(clipping), *others)


class Divided(Wrapper):
    """An engine whose sums are scaled as if divided by the size of the batch drawn."""

    def __init__(self, engine: Any, batch: int) -> None:
        super().__init__(engine)
        self._batch = batch
        self.factor = 1.0  # expected batch over the last batch drawn

    def clipped_sum(self, x: Any, y: Any, clipping: Clipping, *others: Any) -> Any:
        """Return the sum, times the expected batch over the batch drawn."""
        self.factor = self._batch / max(len(x), 1)
        found = self._part.clipped_sum(x, y, clipping, *others)
        found.shares.mul_(self.factor)
        return found


class Replayed(Wrapper):
    """Random words that restart after `period` draws."""

    def __init__(self, words: Any, period: int) -> None:
        super().__init__(words)
        self._period, self._drawn, self._first = period, 0, words.state()

    def draw(self, count: int) -> Tensor:
        if self._drawn % self._period == 0:
            self._part.restore(self._first)
        self._drawn += 1
        return self._part.draw(count)


def _divide_by_the_batch_drawn(run: TrainingRun) -> None:
    engine = Divided(run.engine, run.config.batch)
    replace_parts(run, engine=engine, noise=Scaled(run.noise, lambda: engine.factor))


def _replay_batches(run: TrainingRun) -> None:
    run.batches = Replayed(run.batches, max(1, round(1 / run.config.q)))  # type: ignore[assignment]


def _with_raw_history(config: RunConfig) -> RunConfig:
    trained = (config.dataset, config.model, "pi_adam", config.source)
    rates = defaults(*trained, reading="raw", features=config.features)
    asked = replace(config, stop_epsilon=0.0)  # without an epsilon a run cannot stop at one
    return replace(asked, optimizer="pi_adam", reading="raw", clip_norm=rates.clip_norm, lr=rates.lr)


def _with_annealing(config: RunConfig) -> RunConfig:
    if config.acceptance == "sa":
        return config
    public = config.examples // PUBLIC_SHARE
    batch = min(config.batch, config.examples - public)
    asked = replace(config, acceptance="sa", sa_q0=STRICT_Q0, public=public, batch=batch)
    if not OPTIMIZERS[config.optimizer].momentum:
        return asked
    return replace(asked, momentum=0.0, lr=config.lr / (1 - config.momentum))  # momentum would smooth rejections out


WORDS = words_in(Path(__file__).with_name("trainers.toml"))


def _named(name: str, **parts: Any) -> Trainer:
    return Trainer(name, **WORDS[name], **parts)


def _noise(name: str, wrap: Callable[[TrainingRun], Any]) -> Trainer:
    return _named(name, alter=lambda run: replace_parts(run, noise=wrap(run)))


def _clipping(name: str, clipping_for: Callable[[Clipping], Clipping], **parts: Any) -> Trainer:
    alter = lambda run: replace_parts(run, engine=Reclipped(run.engine, clipping_for))  # noqa: E731
    return _named(name, alter=alter, **parts)


OWN = _named("own")
_BROKEN = (
    _noise("no_noise", lambda run: Scaled(run.noise, lambda: 0.0)),
    _noise("half_noise", lambda run: Scaled(run.noise, lambda: 0.5)),
    _noise("noise_divided_twice", lambda run: Scaled(run.noise, lambda: 1 / run.config.batch)),
    _clipping("no_clipping", lambda _: Flat(math.inf)),
    _clipping(  # trains with flat clipping, which is charged
        "layers_charged_once",
        lambda given: PerLayer(given.clip_norm),
        trains=lambda config: replace(config, clipping="flat"),
    ),
    _named(
        "batches_reused",
        alter=_replay_batches,
        trains=lambda config: replace(config, epochs=max(config.epochs, MIN_EPOCHS)),
    ),
    _named("realised_divisor", alter=_divide_by_the_batch_drawn),
    _noise("same_noise", lambda run: Reseeded(run.noise)),
    _named(  # the literal reading takes the same steps from a history of releases
        "raw_state",
        trains=_with_raw_history,
        claims=lambda config, accepted: plan(replace(config, reading="literal")).mechanism,
    ),
    _named("accepted_only", trains=_with_annealing, claims=lambda config, accepted: plan(config).claimed(accepted)),
)
BROKEN = {each.name: each for each in _BROKEN}
TRAINERS = {OWN.name: OWN, **BROKEN}
