"""Training results that were measured once, and are kept with the date, the machine and the versions.

A file of `recorded/` for each paper: a JSON list with one object for each configuration. They are shown as recorded and
never computed again behind a reader's back; `recording.py` writes them.
"""

import json
import os
import statistics
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpcore.training.config import RunConfig

FOLDER = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class Seeded:
    """How the run of one seed ended."""

    seed: int
    accuracy: float  # on the test set, in [0, 1]
    accepted: int | None = None  # of simulated annealing: the steps that were accepted
    rmse: float | None = None  # where the classes are numbers
    averaged: float | None = None  # the accuracy of averaged weights, where a run keeps them

    @property
    def score(self) -> float:
        """What a paper prints of it: the error where the classes are numbers, else the accuracy in per cent."""
        return 100 * self.accuracy if self.rmse is None else self.rmse


@dataclass(frozen=True)
class Recorded:
    """The runs of one configuration."""

    settings: dict[str, Any]  # what is `kept` of its configuration
    runs: tuple[Seeded, ...]
    epsilon: float | None  # certified, at the configuration's delta; None without privacy
    date: str  # of the newest run, as 2026-11-22
    device: str
    versions: dict[str, str]  # of python, torch and this package
    seconds: float  # that a run took on average

    @property
    def mean(self) -> float:
        """The mean test accuracy in per cent, or the mean error."""
        return statistics.fmean(run.score for run in self.runs)

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds, of accuracies in percentage points; None for one seed."""
        return statistics.stdev(run.score for run in self.runs) if len(self.runs) > 1 else None


def named(config: RunConfig) -> str:
    """What a configuration's record is found by: its chosen settings without the seed, and where it was trained.

    >>> named(RunConfig(sigma=2, seed=5))
    '{"sigma": 2.0}'
    """
    return json.dumps(kept(config), sort_keys=True)


def kept(config: RunConfig) -> dict[str, Any]:
    """What a record keeps of a configuration."""
    return {name: value for name, value in config.chosen().items() if name not in ("seed", "device")}


def path_of(paper: str) -> Path:
    """The file of a paper's records."""
    return FOLDER / f"{paper}.json"


@cache
def records_of(paper: str) -> dict[str, Recorded]:
    """The records of a paper, by the name of their configuration."""
    if not path_of(paper).exists():
        return {}
    found = {}
    for each in json.loads(path_of(paper).read_text(encoding="utf-8")):
        runs = tuple(Seeded(**run) for run in each.pop("runs"))
        found[json.dumps(each["settings"], sort_keys=True)] = Recorded(runs=runs, **each)
    return found


def recorded(paper: str, config: RunConfig) -> Recorded | None:
    """The record of a configuration, if there is one."""
    return records_of(paper).get(named(config))


def written(paper: str, records: dict[str, Recorded]) -> None:
    """Write the records of a paper, in the order of their configurations' names: the whole file or none."""
    text = json.dumps([asdict(records[name]) for name in sorted(records)], indent=1)
    path = path_of(paper)
    path.parent.mkdir(exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(text + "\n", encoding="utf-8")
    os.replace(aside, path)
    records_of.cache_clear()
