"""The button that stops a run, of whatever kind."""

from collections.abc import Callable
from typing import Any

from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from pages.parts.visitors import may_change


def cancel_button(
    place: Any, store: Store, run: Run, cancel: Callable[[Store, str], object], question: str = ""
) -> None:
    """Draw it where the run goes on and the reader may stop it; `question`, if any, stands between two clicks."""
    if not run.active or not may_change(run):
        return
    stopping = run.cancelling and run.status is Status.RUNNING
    asked = {"disabled": stopping, "width": "stretch"}
    if question:
        place = place.popover("Cancel", **asked)
        place.markdown(question)
    label = "Cancelling…" if stopping else "Cancel"
    place.button(label, key=f"cancel_{run.id}", on_click=cancel, args=(store, run.id), **asked)
