"""Trainers for audits: ours, and copies of it with one fault each, which only audits can run.

A fault is a replaced part, other settings, or another claim. A wrapper stands before the part; the
trainer's own code has no fault in it. Free of torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
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
    """A wrapper before a part of a run; it leaves to the part all that is neither defined here nor
    `replaced`.
    """

    def __init__(self, part: Any, **replaced: Callable[..., Any]) -> None:
        self._part = part
        vars(self).update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)


def replace_parts(run: TrainingRun, *, engine: Any = None, noise: Any = None) -> None:
    """Give the run another engine or source of noise, and keep the optimizer's state."""
    from dpcore.training.dp_step import Descent  # late: the list of trainers must not load torch

    before = run.descent
    run.engine = engine or run.engine
    run.noise = noise or run.noise
    run.descent = Descent(run.config, run.engine, run.noise, run.cores)
    run.descent.optimizer = before.optimizer
    run.descent.restore(before.state)


MIN_EPOCHS = 3.0  # for reused batches: the first epoch has no fault
PUBLIC_SHARE = 10  # one in 10 examples is held out to judge proposals
STRICT_Q0 = 1000.0  # rejects nearly every proposal that raises the public loss


def _altered_nowhere(run: TrainingRun) -> None:
    """Leave the run as it is."""


def _as_asked(config: RunConfig) -> RunConfig:
    return config


def _as_planned(config: RunConfig, accepted: int | None) -> Mechanism | None:
    return plan(config).mechanism


@dataclass(frozen=True)
class Trainer:
    """A trainer under audit: its fault, its settings, and its claim."""

    name: str  # on the command line
    title: str
    story: str  # one line on the fault
    fault: str = ""  # the same in a few words, after a colon
    fails: str = ""  # the test that must find it
    # Replaces parts of a run before its first step.
    alter: Callable[[TrainingRun], None] = _altered_nowhere
    # Settings requested -> settings trained.
    trains: Callable[[RunConfig], RunConfig] = _as_asked
    # Settings trained, steps accepted -> the mechanism charged; None if nothing is charged.
    claims: Callable[[RunConfig, int | None], Mechanism | None] = _as_planned


def scaled(noise: Any, factor: Callable[[], float]) -> Wrapper:
    """A source of noise with a wrong standard deviation: the right one times a factor, asked for at
    each draw.
    """

    def add(piece: int, target: Any, std: float, *scale: Any) -> None:
        noise.add(piece, target, std * factor(), *scale)

    return Wrapper(noise, add=add)


def reseeded(noise: Any) -> Wrapper:
    """A source of noise that restarts at every draw."""
    first = noise.states()

    def add(piece: int, *others: Any) -> None:
        noise.words[piece].restore(first[piece])
        noise.add(piece, *others)

    return Wrapper(noise, add=add)


def reclipped(engine: Any, clipping_for: Callable[[Clipping], Clipping]) -> Wrapper:
    """An engine that ignores the requested clipping."""

    def clipped_sum(x: Any, y: Any, given: Clipping, *others: Any) -> Any:
        return engine.clipped_sum(x, y, clipping_for(given), *others)

    return Wrapper(engine, clipped_sum=clipped_sum)


def _divide_by_the_batch_drawn(run: TrainingRun) -> None:
    """Scale sums and noise as if divided by the size of the batch drawn."""
    engine = run.engine
    factor = 1.0  # expected batch over the last batch drawn

    def clipped_sum(x: Any, *others: Any) -> Any:
        nonlocal factor
        factor = run.config.batch / max(len(x), 1)
        found = engine.clipped_sum(x, *others)
        found.shares.mul_(factor)
        return found

    replace_parts(
        run,
        engine=Wrapper(engine, clipped_sum=clipped_sum),
        noise=scaled(run.noise, lambda: factor),
    )


def _replay_batches(run: TrainingRun) -> None:
    """Restart the random words of batches after every epoch."""
    words = run.batches
    first = words.state()
    epoch = max(1, round(1 / run.config.q))  # draws
    drawn = count()

    def draw(number: int) -> Tensor:
        if next(drawn) % epoch == 0:
            words.restore(first)
        return words.draw(number)

    run.batches = Wrapper(words, draw=draw)  # type: ignore[assignment]


def _with_raw_history(config: RunConfig) -> RunConfig:
    rates = defaults(
        config.dataset,
        config.model,
        "pi_adam",
        config.source,
        reading="raw",
        features=config.features,
    )
    return replace(
        config,
        stop_epsilon=0.0,  # without an epsilon a run cannot stop at one
        optimizer="pi_adam",
        reading="raw",
        clip_norm=rates.clip_norm,
        lr=rates.lr,
    )


def _with_annealing(config: RunConfig) -> RunConfig:
    if config.acceptance == "sa":
        return config
    public = config.examples // PUBLIC_SHARE
    batch = min(config.batch, config.examples - public)
    asked = replace(config, acceptance="sa", sa_q0=STRICT_Q0, public=public, batch=batch)
    if not OPTIMIZERS[config.optimizer].momentum:
        return asked
    # Momentum would smooth rejections out.
    return replace(asked, momentum=0.0, lr=config.lr / (1 - config.momentum))


WORDS = words_in(Path(__file__).with_name("trainers.toml"))


def _named(name: str, **parts: Any) -> Trainer:
    return Trainer(name, **WORDS[name], **parts)


def _noise(name: str, wrap: Callable[[TrainingRun], Any]) -> Trainer:
    return _named(name, alter=lambda run: replace_parts(run, noise=wrap(run)))


def _clipping(name: str, clipping_for: Callable[[Clipping], Clipping], **parts: Any) -> Trainer:
    def alter(run: TrainingRun) -> None:
        replace_parts(run, engine=reclipped(run.engine, clipping_for))

    return _named(name, alter=alter, **parts)


OWN = _named("own")
_BROKEN = (
    _noise("no_noise", lambda run: scaled(run.noise, lambda: 0.0)),
    _noise("half_noise", lambda run: scaled(run.noise, lambda: 0.5)),
    _noise("noise_divided_twice", lambda run: scaled(run.noise, lambda: 1 / run.config.batch)),
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
    _noise("same_noise", lambda run: reseeded(run.noise)),
    _named(  # the literal reading takes the same steps from a history of releases
        "raw_state",
        trains=_with_raw_history,
        claims=lambda config, accepted: plan(replace(config, reading="literal")).mechanism,
    ),
    _named(
        "accepted_only",
        trains=_with_annealing,
        claims=lambda config, accepted: plan(config).claimed(accepted),
    ),
)
BROKEN = {each.name: each for each in _BROKEN}
TRAINERS = {OWN.name: OWN, **BROKEN}
