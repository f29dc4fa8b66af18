"""Runs as a tidy table: a row for each figure, beside it what the run is."""

import csv
import io
from collections.abc import Sequence

from dpcore.runs.export.base import TextForm
from dpcore.runs.export.figures import figures_of
from dpcore.runs.export.run_record import RunRecord
from dpcore.runs.export.spreadsheet import as_text
from dpcore.training.settings import SETTINGS


def tidy_csv(records: Sequence[RunRecord]) -> str:
    """One row for each figure of each run, and a column for each setting that a run does not have at its default.

    Epsilon is certified. A secret seed is empty. An imported run says which one it was.
    """
    chosen = {name for record in records for name in record.config.chosen()}
    settings = [name for name in SETTINGS if name in chosen]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["run", "name", "status", "imported", "event", "step", "epoch", "figure", "value", *settings])
    for record in records:
        run = [record.run.id, as_text(record.run.name), record.run.status.value, record.run.imported]
        values = [getattr(record.config, name) for name in settings]
        for figure in figures_of(record):
            table.writerow([*run, *figure, *values])
    return text.getvalue()


CSV = TextForm("csv", "Tidy CSV, a row for each figure", ".csv", "text/csv", tidy_csv, several=True)
