"""Sweeps: a grid over one or two settings with several seeds, queued as one, and its results."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcore import check
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.editing import MAX_NAME_CHARS, Deleted, deleted_of, text
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, found
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import phrase
from dpcore.training.events import Finished
from dpcore.training.settings import SETTINGS, Choice, Count
from dpcore.written_number import read_number, read_whole

MAX_RUNS = 200  # of one sweep
MAX_AXES = 2
MAX_CHARACTERS = 2000  # of a list of values
FIXED = ("seed", "device", "noise_generator")  # not swept: seeds have a number of their own
WORDS = {True: ("true", "yes"), False: ("false", "no")}


@dataclass(frozen=True)
class SweepPoint:
    """The runs of a sweep that differ only in their seeds."""

    values: tuple[Any, ...]  # of the axes
    runs: tuple[Run, ...]

    @property
    def accuracies(self) -> list[float]:
        """The test accuracies of the finished runs."""
        return [run.last.accuracy for run in self.runs if isinstance(run.last, Finished)]


@dataclass(frozen=True)
class Sweep:
    """A sweep and its results so far."""

    id: str
    axes: tuple[str, ...]  # the settings that differ; more than two if another version made it
    points: tuple[SweepPoint, ...]
    # Of another version: without a point, but with possible releases.
    unreadable: tuple[Run, ...] = ()
    deleted: tuple[Deleted, ...] = ()  # the deleted runs

    @property
    def runs(self) -> list[Run]:
        return list(itertools.chain.from_iterable(point.runs for point in self.points))

    @property
    def charged_runs(self) -> list[Run | Deleted]:
        """All runs with releases or possible releases, including deleted and unreadable ones."""
        return [each for each in (*self.runs, *self.unreadable, *self.deleted) if _has_begun(each)]


def values_of(setting: str, text: str) -> list[Any]:
    """Read a list of values of a setting, separated by commas; ValueError names a wrong one.

    >>> values_of("sigma", "0.5, 1,2"), values_of("private", "yes, no")
    ([0.5, 1.0, 2.0], [True, False])
    """
    check.one_of(swept_settings(), setting=setting)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"List the values of {setting} in at most {MAX_CHARACTERS:,} characters.")
    pieces = [each.strip() for each in text.split(",") if each.strip()]
    if not pieces:
        raise ValueError(f"List the values of {setting}, separated by commas.")
    return list(dict.fromkeys(_value(setting, each) for each in pieces))


def sweep_of(
    config: RunConfig, axes: Mapping[str, Sequence[Any]], seeds: int = 1
) -> list[RunConfig]:
    """The runs of a grid: every combination of the axes' values, each `seeds` times.

    The other settings are those of `config`. A fixed seed is followed by the next ones; without one
    each run has its own secret seed. Errors: ValueError for no or more than two axes, an axis
    without values or effect, values that do not go together, or too many runs.
    """
    _check(axes, seeds)
    configs = []
    for values in itertools.product(*axes.values()):
        point = replace(config, **dict(zip(axes, values, strict=True)))
        for number in range(seeds):
            seed = None if config.seed is None else config.seed + number
            configs.append(replace(point, seed=seed))
    for name in axes:
        if not any(SETTINGS[name].is_used(each) for each in configs):
            raise ValueError(
                f"A sweep over {name} needs {SETTINGS[name].needed}; without it nothing changes."
            )
    return configs


def named_runs(
    configs: Sequence[RunConfig], axes: Sequence[str], name: str = ""
) -> list[tuple[RunConfig, str]]:
    """The runs of a sweep with their names: `name` and the values of the axes."""
    check.whole(1, MAX_RUNS, runs=len(configs))
    name = text(name, len(name), "name")
    named = []
    times = Counter[RunConfig]()
    for config in configs:
        alike = replace(config, seed=None)
        times[alike] += 1
        named.append((config, _named(name, config, axes, times[alike])))
    return named


def sweep_in(store: Store, sweep: str) -> Sweep | None:
    """The sweep as it stands now; None if the store has no readable run of it."""
    readable: list[Run] = []
    unreadable: list[Run] = []
    for run in found(store, Wanted(sweep=sweep), descending=False, limit=None).runs:
        group = readable if can_be_read(run) else unreadable
        group.append(run)
    if not readable:
        return None
    axes = varied([run.config for run in readable])
    groups: dict[tuple[Any, ...], list[Run]] = {}  # values of the axes -> runs
    for run in readable:
        values = tuple(getattr(run.config, name) for name in axes)
        groups.setdefault(values, []).append(run)
    points = tuple(SweepPoint(values, tuple(runs)) for values, runs in groups.items())
    return Sweep(sweep, axes, points, tuple(unreadable), deleted_of(store, sweep))


def varied(configs: Sequence[RunConfig]) -> tuple[str, ...]:
    """The settings except the seed in which the configurations differ, in the order of `SETTINGS`.

    >>> varied([RunConfig(seed=1), RunConfig(seed=2, sigma=2.0)])
    ('sigma',)
    """
    names = []
    for name in swept_settings():
        values = {getattr(config, name) for config in configs}
        if len(values) > 1:
            names.append(name)
    return tuple(names)


def all_released(runs: Sequence[Run | Deleted]) -> Mechanism | None:
    """The releases of all of the runs so far, as one mechanism; None if they have no epsilon.

    Runs compose like the steps of one run. The order and grouping of the pairs (q, sigma) does not
    change the bound, which is on the composition of their dominating pairs. There is no epsilon if
    one of the runs has none, or has begun and cannot be read. **Guarantees:** to release any of
    these runs, even one chosen by its result, releases no more than this. For a whole sweep pass
    `Sweep.charged_runs`, since somebody looked at the deleted runs, too.
    """
    counts: dict[tuple[float, float], int] = {}
    known = {run.id for run in runs}
    for run in filter(_has_begun, runs):
        if not can_be_read(run) or run.plan.mechanism is None:
            return None
        done = run.done
        # Only this plan knows the parent's releases.
        if done is not None and run.parent not in known:
            done = max(done, run.plan.already_released)
        released = run.plan.released(done)
        if released is None:
            continue
        for release in released.releases:
            key = (release.q, release.sigma)
            counts[key] = counts.get(key, 0) + release.count
    releases = tuple(Release(q, sigma, count) for (q, sigma), count in counts.items())
    return Mechanism(releases) if releases else None


def can_be_read(run: Run | Deleted) -> bool:
    """True if this version can read the run's plan and, unless it is deleted, its settings."""
    try:
        if isinstance(run, Run):
            _ = run.request
        _ = run.plan
        return True
    except (ValueError, TypeError, KeyError, RuntimeError):
        return False


