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


class NotRecorded(LookupError):
    """No run of a configuration is recorded."""


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
        if self.averaged is not None:
            return 100 * self.averaged
        return 100 * self.accuracy


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
        config = RunConfig(**self.settings)
        return DATASETS[config.dataset]

    @property
    def mean(self) -> float:
        """The mean test accuracy in percent, or the mean error."""
        return statistics.fmean(run.score for run in self.runs)

    @property
    def seeds(self) -> str:
        """The number of runs, as "1 seed"."""
        count = len(self.runs)
        return "1 seed" if count == 1 else f"{count} seeds"

    @property
    def where(self) -> str:
        """The device and the torch of the newest run."""
        torch = self.versions.get("torch", "unknown")
        release, _, _build = torch.partition("+")
        return f"{self.device}, torch {release}"

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds, in the unit of the mean; None for one seed."""
        if len(self.runs) < 2:
            return None
        return statistics.stdev(run.score for run in self.runs)


def named(config: RunConfig) -> str:
    """Return the name of a configuration's record: its chosen settings without seed and device.

    >>> named(RunConfig(sigma=2, seed=5))
    '{"sigma": 2.0}'
    """
    return json.dumps(kept(config), sort_keys=True)


def kept(config: RunConfig) -> dict[str, Any]:
    """Return the settings of a configuration that a record keeps."""
    settings = config.chosen()
    settings.pop("seed", None)
    settings.pop("device", None)
    return settings


def path_of(paper: str) -> Path:
    """Return the file of a paper's records."""
    return FOLDER / f"{paper}.json"


@cache
def records_of(paper: str) -> dict[str, Recorded]:
    """Read the records of a paper, by the name of their configuration."""
    path = path_of(paper)
    if not path.exists():
        return {}
    found = {}
    for fields in json.loads(path.read_text(encoding="utf-8")):
        name = json.dumps(fields["settings"], sort_keys=True)
        fields["runs"] = tuple(_seeded(run) for run in fields["runs"])
        found[name] = Recorded(**fields)
    return found


def _seeded(fields: dict[str, Any]) -> Seeded:
    """Read the results of one seed from JSON."""
    fields["course"] = tuple(OnTheWay(*test) for test in fields.get("course", ()))
    return Seeded(**fields)


def recorded(paper: str, config: RunConfig) -> Recorded | None:
    """Return the record of a configuration, or of one on data that stand in for its own.

    None without any.
    """
    shipped = DATASETS.shipped.values()
    others = [each.name for each in shipped if each.stands_in_for == config.dataset]
    for dataset in (config.dataset, *others):
        record = records_of(paper).get(named(replace(config, dataset=dataset)))
        if record and record.runs:
            return record
    return None


def record_of(paper: str, config: RunConfig) -> Recorded:
    """Return the record of a configuration, as `recorded`; NotRecorded without any."""
    record = recorded(paper, config)
    if record is None:
        raise NotRecorded(named(config))
    return record


def trainable(config: RunConfig) -> RunConfig:
    """Return the configuration on data that are here: its own, or those that stand in for them."""
    other = stand_in(config.dataset)
    return replace(config, dataset=other.name) if other else config


def expected_seconds(config: RunConfig) -> float | None:
    """Return the seconds of a run by the recorded runs of its kind; None without any."""
    pace = _paces().get(_kind(config))
    return pace and pace * cost_of(config)


@cache
def _paces() -> dict[tuple[Any, ...], float]:
    """Return the median seconds per example of the recorded runs of each kind."""
    seen: dict[tuple[Any, ...], list[float]] = {}
    for file in FOLDER.glob("[0-9]*.json"):
        for record in records_of(file.stem).values():
            config = RunConfig(**record.settings)
            pace = record.seconds / cost_of(config)
            seen.setdefault(_kind(config), []).append(pace)
    return {kind: statistics.median(paces) for kind, paces in seen.items()}


def _kind(config: RunConfig) -> tuple[Any, ...]:
    """Return what decides the time per example: shape of the data, network, features, privacy."""
    return DATASETS[config.dataset].shape, config.model, config.features, config.private


def written(paper: str, records: dict[str, Recorded]) -> None:
    """Write the records of a paper, ordered by name: the whole file or none."""
    listed = [_listed(records[name]) for name in sorted(records)]
    text = json.dumps(listed, indent=1)
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
