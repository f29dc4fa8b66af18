"""How far a run is, in a bar and a sentence that keep up with its events by themselves."""

from dataclasses import asdict, dataclass

from pages.parts.components.served_component import mount


@dataclass(frozen=True)
class Progress:
    """A run as the page knows it when it is drawn."""

    run: str
    label: str
    status: str
    position: int | None  # in the queue
    cancelling: bool
    active: bool
    after: int  # number of the last event that is known
    step: int
    steps: int  # of the whole run
    paces: tuple[float, ...]  # the steps per second of the latest reports
    device: str  # "" before the run has begun


def run_progress(progress: Progress, key: str) -> None:
    """Show how far the run is; the page, or the fragment around, runs again when its status has changed."""
    known = asdict(progress)
    state = {name: known.pop(name) for name in ("status", "position", "cancelling")}
    mount("run_progress", key, known | {"state": state}, "changed")
