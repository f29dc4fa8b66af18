"""Training functions for nodes: they go on where a run was, as `train` does, but nothing is trained."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Event, Finished, Started, Stepped

STEPS = 20


def steps(config: RunConfig, begun: Any = None, pause: float = 0.02, **_: Any) -> Generator[Event, None, None]:
    """Twenty steps, those that were said before left out."""
    if not begun:
        yield Started(config.examples, STEPS, config.q, "cpu", 0, "test double")
    for step in range(1, STEPS + 1):
        time.sleep(pause)
        if not begun or step > begun.reported:
            yield Stepped(step, step / 10, 1.0, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)
    yield Finished(STEPS, 1.0, 0.5)


def long_steps(config: RunConfig, **values: Any) -> Generator[Event, None, None]:
    """The same in three seconds, for tests in which processes are ended meanwhile."""
    return steps(config, pause=0.15, **values)


def too_large(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """A run that memory does not hold."""
    bytearray(10**15)
    yield from ()


def saving(config: RunConfig, file: Path, begun: Any = None, **_: Any) -> Generator[Event, None, None]:
    """Six steps, saved after the third; the accuracy at the end says whether it began there."""
    saved = file.exists()
    if not begun:
        yield Started(config.examples, 6, config.q, "cpu", 0, "test double")
    for step in range(4 if saved else 1, 7):
        yield Stepped(step, step / 10, 1.0, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)
        if step == 3:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(b'{"step": 3, "settings": {}, "where": {}, "secret": ""}\nthe state')
            yield Checkpointed(3)
            time.sleep(0.3)
    yield Finished(6, 1.0, float(saved))
