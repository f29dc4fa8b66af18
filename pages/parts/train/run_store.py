"""The latest runs of this machine, as a page finds them, and how long one more should take."""

from collections.abc import Sequence
from typing import Any

from dpcore.runs import expected, pool
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, StoreError, device_here
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig

LATEST = 100  # runs that a page looks at: what they took and trained on, and what it offers to show


def run_store(place: Any, kind: str = TRAINING.name) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its latest jobs of a kind, and the device they use; what keeps them from being done is said there."""
    try:
        found = pool.ensure_pool()
        past = found.store.runs(kind=kind, limit=LATEST)
    except StoreError as error:
        place.error(str(error))
        return None, (), ""
    if found.trouble:
        place.warning(found.trouble)
    return found.store, past, device_here(found.store.home)


def expected_seconds(store: Store | None, config: RunConfig) -> float | None:
    """How long a run should take here; None where no run like it has been, or the store cannot say."""
    try:
        return expected.seconds_for(store, config) if store else None
    except StoreError:
        return None
