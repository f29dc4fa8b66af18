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
from typing import Any, NamedTuple

from dpcore.training.config import RunConfig

FOLDER = Path(__file__).parent / "recorded"


class OnTheWay(NamedTuple):
    """A test on the way."""

    step: int
    accuracy: float  # on the test set, in [0, 1]
    accepted: int | None = None  # of simulated annealing: the steps that were accepted until then


@dataclass(frozen=True)
class Seeded:
    """The end of the run of one seed."""

    seed: int
    accuracy: float  # on the test set, in [0, 1]
    accepted: int | None = None  # of simulated annealing: the steps that were accepted
    rmse: float | None = None  # where the classes are numbers
    averaged: float | None = None  # the accuracy of averaged weights, where a run keeps them
    course: tuple[OnTheWay, ...] = ()  # how accurate it was on the way, where a figure shows that

    @property
    def score(self) -> float:
        """The number that a paper prints of it: the error where the classes are numbers, else the accuracy in per cent.

        A run that keeps an average of its weights gives that, which is as private as the last ones.
        """
        if self.rmse is not None:
            return self.rmse
        return 100 * (self.accuracy if self.averaged is None else self.averaged)


@dataclass(frozen=True)
class Recorded:
    """The runs of one configuration; date, device and versions are those of the newest, whatever the others had."""

    settings: dict[str, Any]  # what is `kept` of its configuration
    runs: tuple[Seeded, ...]
    epsilon: float | None  # certified, at the configuration's delta; None without privacy
    date: str  # as 2026-11-22
    device: str  # with the number of threads on a processor
    versions: dict[str, str]  # of python, torch and this package
    seconds: float  # that a run took on average

    @property
    def mean(self) -> float:
        """The mean test accuracy in per cent, or the mean error."""
        return statistics.fmean(run.score for run in self.runs)

    @property
    def seeds(self) -> str:
        """The number of runs, as "1 seed"."""
        return "1 seed" if len(self.runs) == 1 else f"{len(self.runs)} seeds"

    @property
    def where(self) -> str:
        """The device and the torch of the newest run."""
        return f"{self.device}, torch {self.versions.get('torch', 'unknown').partition('+')[0]}"

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds, of accuracies in percentage points; None for one seed."""
        return statistics.stdev(run.score for run in self.runs) if len(self.runs) > 1 else None


def named(config: RunConfig) -> str:
    """The name of a configuration's record: its chosen settings without the seed, and where it was trained.

    >>> named(RunConfig(sigma=2, seed=5))
    '{"sigma": 2.0}'
    """
    return json.dumps(kept(config), sort_keys=True)


def kept(config: RunConfig) -> dict[str, Any]:
    """The settings of a configuration that a record keeps."""
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
        runs = tuple(_seeded(run) for run in each.pop("runs"))
        found[json.dumps(each["settings"], sort_keys=True)] = Recorded(runs=runs, **each)
    return found


def _seeded(run: dict[str, Any]) -> Seeded:
    course = tuple(OnTheWay(*each) for each in run.pop("course", ()))
    return Seeded(**run, course=course)


def recorded(paper: str, config: RunConfig) -> Recorded | None:
    """The record of a configuration, if there is one."""
    return records_of(paper).get(named(config))


def written(paper: str, records: dict[str, Recorded]) -> None:
    """Write the records of a paper, in the order of their configurations' names: the whole file or none."""
    text = json.dumps([_listed(records[name]) for name in sorted(records)], indent=1)
    path = path_of(paper)
    path.parent.mkdir(exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(text + "\n", encoding="utf-8")
    os.replace(aside, path)
    records_of.cache_clear()


def _listed(record: Recorded) -> dict[str, Any]:
    """A record as JSON has it; a run without a course does not name it."""
    listed = asdict(record)
    for run in listed["runs"]:
        if not run["course"]:
            del run["course"]
    return listed
