"""Sweeps: a grid over up to two settings and several seeds, asked for as one, and what came of it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcore import check
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.editing import MAX_NAME_CHARS, Deleted, deleted_of, done_by, text
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, found
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from dpcore.training.settings import SETTINGS, Choice, Count
from dpcore.written_number import read_number, read_whole

MAX_RUNS = 200  # runs of one sweep
MAX_AXES = 2
MAX_CHARACTERS = 2000  # characters of a list of values
FIXED = ("seed", "device", "noise_generator")  # what a sweep does not vary: seeds are asked for by their number
WORDS = {True: ("true", "yes"), False: ("false", "no")}


@dataclass(frozen=True)
class SweepPoint:
    """The runs of a sweep that differ in nothing but their seeds."""

    values: tuple[Any, ...]  # of the axes
    runs: tuple[Run, ...]

    @property
    def accuracies(self) -> list[float]:
        """Test accuracy of those that have finished."""
        return [run.last.accuracy for run in self.runs if isinstance(run.last, Finished)]


@dataclass(frozen=True)
class Sweep:
    """What a sweep is and what has come of it so far."""

    id: str
    axes: tuple[str, ...]  # the settings in which its runs differ, at most two unless another version made it
    points: tuple[SweepPoint, ...]
    unreadable: tuple[Run, ...] = ()  # made by another version: of no point, but they may have released something
    deleted: tuple[Deleted, ...] = ()  # what is left to say of those that are gone

    @property
    def runs(self) -> list[Run]:
        """All of its runs that can be read."""
        return [run for point in self.points for run in point.runs]

    @property
    def charged_runs(self) -> list[Run | Deleted]:
        """All that have released something, or may have, the deleted ones and those that cannot be read included."""
        return [each for each in (*self.runs, *self.unreadable, *self.deleted) if _has_begun(each)]


def values_of(setting: str, text: str) -> list[Any]:
    """The values of a setting that a text lists, with commas between; ValueError says what is none.

    >>> values_of("sigma", "0.5, 1,2"), values_of("optimizer", "sgd, adam"), values_of("private", "yes, no")
    ([0.5, 1.0, 2.0], ['sgd', 'adam'], [True, False])
    """
    check.one_of(swept_settings(), setting=setting)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"Expected the values of {setting} to take at most {MAX_CHARACTERS:,} characters.")
    pieces = [each.strip() for each in text.split(",") if each.strip()]
    if not pieces:
        raise ValueError(f"Expected the values of {setting} to be listed, with commas between them.")
    return list(dict.fromkeys(_value(setting, each) for each in pieces))


def sweep_of(config: RunConfig, axes: Mapping[str, Sequence[Any]], seeds: int = 1) -> list[RunConfig]:
    """The runs of a grid: every combination of the axes' values, each `seeds` times, all else as in `config`.

    A fixed seed is followed by the next ones; without one each run has a secret seed of its own.
    Errors: ValueError for no or more than two axes, no value, a value that a setting cannot have beside the others, an
    axis that changes nothing, or more runs than a sweep may have.
    """
    _check(axes, seeds)
    configs = []
    for values in itertools.product(*axes.values()):
        for seed in range(seeds):
            own = {} if config.seed is None else {"seed": config.seed + seed}
            configs.append(replace(config, **dict(zip(axes, values, strict=True)), **own))
    for name in axes:
        if not any(SETTINGS[name].is_used(each) for each in configs):
            raise ValueError(f"Expected no sweep over {name} without {SETTINGS[name].needed}: it would change nothing.")
    return configs


def submit_sweep(
    store: Store, configs: Sequence[RunConfig], axes: Sequence[str], name: str = "", owner: str = ""
) -> str:
    """Queue the runs of a sweep, all of them or none, in their order; the sweep's id.

    No limit is asked: whoever is bound by some asks for `named_runs` by `within_limits.submit`.
    Errors: ValueError where one of them has no plan.
    """
    sweep = store.new_id()
    store.submit_all(named_runs(configs, axes, name), owner=owner, sweep=sweep)
    return sweep


def named_runs(configs: Sequence[RunConfig], axes: Sequence[str], name: str = "") -> list[tuple[RunConfig, str]]:
    """The runs of a sweep, each with what it is called: the values of the axes, behind `name`."""
    check.whole(1, MAX_RUNS, runs=len(configs))
    name = text(name, len(name), "name")
    return [(config, _named(name, config, axes, configs[:place])) for place, config in enumerate(configs)]


def sweep_in(store: Store, sweep: str) -> Sweep | None:
    """The sweep of this id as it stands now; None where the store has no run of it that this version can read."""
    runs = found(store, Wanted(sweep=sweep), descending=False, limit=None).runs
    readable = [run for run in runs if can_be_read(run)]
    if not readable:
        return None
    axes = varied([run.config for run in readable])
    points: dict[tuple[Any, ...], list[Run]] = {}
    for run in readable:
        points.setdefault(tuple(getattr(run.config, name) for name in axes), []).append(run)
    grid = tuple(SweepPoint(values, tuple(group)) for values, group in points.items())
    unreadable = tuple(run for run in runs if not can_be_read(run))
    return Sweep(sweep, axes, grid, unreadable, deleted_of(store, sweep))


def varied(configs: Sequence[RunConfig]) -> tuple[str, ...]:
    """The settings but the seed in which the configurations differ, in the order of the table.

    >>> varied([RunConfig(seed=1), RunConfig(seed=2, sigma=2.0)])
    ('sigma',)
    """
    return tuple(name for name in SETTINGS if name not in FIXED and len({getattr(each, name) for each in configs}) > 1)


def all_released(runs: Sequence[Run | Deleted]) -> Mechanism | None:
    """What is released where all of the runs are, as far as they have got; None where there is no epsilon for that.

    Runs compose like the steps of one: where each pair (q, sigma) stands together, and in which order they come, makes
    no difference to the bound, since that is on the composition of their dominating pairs. There is no epsilon where
    one of the runs has none, or has begun and cannot be read.
    **Guarantees:** whoever releases any of these runs, chosen among them by what they gave, releases no more than this.
    Of a whole sweep, ask for `Sweep.charged_runs`: what was deleted has been looked at, too.
    """
    counts: dict[tuple[float, float], int] = {}
    known = {run.id for run in runs}
    for run in filter(_has_begun, runs):
        if not can_be_read(run) or run.plan.mechanism is None:
            return None
        done = done_by(run)
        if done is not None and run.parent not in known:  # what that had released is known by this plan alone
            done = max(done, run.plan.already_released)
        released = run.plan.released(done)
        for release in released.releases if released else ():
            key = (release.q, release.sigma)
            counts[key] = counts.get(key, 0) + release.count
    releases = tuple(Release(q, sigma, count) for (q, sigma), count in counts.items())
    return Mechanism(releases) if releases else None


def can_be_read(run: Run | Deleted) -> bool:
    """Whether this version knows all of the run's settings, where it is there, and its plan."""
    try:
        return bool((isinstance(run, Deleted) or run.config) and run.plan)
    except (ValueError, TypeError, KeyError, RuntimeError):
        return False


