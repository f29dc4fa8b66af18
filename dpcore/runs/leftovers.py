"""Files that runs have left behind and nobody needs: they are as large as a model and its optimizer's memory."""

import time
from pathlib import Path

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store

UNKNOWN_FOR = 3600.0  # seconds that a checkpoint of no known run is kept: a rest's is copied before it is a run


def remove_needless(store: Store) -> list[Path]:
    """Remove checkpoints of runs that have finished or are gone, and halves of those that ended early; what went.

    A run that ended early keeps its checkpoint: it can be resumed from it.
    """
    folder = checkpoint_path(store.home, "any").parent
    files = [file for file in folder.glob("*") if file.suffix in (".pt", ".part")]
    runs = {run.id: run for run in store.runs(kind=None)} if files else {}
    removed = []
    for file in files:
        run = runs.get(file.stem)
        if run is None:
            needless = _age(file) > UNKNOWN_FOR
        else:
            needless = run.status is Status.FINISHED or (file.suffix == ".part" and not run.active)
        if needless:
            file.unlink(missing_ok=True)
            removed.append(file)
    return removed


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0
