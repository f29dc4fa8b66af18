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
from dpcore.runs.record import Status


def tensorboard_events(records: Sequence[RunRecord], folder: Path) -> None:
    """Write the runs below the folder, with the time of the start for each event, since no other is
    recorded.

    The name of an imported run's folder says so.
    """
    with optional("tensorboard"):
        from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[attr-defined]
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[attr-defined]
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for record in records:
        began = record.run.started or record.run.created
        writer = EventFileWriter(
            str(folder / f"{record.run.id}{'-imported' if record.run.imported else ''}")
        )
        for figure in figures_of(record):
            if math.isfinite(figure.value):
                value = Summary.Value(tag=figure.name, simple_value=figure.value)
                writer.add_event(
                    Event(step=figure.step, wall_time=began, summary=Summary(value=[value]))
                )
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
    start, end = (round(1000 * (moment or run.created)) for moment in (run.started, run.ended))
    made = client.create_run(
        experiment, start_time=start, run_name=run.name[:MAX_NAME_CHARS] or run.id
    ).info.run_id
    chosen = record.config.to_json() | {
        "seed": "secret" if record.config.seed is None else record.config.seed
    }
    params = [Param(name, str(value)) for name, value in chosen.items()]
    told = (run.origin or {}) | {"run": run.id, "note": run.note, "tags": ", ".join(run.tags)}
    client.log_batch(
        made, params=params, tags=[RunTag(f"dpcore.{name}", said) for name, said in told.items()]
    )
    metrics = [
        Metric(each.name, each.value, start, each.step)
        for each in figures_of(record)
        if math.isfinite(each.value)
    ]
    for first in range(0, len(metrics), AT_ONCE):
        client.log_batch(made, metrics=metrics[first : first + AT_ONCE])
    client.set_terminated(made, STATUS.get(run.status, "KILLED"), end)


MLFLOW = FolderForm("mlflow", "MLflow runs, in a folder", mlflow_runs)