def _has_begun(run: Run | Deleted) -> bool:
    """Whether a run has released something, or one that it begins anew has; or whether nobody can tell."""
    done = done_by(run)
    if not can_be_read(run):
        return done is not None
    return bool(done or run.plan.spent or run.plan.released(done))


def swept_settings() -> list[str]:
    """The settings that can be an axis."""
    return [name for name in SETTINGS if name not in FIXED]


def _check(axes: Mapping[str, Sequence[Any]], seeds: int) -> None:
    check.whole(1, MAX_RUNS, seeds=seeds)
    if not 1 <= len(axes) <= MAX_AXES:
        raise ValueError(f"Expected axes={len(axes)} of them to be one or two settings.")
    count = seeds
    for name, values in axes.items():
        check.one_of(swept_settings(), setting=name)
        if not values or len({*values}) < len(values):
            raise ValueError(f"Expected the values of {name} to be at least one, each listed once.")
        count *= len(values)
    if count > MAX_RUNS:
        raise ValueError(f"Expected runs={count} of a sweep to be at most {MAX_RUNS}: list fewer values or seeds.")


def _value(setting: str, text: str) -> Any:
    kind = SETTINGS[setting]
    if isinstance(kind, Choice):
        return next((value for value, words in WORDS.items() if text.lower() in words and value in kind.choices), text)
    return read_whole(text, setting) if isinstance(kind, Count) else float(read_number(text, setting))


def _named(name: str, config: RunConfig, axes: Sequence[str], before: Sequence[RunConfig]) -> str:
    said = [_short(axis, getattr(config, axis)) for axis in axes]
    again = 1 + sum(replace(each, seed=None) == replace(config, seed=None) for each in before)
    values = _cut(", ".join([*said, f"run {again}"]), MAX_NAME_CHARS)
    room = MAX_NAME_CHARS - len(values) - 2  # the values tell it from the others, so what is cut is the name
    return f"{_cut(name, room)}: {values}" if name and room > 0 else values


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _short(name: str, value: Any) -> str:
    short = SETTINGS[name].short
    return short(value) if short else f"{name} {value}"
