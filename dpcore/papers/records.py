"""Recorded training results, with the date, the machine and the versions.

`recorded/` has a file for each paper: a JSON list with one object for each configuration, written
by `recording.py`. Pages show them as recorded and never train again.
"""

import json
import statistics
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dpcore.data.catalogue import DATASETS, Dataset, stand_in
from dpcore.runs.record import cost_of
from dpcore.training.config import RunConfig
from dpcore.whole_file import whole_file

FOLDER = Path(__file__).parent / "recorded"


class OnTheWay(NamedTuple):
    step: int
    accuracy: float  # on the test set, in [0, 1]
    accepted: int | None = None  # of simulated annealing: the steps accepted until then


@dataclass(frozen=True)
class Seeded:
    """Final results of the run of one seed."""

    seed: int
    accuracy: float  # on the test set, in [0, 1]
    accepted: int | None = None  # of simulated annealing: the accepted steps
    rmse: float | None = None  # if the classes are numbers
    averaged: float | None = None  # accuracy of averaged weights, if a run keeps them
    course: tuple[OnTheWay, ...] = ()  # tests on the way, if a figure shows them

    @property
    def score(self) -> float:
        """The error if the classes are numbers, else the accuracy in percent.

        A run that averages its weights counts with the average, which is as private as the last
        weights.
        """
        if self.rmse is not None:
            return self.rmse
        return 100 * (self.accuracy if self.averaged is None else self.averaged)


@dataclass(frozen=True)
class Recorded:
    """The runs of one configuration, with date, device and versions of the newest."""

    settings: dict[str, Any]  # see `kept`
    runs: tuple[Seeded, ...]  # none if a run was only begun, to time it
    epsilon: float | None  # certified, at the configuration's delta; None without privacy
    date: str  # as 2026-11-22
    device: str  # with the number of threads on a processor
    versions: dict[str, str]  # of python, torch and this package
    seconds: float  # of a run, on average

    @property
    def data(self) -> Dataset:
        """The data set of the runs, maybe one that stands in for the paper's."""
        return DATASETS[RunConfig(**self.settings).dataset]

    @property
    def mean(self) -> float:
        """The mean test accuracy in percent, or the mean error."""
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
    """Return the name of a configuration's record: its chosen settings without seed and device.

    >>> named(RunConfig(sigma=2, seed=5))
    '{"sigma": 2.0}'
    """
    return json.dumps(kept(config), sort_keys=True)


def kept(config: RunConfig) -> dict[str, Any]:
    """Return the settings of a configuration that a record keeps."""
    return {
        name: value for name, value in config.chosen().items() if name not in ("seed", "device")
    }


def path_of(paper: str) -> Path:
    """Return the file of a paper's records."""
    return FOLDER / f"{paper}.json"


@cache
def records_of(paper: str) -> dict[str, Recorded]:
    """Read the records of a paper, by the name of their configuration."""
    if not path_of(paper).exists():
        return {}
    found = {}
    for each in json.loads(path_of(paper).read_text(encoding="utf-8")):
        runs = [
            run | {"course": tuple(OnTheWay(*test) for test in run.get("course", ()))}
            for run in each.pop("runs")
        ]
        found[json.dumps(each["settings"], sort_keys=True)] = Recorded(
            runs=tuple(Seeded(**run) for run in runs), **each
        )
    return found


def recorded(paper: str, config: RunConfig) -> Recorded | None:
    """Return the record of a configuration, or of one on data that stand in for its own; None
    without any.
    """
    others = [
        each.name for each in DATASETS.shipped.values() if each.stands_in_for == config.dataset
    ]
    every = (config, *(replace(config, dataset=name) for name in others))
    found = (records_of(paper).get(named(each)) for each in every)
    return next((record for record in found if record and record.runs), None)


def trainable(config: RunConfig) -> RunConfig:
    """Return the configuration, on the data set that stands in for its own if that is missing here."""
    other = stand_in(config.dataset)
    return replace(config, dataset=other.name) if other else config


def expected_seconds(config: RunConfig) -> float | None:
    """Return the seconds of a run, from those recorded for the same network, shape of data and
    features; else None.
    """
    pace = _paces().get(_kind(config))
    return pace and pace * cost_of(config)


@cache
def _paces() -> dict[tuple[Any, ...], float]:
    """Return the median seconds per example of the recorded runs of each kind."""
    seen: dict[tuple[Any, ...], list[float]] = {}
    for file in FOLDER.glob("[0-9]*.json"):
        for record in records_of(file.stem).values():
            config = RunConfig(**record.settings)
            seen.setdefault(_kind(config), []).append(record.seconds / cost_of(config))
    return {kind: statistics.median(paces) for kind, paces in seen.items()}


def _kind(config: RunConfig) -> tuple[Any, ...]:
    return DATASETS[config.dataset].shape, config.model, config.features, config.private


def written(paper: str, records: dict[str, Recorded]) -> None:
    """Write the records of a paper, ordered by name: the whole file or none."""
    text = json.dumps([_listed(records[name]) for name in sorted(records)], indent=1)
    with whole_file(path_of(paper), shared=True) as file:
        file.write(f"{text}\n".encode())
    records_of.cache_clear()
    _paces.cache_clear()


def _listed(record: Recorded) -> dict[str, Any]:
    """Return a record for JSON; runs without tests on the way leave these out."""
    listed = asdict(record)
    for run in listed["runs"]:
        if not run["course"]:
            del run["course"]
    return listed
