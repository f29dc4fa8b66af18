"""How far a run is, in a bar and a sentence that keep up with its events by themselves."""

from dataclasses import asdict, dataclass
from typing import Any

from dpcore.runs.expected import REPORTS
from pages.parts.components.served_component import mount


@dataclass(frozen=True)
class Progress:
    """A run as the page knows it when it is drawn."""

    run: str
    label: str
    state: dict[str, Any]  # what `state_of` says
    active: bool
    after: int  # number of the last event that is known
    step: int
    steps: int  # of the whole run
    paces: tuple[float, ...]  # the steps per second of the latest reports
    device: str  # "" before the run has begun
    starting: str = "starting"  # what is said until then
    reports: int = REPORTS  # the latest, whose median pace is that of the run


def run_progress(progress: Progress, key: str) -> None:
    """Show how far the run is; the page, or the fragment around, runs again when its status has changed."""
    mount("run_progress", key, asdict(progress), "changed")
