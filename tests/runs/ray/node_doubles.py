"""Training functions for nodes: they go on where a run was, as `train` does, but nothing is
trained.

Those that are held stop in the middle until there is a file at the path that DOUBLES_GATE names.
"""

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Event, Finished, Started, Stepped

STEPS = 20
MIDDLE = 7


def steps(config: RunConfig, resume_point: Any = None, **_: Any) -> Generator[Event, None, None]:
    """Twenty steps, those that were said before left out."""
    if not resume_point:
        yield Started(config.examples, STEPS, config.q, "cpu", 0, "test double")
    for step in range(resume_point.reported + 1 if resume_point else 1, STEPS + 1):
        yield stepped(step)
    yield Finished(STEPS, 1.0, 0.5)


def held(config: RunConfig, **values: Any) -> Generator[Event, None, None]:
    """The same, held after the seventh step."""
    for event in steps(config, **values):
        yield event
        if isinstance(event, Stepped) and event.step == MIDDLE:
            wait()


def too_large(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    """A run that memory does not hold."""
    bytearray(10**15)
    yield from ()


def saving(
    config: RunConfig, file: Path, resume_point: Any = None, **_: Any
) -> Generator[Event, None, None]:
    """Six steps, saved and held after the third; the accuracy at the end says whether it began
    there.
    """
    saved = file.exists()
    if not resume_point:
        yield Started(config.examples, 6, config.q, "cpu", 0, "test double")
    for step in range(4 if saved else 1, 7):
        yield stepped(step)
        if step == 3:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(b'{"step": 3, "settings": {}, "where": {}, "secret": ""}\nthe state')
            yield Checkpointed(3)
            wait()
    yield Finished(6, 1.0, float(saved))


def stepped(step: int) -> Stepped:
    return Stepped(step, step / 10, 1.0, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)


def wait() -> None:
    while not Path(os.environ["DOUBLES_GATE"]).exists():
        time.sleep(0.005)
