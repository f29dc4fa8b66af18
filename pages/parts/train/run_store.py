"""The runs of this machine, as a page finds them."""

from collections.abc import Sequence
from typing import Any

from dpcore.runs import pool
from dpcore.runs.record import Run, StoreError, device_here
from dpcore.runs.store import Store


def run_store(place: Any) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its runs, and the device that they train on; what keeps runs from being trained is said in a place."""
    try:
        found = pool.ensure_pool()
        past = found.store.runs()
    except StoreError as error:
        place.error(str(error))
        return None, (), ""
    if found.trouble:
        place.warning(found.trouble)
    return found.store, past, device_here(found.store.home)
