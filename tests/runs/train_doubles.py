"""Training functions for tests: real generators of events, but nothing is trained."""

import time
from collections.abc import Generator
from typing import Any

from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan
from dpcore.training.resume_point import ResumePoint


def _started(config: RunConfig) -> Started:
    return Started(config.examples, plan(config).steps, config.q, "cpu", 0, "test double")


def _stepped(step: int) -> Stepped:
    # the time of the event travels in `loss`, so that a reader can measure the lag
    return Stepped(step, step / 10, time.time(), 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)


def quick(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """Started, one step, one evaluation, finished."""
    yield _started(config)
    yield _stepped(1)
    yield Evaluated(1, 0.1, 0.5, 1.0, (0.5,) * 10)
    yield Finished(1, 0.01, 0.5)


def endless(
    config: RunConfig, resume_point: ResumePoint | None = None, **_: Any
) -> Generator[Event, None, None]:
    """A step every 50 ms until somebody ends it."""
    if not resume_point:
        yield _started(config)
    step = resume_point.reported if resume_point else 0
    while True:
        step += 1
        time.sleep(0.05)
        yield _stepped(step)


def long_step(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """One step of a minute, in short pieces as a tensor library's are."""
    yield _started(config)
    for _piece in range(6000):
        time.sleep(0.01)
    yield _stepped(1)


def failing(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """One step, then an error."""
    yield _started(config)
    yield _stepped(1)
    raise ArithmeticError(f"the loss of seed {config.seed} is gone")


def by_seed(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """`failing` for odd seeds, else `quick`."""
    return failing(config) if (config.seed or 0) % 2 else quick(config)
