"""What a trainer is to the audit: what it trains, what about it is broken, and what it claims; free of torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


def as_it_is(run: TrainingRun) -> None:
    """Alter nothing."""


def unchanged(config: RunConfig) -> RunConfig:
    """The settings that were asked for."""
    return config


def charged(config: RunConfig, accepted: int | None) -> Mechanism | None:
    """What the settings are charged for; None where nothing can be charged."""
    return plan(config).mechanism


@dataclass(frozen=True)
class Trainer:
    """A trainer under audit. A broken one is ours with a part replaced: the trainer itself knows of no fault."""

    name: str  # on the command line
    title: str
    story: str  # one line: what goes wrong, and where that has happened
    fails: str = ""  # the audit that must find it
    alter: Callable[[TrainingRun], None] = as_it_is  # replaces parts of a run that has not begun
    trains: Callable[[RunConfig], RunConfig] = unchanged  # settings asked for -> settings that are trained
    claims: Callable[[RunConfig, int | None], Mechanism | None] = charged  # settings trained, steps accepted -> claim
