"""The runs of this machine, as a page finds them."""

from collections.abc import Sequence
from typing import Any

from dpcore.runs import pool
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, StoreError, device_here
from dpcore.runs.store import Store


def run_store(place: Any, kind: str = TRAINING.name) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its jobs of a kind, and the device they use; what keeps them from being done is said in a place."""
    try:
        found = pool.ensure_pool()
        past = found.store.runs(kind=kind)
    except StoreError as error:
        place.error(str(error))
        return None, (), ""
    if found.trouble:
        place.warning(found.trouble)
    return found.store, past, device_here(found.store.home)
