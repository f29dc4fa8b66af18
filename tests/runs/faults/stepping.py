"""A training function that goes on where it was, as the real one does, without training: what the
workers of faults do.

Each number of an event follows from the one before and the secret seed, so a run that was disturbed
says exactly what an undisturbed one says, or shows that it lost its way.
"""

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from dpcore.training.checkpoint_header import Label, read_label, write_label
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated, Event, Finished, Started, Stepped
from dpcore.training.resume_point import ResumePoint
from dpcore.whole_file import whole_file

STEPS = 20
EVERY = 5  # steps between two tests and checkpoints
PAUSE = 0.03  # seconds that a step takes


def train(
    config: RunConfig,
    file: Path | None = None,
    secret: int | None = None,
    resume_point: ResumePoint | None = None,
    **_: Any,
) -> Generator[Event, None, None]:
    """Twenty steps; every fifth is tested and saved."""
    yield from walked(config, file, secret, resume_point, PAUSE)


def held(config: RunConfig, file: Path, **options: Any) -> Generator[Event, None, None]:
    """The same, but step 8 is not taken before a file named `go` lies in the home."""
    for event in train(config, file, **options):
        yield event
        while (
            isinstance(event, Stepped)
            and event.step == 7
            and not (file.parent.parent / "go").exists()
        ):
            time.sleep(PAUSE)


def walked(
    config: RunConfig,
    file: Path | None,
    secret: int | None,
    resume_point: ResumePoint | None,
    pause: float,
) -> Generator[Event, None, None]:
    """The events that are to be said, each step after a pause."""
    done, state = saved(file) if file and file.exists() else (0, secret or config.seed or 0)
    resumed, resume_point = resume_point is not None, resume_point or ResumePoint()
    if not done and not resumed:
        yield Started(config.examples, STEPS, config.q, "cpu", 1, "test double")
    for step in range(done + 1, STEPS + 1):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        if step > resume_point.reported:
            time.sleep(pause)
            yield Stepped(step, step / STEPS, state / 2**64, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)
        if step % EVERY == 0 and resume_point.tested < step < STEPS:
            yield Evaluated(step, step / STEPS, state / 2**64, 1.0, (0.5,) * 10)
            if file:
                save(file, config, step, state)
                yield Checkpointed(step)
    accuracy = state / 2**64
    if resume_point.tested < STEPS:
        yield Evaluated(STEPS, 1.0, accuracy, 1.0, (0.5,) * 10)
    yield Finished(STEPS, 1.0, accuracy)


def save(file: Path, config: RunConfig, step: int, state: int) -> None:
    """Write the state, the whole file or none."""
    with whole_file(file) as out:
        write_label(out, Label(step, config.chosen(), {}, "", ""))
        out.write(json.dumps(state).encode())


def saved(file: Path) -> tuple[int, int]:
    """The step and the state that were saved."""
    with open(file, "rb") as out:
        label, state = read_label(out), json.loads(out.read())
    assert label is not None
    return label.step, state
