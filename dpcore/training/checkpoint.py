"""A run's state in a file, so that it can go on as if it had never stopped.

**Guarantees:** a resumed run draws the same batches and the same noise as the run would have: on the same device, with
as many threads, its parameters are bit for bit the same. Nothing is released twice with fresh noise, so nothing is
charged twice. What is released before the first step is drawn again from the same seed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from dpcore.training.optimizers.base import State

if TYPE_CHECKING:
    from dpcore.training.engine import Run


def save(run: Run, step: int, path: Path) -> None:
    """Write the state after the step: the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    torch.save(snapshot(run, step), aside)
    os.replace(aside, path)


def resume(run: Run, path: Path) -> int:
    """Take on the state in the file; the steps it has done. ValueError for another run's file or a damaged one."""
    try:
        values = torch.load(path, map_location="cpu", weights_only=True)  # runs nothing that the file may say
        settings, step = json.loads(values["settings"]), int(values["step"])
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"Expected {path} to be a checkpoint; {' '.join(str(error).split())[:200]}.") from error
    if settings != run.config.to_json():
        raise ValueError(f"Expected {path} to be a checkpoint of this run's settings.")
    restore(run, values)
    return step


def snapshot(run: Run, step: int) -> dict[str, Any]:
    """Everything that later steps depend on, as numbers, strings, tensors and lists."""
    state = run.descent.state
    values: dict[str, Any] = {
        "step": step,
        "settings": json.dumps(run.config.to_json()),
        "parameters": run.engine.parameters.clone(),
        "optimizer": [state.count, state.mean, list(state.vectors)],
        "batches": json.dumps(run.batches.bit_generator.state),
        "noise": run.noise.states(),
        "tally": list(run.tally.last),
    }
    if run.average:
        values["average"] = [run.average.vector, run.average.count]
    if run.annealing:
        chances = json.dumps(run.annealing.generator.bit_generator.state)
        values["annealing"] = [run.annealing.accepted, run.annealing.rejected_in_a_row, run.public_loss, chances]
    return values


def restore(run: Run, values: dict[str, Any]) -> None:
    """Put everything back."""
    run.engine.parameters.copy_(values["parameters"])
    count, mean, vectors = values["optimizer"]
    run.descent.restore(State(count, mean, tuple(vectors)))
    run.batches.bit_generator.state = json.loads(values["batches"])
    run.noise.restore(values["noise"])
    run.tally.last = tuple(values["tally"])
    if run.average:
        vector, run.average.count = values["average"]
        run.average.vector.copy_(vector)
    if run.annealing:
        accepted, rejected, run.public_loss, chances = values["annealing"]
        run.annealing.accepted, run.annealing.rejected_in_a_row = accepted, rejected
        run.annealing.generator.bit_generator.state = json.loads(chances)
