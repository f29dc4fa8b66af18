"""The run store, without any of its runs: there may be very many."""

from typing import Any

from dpcore.runs import pool
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store


def opened_store(place: Any) -> Store | None:
    """The store; what keeps it from being used, or runs from being done, is said in a place."""
    try:
        found = pool.ensure_pool()
    except StoreError as error:
        place.error(str(error))
        return None
    if found.trouble:
        place.warning(found.trouble)
    return found.store
