"""Runs in the folders of experiment trackers: TensorBoard and MLflow."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpcore.runs.editing import MAX_NAME_CHARS
from dpcore.runs.export.base import FolderForm, optional
from dpcore.runs.export.data_forms import figures_of
from dpcore.runs.history import RunRecord
from dpcore.runs.lifecycle import Status


def tensorboard_events(records: Sequence[RunRecord], folder: Path) -> None:
    """Write the runs below the folder.

    Each event has the time of the run's start, since no other is recorded. The name of an imported
    run's folder says so.
    """
    with optional("tensorboard"):
        from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[attr-defined]
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[attr-defined]
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for record in records:
        began = record.run.started or record.run.created
        name = f"{record.run.id}-imported" if record.run.imported else record.run.id
        writer = EventFileWriter(str(folder / name))
        for figure in figures_of(record):
            if math.isfinite(figure.value):
                value = Summary.Value(tag=figure.name, simple_value=figure.value)
                summary = Summary(value=[value])
                writer.add_event(Event(step=figure.step, wall_time=began, summary=summary))
        writer.close()


TENSORBOARD = FolderForm(
    "tensorboard", "TensorBoard events, a folder for each run", tensorboard_events
)


EXPERIMENT = "dpcore"
AT_ONCE = 1000  # metrics that MLflow takes at once
# Others are KILLED.
STATUS = {Status.FINISHED: "FINISHED", Status.RUNNING: "RUNNING", Status.FAILED: "FAILED"}


def mlflow_runs(records: Sequence[RunRecord], folder: Path) -> None:
    """Write the runs as one experiment into the folder, for `mlflow ui --backend-store-uri FOLDER`.

    Errors: ValueError for a run that MLflow refuses.
    """
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a database needs more packages
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # exports are private
    with optional("mlflow-skinny"):
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    client = MlflowClient(tracking_uri=folder.absolute().as_uri())
    experiment = client.create_experiment(EXPERIMENT)
    for record in records:
        try:
            _write(client, experiment, record)
        except MlflowException as error:
            raise ValueError(f"MLflow refuses run {record.run.id}: {error.error_code}.") from error


def _write(client: Any, experiment: str, record: RunRecord) -> None:
    from mlflow.entities import Metric, Param, RunTag

    run = record.run
    start = round(1000 * (run.started or run.created))  # in milliseconds
    end = round(1000 * (run.ended or run.created))
    name = run.name[:MAX_NAME_CHARS] or run.id
    made = client.create_run(experiment, start_time=start, run_name=name).info.run_id
    settings = run.request.to_json()
    if record.followed:
        settings["sampler"] = run.mark
    elif record.seed is None:
        settings["seed"] = "secret"
    params = [Param(name, str(value)) for name, value in settings.items()]
    facts = (run.origin or {}) | {"run": run.id, "note": run.note, "tags": ", ".join(run.tags)}
    tags = [RunTag(f"dpcore.{name}", fact) for name, fact in facts.items()]
    client.log_batch(made, params=params, tags=tags)
    figures = [each for each in figures_of(record) if math.isfinite(each.value)]
    metrics = [Metric(each.name, each.value, start, each.step) for each in figures]
    for first in range(0, len(metrics), AT_ONCE):
        client.log_batch(made, metrics=metrics[first : first + AT_ONCE])
    client.set_terminated(made, STATUS.get(run.status, "KILLED"), end)


MLFLOW = FolderForm("mlflow", "MLflow runs, in a folder", mlflow_runs)
