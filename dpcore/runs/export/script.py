"""A script that trains a run again with this program: bit for bit where its seed was chosen, else with fresh noise."""

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from dpcore.runs.export.base import RunRecord, TextForm
from dpcore.runs.record import IMPORTED

SCRIPT = Template('''"""Trains the run $run again, with the package dpcore.

$about
"""

import hashlib
import sys
import time

sys.path.append(sys.path.pop(0))  # this file may have the name of a package
import torch

from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated
from dpcore.training.loop import events_of
from dpcore.training.resume_point import origin_of
from dpcore.training.training_run import TrainingRun

SETTINGS = $settings
ORIGIN = $origin  # where it was trained, as far as that is known
STEPS = $steps
ACCURACY = $accuracy  # that it ended with; None where it did not come to its end

if ORIGIN.get("device", "").startswith("cpu") and "threads" in ORIGIN:
    torch.set_num_threads(int(ORIGIN["threads"]))  # they have a say in every stream of random numbers
run = TrainingRun(RunConfig(**SETTINGS), time.perf_counter)
if run.plan.steps != STEPS:
    sys.exit(f"Expected {STEPS} steps, but this version of dpcore plans {run.plan.steps}: it is another run.")
here = origin_of(run)
elsewhere = {name: was for name, was in ORIGIN.items() if name in here and here[name] != was}
for name, was in elsewhere.items():
    print(f"{name} was {was}, and here is {here[name]}")
last = None
for event in events_of(run, None):
    if isinstance(event, Evaluated):
        last = event
        print(f"step {event.step} of {STEPS}: test accuracy {event.accuracy:.4f}", flush=True)
print("parameters", hashlib.sha256(run.engine.parameters.cpu().numpy().tobytes()).hexdigest())
print("accuracy", last.accuracy, "recorded", ACCURACY)
if SETTINGS.get("seed") is not None and ORIGIN and not elsewhere and ACCURACY not in (None, last.accuracy):
    sys.exit("Expected the recorded accuracy: seed, settings, versions, machine and data are the same.")
''')
CHOSEN = """Its seed was chosen: where origin and program are the same, parameters and accuracy are bit for bit those of
the run, and repeating it costs nothing. Elsewhere its sums are rounded otherwise and its noise is other noise: to
release both models is to release twice, and costs both epsilons."""
SECRET = """Its seed is a secret that never leaves the record of the run. This draws fresh noise: accuracy differs as it
does between seeds, and to release both models is to release twice, and costs both epsilons."""
PART = "The run ended early, {status} after {done} of {steps} steps; this takes all of them."
UNKNOWN = "Where it was trained is not recorded, so nothing can be compared with here."


def script(records: Sequence[RunRecord]) -> str:
    """The script of a run. It holds settings, where the run was trained, and what came of it; no secret."""
    (record,) = records
    steps, finished = record.plan.steps, record.finished
    origin = where_trained(record)
    about = [SECRET if record.config.seed is None else CHOSEN]
    if finished is None:
        about.append(PART.format(status=record.run.status.value, done=record.steps, steps=steps))
    if record.not_measured:
        about.append(record.not_measured)
    if not origin:
        about.append(UNKNOWN)
    return SCRIPT.substitute(
        run=record.run.id,
        about="\n\n".join(about),
        settings=as_code(record.config.chosen()),
        origin=as_code(origin),
        steps=steps,
        accuracy=finished and finished.accuracy,
    )


def where_trained(record: RunRecord) -> dict[str, str]:
    """What the run's `origin_of` said; empty where it is not recorded."""
    return {name: said for name, said in (record.run.origin or {}).items() if name != IMPORTED}


def as_code(values: Mapping[str, Any]) -> str:
    """A dictionary of plain values as Python has it, a line for each: text stays text, whatever it holds.

    >>> print(as_code({"dataset": "mnist", "sigma": 2.0}))
    {
        'dataset': 'mnist',
        'sigma': 2.0,
    }
    """
    lines = [f"    {name!r}: {value!r}," for name, value in values.items()]
    return "\n".join(["{", *lines, "}"]) if lines else "{}"


SCRIPT_OF_OURS = TextForm("script", "A script that trains it again with dpcore", ".py", "text/x-python", script)
