"""Runs as TensorBoard reads them: a folder for each, with its figures as scalars."""

import math
from collections.abc import Sequence
from pathlib import Path

from dpcore.runs.export.base import FolderForm, optional
from dpcore.runs.export.figures import figures_of
from dpcore.runs.export.run_record import RunRecord


def tensorboard_events(records: Sequence[RunRecord], folder: Path) -> None:
    """Write them below the folder. Times are those of the start: when an event happened is not recorded.

    The folder of an imported run says that it is one.
    """
    with optional("tensorboard"):
        from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[attr-defined]
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[attr-defined]
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for record in records:
        began = record.run.started or record.run.created
        writer = EventFileWriter(str(folder / f"{record.run.id}{'-imported' if record.run.imported else ''}"))
        for figure in figures_of(record):
            if math.isfinite(figure.value):
                value = Summary.Value(tag=figure.name, simple_value=figure.value)
                writer.add_event(Event(step=figure.step, wall_time=began, summary=Summary(value=[value])))
        writer.close()


TENSORBOARD = FolderForm("tensorboard", "TensorBoard events, a folder for each run", tensorboard_events)