def _has_begun(run: Run | Deleted) -> bool:
    """True if a run, or one that it begins again, has released something, or might have."""
    if not can_be_read(run):
        return run.done is not None
    return bool(run.done or run.plan.spent or run.plan.released(run.done))


def swept_settings() -> list[str]:
    return [name for name in SETTINGS if name not in FIXED]


def _check(axes: Mapping[str, Sequence[Any]], seeds: int) -> None:
    check.whole(1, MAX_RUNS, seeds=seeds)
    if not 1 <= len(axes) <= MAX_AXES:
        raise ValueError(f"A sweep varies one or two settings, not {len(axes)}.")
    count = seeds
    for name, values in axes.items():
        check.one_of(swept_settings(), setting=name)
        if not values or len({*values}) < len(values):
            raise ValueError(f"List at least one value of {name}, and each value once.")
        count *= len(values)
    if count > MAX_RUNS:
        raise ValueError(
            f"A sweep has at most {MAX_RUNS} runs, not {count}. List fewer values or seeds."
        )


def _value(setting: str, text: str) -> Any:
    kind = SETTINGS[setting]
    if isinstance(kind, Choice):
        for value, words in WORDS.items():
            if value in kind.choices and text.lower() in words:
                return value
        return text
    if isinstance(kind, Count):
        return read_whole(text, setting)
    return float(read_number(text, setting))


def _named(name: str, config: RunConfig, axes: Sequence[str], again: int) -> str:
    said = [phrase(axis, config) for axis in axes]
    values = _cut(", ".join([*said, f"run {again}"]), MAX_NAME_CHARS)
    room = MAX_NAME_CHARS - len(values) - 2  # the values tell the runs apart, so the name is cut
    if not name or room <= 0:
        return values
    return f"{_cut(name, room)}: {values}"


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return text[: longest - 1].rstrip() + "…"
