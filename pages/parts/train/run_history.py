"""What the pages know of runs: their events, read once and then only the new ones, shared by all sessions."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from statistics import median

from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped

KEPT = 64  # runs whose events stay in memory
_histories: "OrderedDict[tuple[str, str], History]" = OrderedDict()
_lock = threading.Lock()


@dataclass
class History:
    """The events of one run so far, by kind."""

    sequence: int = 0
    started: Started | None = None
    finished: Finished | None = None
    stepped: list[Stepped] = field(default_factory=list)
    evaluated: list[Evaluated] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case Started():
                self.started = event
            case Stepped():
                self.stepped.append(event)
            case Evaluated():
                self.evaluated.append(event)
            case Finished():
                self.finished = event

    @property
    def step(self) -> int:
        """Steps done, as far as is known."""
        return max((each[-1].step for each in (self.stepped, self.evaluated) if each), default=0)

    @property
    def decisions(self) -> str:
        """Of simulated annealing: one letter a step so far, "a" accepted, "r" rejected."""
        return "".join(each.decisions for each in self.stepped)

    @property
    def steps_per_second(self) -> float:
        """The pace of the last reports, 0 before the first."""
        recent = self.stepped[-8:]
        return median(each.steps_per_second for each in recent) if recent else 0.0


def history_of(store: Store, run: str) -> History:
    """The run's history, brought up to date."""
    with _lock:
        key = (str(store.path), run)
        history = _histories.setdefault(key, History())
        _histories.move_to_end(key)
        while len(_histories) > KEPT:
            _histories.popitem(last=False)
        for sequence, event in store.tail(run, history.sequence):
            history.sequence = sequence
            history.add(event)
        return history


def seconds_for(config: RunConfig, past: list[Run]) -> float | None:
    """How long the run should take, by the latest runs of the same model and kind on this machine; None before one."""
    paces = [
        run.last.step * run.settings["batch"] / max(run.last.seconds, 1e-3)
        for run in past
        if isinstance(run.last, Finished) and _alike(run, config)
    ]
    return config.steps * config.batch / median(paces[:5]) if paces else None


def _alike(run: Run, config: RunConfig) -> bool:
    same = ("model", "optimizer", "private", "device")
    return all(run.settings.get(key) == getattr(config, key) for key in same)
