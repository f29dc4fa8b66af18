"""Real training on a clock that runs ahead, so that a short run tests and saves often, with a moment between events."""

import time
from collections.abc import Generator
from typing import Any

from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.events import Event
from tests.training.small_runs import ticking

PAUSE = 0.05  # seconds, in which a worker may be killed


def train(config: RunConfig, **options: Any) -> Generator[Event, None, None]:
    """The events of the run."""
    for event in loop.train(config, ticking(1.5), **options):
        yield event
        time.sleep(PAUSE)
