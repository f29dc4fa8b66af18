"""Real training that writes down by itself what it says: a worker's own log, to compare with what
the store has.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

from dpcore.runs.record import body_of
from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.events import Event


def train(config: RunConfig, file: Path, **options: Any) -> Generator[Event, None, None]:
    """As the real one, with each event on a line of the run's log before it is handed over."""
    log = log_of(file.parent.parent, file.stem)
    log.parent.mkdir(exist_ok=True)
    with open(log, "a", encoding="utf-8", buffering=1) as out:
        for event in loop.train(config, file=file, **options):
            out.write(body_of(event) + "\n")
            yield event


def log_of(home: Path, run: str) -> Path:
    """Where the run's worker writes."""
    return home / "logs" / f"{run}.jsonl"
