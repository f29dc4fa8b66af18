"""The run store and its latest jobs, as a page finds them, and how long one more job should take."""

from collections.abc import Callable, Sequence
from typing import Any

from dpcore.runs import expected, pool
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, Status, StoreError, device_here
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig

LATEST = 100  # jobs that a page looks at: what they took and trained on, and what it offers to show


def opened_store(place: Any) -> Store | None:
    """The store; what keeps it from being used, or jobs from being done, is said in a place."""
    try:
        found = pool.ensure_pool()
    except StoreError as error:
        place.error(str(error))
        return None
    if found.trouble:
        place.warning(found.trouble)
    return found.store


def job_store(place: Any, kind: str = TRAINING.name) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its latest jobs of a kind, and the device they use; what keeps them from being done is said there."""
    store = opened_store(place)
    try:
        return (store, store.runs(kind=kind, limit=LATEST), device_here(store.home)) if store else (None, (), "")
    except StoreError as error:
        place.error(str(error))
        return None, (), ""


def expected_seconds(store: Store | None, config: RunConfig) -> float | None:
    """How long a run should take here; None where no run like it has been, or the store cannot say."""
    try:
        return expected.seconds_for(store, config) if store else None
    except StoreError:
        return None


def scaled_seconds(past: Sequence[Run], config: Any, scale: Callable[[Run], float]) -> float | None:
    """The seconds of the latest job of the same data and model that has finished here, times its scale.

    None where there is no such job; one of another version, whose scale is an error, is none.
    """
    for run in past:
        alike = all(run.settings.get(name) == getattr(config, name) for name in ("dataset", "model"))
        if alike and run.status is Status.FINISHED and (seconds := getattr(run.last, "seconds", None)) is not None:
            try:
                return seconds * scale(run)
            except (ValueError, KeyError, ZeroDivisionError):
                continue
    return None
