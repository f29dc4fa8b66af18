"""Checkpoints: a run's state in a file, from which the run continues as if it had never stopped.

**Guarantees:** a resumed run draws the batches and the noise that the run would have drawn, and its
parameters are bit for bit the same, so nothing is charged twice. Releases before the first step are
drawn again from the same seed. All of this needs the same device, number of threads, torch, data
and features; otherwise the file is refused, since equal noise on sums that are rounded otherwise
would not hide their difference. Not checked are the version of this program and, on a GPU, that
memory is never shorter than before and that a recorded step is trusted again if it was. A file that
was changed is refused: its digest is keyed by the run's secret seed. The digest of a run with a
fixed seed has no secret key, so it reveals accidents alone; that seed hides nothing from those who
know it.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dpcore.regular_file import open_regular
from dpcore.training.checkpoint_header import Label, read_label, write_label
from dpcore.training.optimizers.base import State
from dpcore.training.randomness.streams import checkpoint_key, fingerprint
from dpcore.training.training_run import Snapshot, TrainingRun
from dpcore.whole_file import whole_file

INSTEAD = "start a new run instead, which costs its own epsilon."
DATA = f"train it on those, or {INSTEAD}"
SHOWN = 16  # letters of a fingerprint in a message
WAYS: dict[str, Callable[[str], str]] = {  # what must not change -> the way to restore it
    "device": lambda was: (
        "set CUDA_VISIBLE_DEVICES=-1." if was.startswith("cpu") else "resume it on that device."
    ),
    "threads": lambda was: f"set OMP_NUM_THREADS={was}.",
    "torch": lambda was: f"resume it with torch {was}.",
}


def save(run: TrainingRun, step: int, path: Path) -> None:
    """Write the state after the step, the whole file or nothing.

    Errors: OSError, and the file is as before.
    """
    state = io.BytesIO()  # torch counts from the start of a file
    torch.save(snapshot(run), state)
    label = Label(step, run.config.chosen(), run.machine, fingerprint(run.secret), run.fingerprint)
    with whole_file(path) as file:  # private: the noise of later steps follows from it
        write_label(file, label.sealed(state.getbuffer(), checkpoint_key(run.secret)))
        file.write(state.getbuffer())


def resume(run: TrainingRun, path: Path) -> int:
    """Load the state in the file, and return the number of its steps.

    Errors: ValueError, and the run is as before, for a file of another run, machine, data set or
    version, or a damaged one.
    """
    with open_regular(path) as file:
        label = read_label(file)
        state = io.BytesIO(file.read())
    refusal = (
        f"Expected {path} to be a checkpoint, but it is damaged, changed or of another version;"
        f" {INSTEAD}"
    )
    if label is None:
        raise ValueError(refusal)
    if label.settings != run.config.chosen() or label.secret != fingerprint(run.secret):
        raise ValueError(
            f"Expected {path} to be a checkpoint of this run's settings and seed; name another"
            " file."
        )
    if not label.digest:
        raise ValueError(
            f"Expected {path} to have a digest, without which nobody can tell whether it was"
            f" changed. Older versions wrote none; {INSTEAD}"
        )
    if not label.belongs_to(state.getbuffer(), checkpoint_key(run.secret)):
        raise ValueError(refusal)
    for name, way in WAYS.items():
        here = run.machine[name]
        was = label.where.get(name, "unknown")
        if here != was:
            raise ValueError(
                f"Expected {name}={here} to be {was}, as where {path} was written; {way(was)}"
            )
    if label.data != run.fingerprint:
        raise ValueError(
            f"Expected data={run.fingerprint[:SHOWN]}... to be {label.data[:SHOWN]}..., as where"
            f" {path} was written: images and features; {DATA}"
        )
    before = snapshot(run)
    try:
        # Runs no code of the file.
        values = torch.load(state, map_location="cpu", weights_only=True)
        if outline(values) != outline(before):
            raise ValueError(refusal)
        restore(run, values)
    except Exception:  # a damaged file may raise anything, and torch would advise to run its code
        restore(run, before)
        raise ValueError(refusal) from None
    return label.step


def snapshot(run: TrainingRun) -> dict[str, Any]:
    """The state that later steps depend on, as numbers, strings, tensors and lists."""
    parameters, state, noise, batches = run.snapshot()
    values: dict[str, Any] = {
        "parameters": parameters,
        "optimizer": [state.count, state.mean, list(state.vectors)],
        "batches": batches,
        "noise": noise,
        # Decides the rounding of a sum; a GPU short of memory has smaller ones.
        "chunk": run.engine.chunk,
        "tally": list(run.step_totals.last),
    }
    if run.average:
        values["average"] = [run.average.vector, run.average.count]
    if run.annealing:
        chances = json.dumps(run.annealing.generator.bit_generator.state)
        values["annealing"] = [
            run.annealing.accepted,
            run.annealing.rejected_in_a_row,
            run.public_loss,
            chances,
        ]
    return values


def outline(value: Any) -> Any:
    """The shapes and types of a value; values of one outline can replace each other."""
    if isinstance(value, Tensor):
        return value.shape, value.dtype
    if isinstance(value, dict):
        return {name: outline(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [outline(each) for each in value]
    return type(value)


def restore(run: TrainingRun, values: dict[str, Any]) -> None:
    """Restore a snapshot. Errors: those of a stream, for a state of the right form that is none."""
    count, mean, vectors = values["optimizer"]
    state = State(count, mean, tuple(vectors))
    run.restore(Snapshot(values["parameters"], state, values["noise"], values["batches"]))
    if run.annealing:
        accepted, rejected, public_loss, chances = values["annealing"]
        run.annealing.generator.bit_generator.state = json.loads(chances)
        run.annealing.accepted = accepted
        run.annealing.rejected_in_a_row = rejected
        run.public_loss = public_loss
    run.engine.chunk = values["chunk"]
    loss, norms = values["tally"]
    run.step_totals.last = loss, tuple(norms)
    if run.average:
        vector, run.average.count = values["average"]
        run.average.vector.copy_(vector)
