"""Begin to follow a training, or go on with a run that is followed already."""

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dpcore import check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.runs.editing import MAX_NAME_CHARS, text
from dpcore.runs.followed.count import Phase, phases_of
from dpcore.runs.followed.engine import Engine, Reader, examples_of, history_of
from dpcore.runs.followed.keeping import IN_USE, Kept, is_followed_elsewhere, last_told
from dpcore.runs.followed.request import Followed
from dpcore.runs.followed.run import FollowedRun, open_runs
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import Run, StoreError, UnknownRun, is_dead
from dpcore.runs.store import Store

LOG = logging.getLogger("dpcore.follow")
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK")  # what launchers of several processes set
ID = re.compile("[0-9a-z]{1,32}")
FIXED = ("delta", "examples", "unit")  # of a run, from its first step on


def follow(
    training: str | Engine = "",
    *,
    name: str = "",
    delta: float | None = None,
    examples: int | None = None,
    batch: float | None = None,
    q: float | None = None,
    sigma: float | None = None,
    unit: str | None = None,
    target_epsilon: float | None = None,
    steps: int | None = None,
    id: str | None = None,
    done: int = 0,
    rank: int | None = None,
    home: Path | str | None = None,
) -> FollowedRun:
    """Follow a training of your own: count its releases, and show it in the app.

    `training` is its name, or a `PrivacyEngine` of Opacus, with its `name` apart. Its history is
    read at each `run.sync()`, and nothing is changed; its data set and steps say what is not given.

    `examples` is n, which is public. Each step draws each example by itself (Poisson) at the rate
    `batch` / `examples`, or `q`, clips its gradient, and adds noise of `sigma` times the clipping
    norm to the sum. `unit` says what one example is, `steps` how many are planned.

    `id` names the run: the same call goes on with its count after an interruption, never from 0. A
    run whose process was killed is charged for all steps that it may have taken. `done` says how
    many steps were taken at least, where the store may have missed some. Rank 0 of several
    processes writes; the others count alike. `home` replaces DPCORE_HOME.

    Errors: ValueError for settings without an epsilon or other settings than the run has, or for a
    run that another process follows; StoreError for an `id` that cannot be looked up. Source: the
    proof of the certified accountant, dpcore/privacy/certified/README.md.

    >>> run = follow("mine", delta=1e-5, examples=60_000, batch=512, sigma=1.1, rank=1)
    >>> for _ in range(100): run.step()
    >>> run.steps, round(run.epsilon().value, 2)
    (100, 0.46)
    """
    given = {
        "delta": delta,
        "examples": examples,
        "sigma": sigma,
        "unit": unit,
        "target_epsilon": target_epsilon,
        "steps": steps,
    }
    try:
        if isinstance(training, str):
            given["q"] = _rate(examples, batch, q)
            return _followed(name or training, _told(given), id, done, rank, home)
        if examples is None:
            given["examples"] = examples_of(training)
        given["q"] = _rate(given["examples"], batch, q)
        told = _first_of(training) | _told(given)
        run = _followed(name, told, id, done, rank, home)
        _attach(training, run)
        return run
    except ValueError as error:
        raise ValueError(f"dpcore.follow: {error}") from None


def _told(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given, as plain numbers."""
    return {key: _plain(value) for key, value in given.items() if value is not None}


def _followed(
    name: str,
    told: dict[str, Any],
    id: str | None,
    done: int,
    rank: int | None,
    home: Path | str | None,
) -> FollowedRun:
    """A new run, or the one with this id, which goes on."""
    check.whole(0, MAX_STEPS, done=done)
    name = text(name, MAX_NAME_CHARS, "name")
    rank = _rank(rank)
    if id is not None:
        _check_id(id, rank)
    elif rank:
        return FollowedRun(_request(told), None, _phases(told), done, "")
    before = None
    store = _store(home, must_know=id is not None and not done)
    if store and id is not None:
        before = _before(store, id, rank, done)
    if before is None:
        request = _request(told)
        kept = Kept(store, id or store.new_id(), name, request) if store and not rank else None
        return FollowedRun(request, kept, _phases(told), done, "")
    assert store, "a run that is known came from it"
    request = _continued(before, told)
    phases, steps = _counted(store, before, rank, done)
    last = _gone_on(steps, phases[-1], told)
    if last[1:] != phases[-1][1:]:
        phases.append(last)
    kept = None
    if not rank:
        kept = Kept(store, before.id, before.name, request, before.plan)
    unaccounted = before.plan.unaccounted if before.plan.steps else ""
    return FollowedRun(request, kept, phases, steps, unaccounted)


def _first_of(engine: Engine) -> dict[str, Any]:
    """The rate and the noise of an engine's first steps; empty before them."""
    history = history_of(engine)
    if not history:
        return {}
    return {"q": min(history[0].q, 1.0), "sigma": history[0].sigma}


def _attach(engine: Engine, run: FollowedRun) -> None:
    """Count an engine's steps, but for those that the run is charged for already."""
    reader = Reader(engine, run.steps)
    if reader.seen:
        LOG.warning(
            "dpcore.follow: %s steps of the engine's history are taken for some of the %s that the"
            " run is charged for already, as those of a checkpoint that the engine has loaded. If"
            " the engine took them since, pass done=%s.",
            f"{reader.seen:,}",
            f"{run.steps:,}",
            run.steps + reader.seen,
        )
    run.attach(reader)


def _gone_on(steps: int, before: Phase, told: dict[str, Any]) -> Phase:
    """The phase in which a run goes on: of what was told last, and of this call, the dearer.

    A program that is started again gives its first sigma, though it may have changed it since.
    """
    q = max(before.q, told.get("q", before.q))
    sigma = min(before.sigma, told.get("sigma", before.sigma))
    if (q, sigma) != (told.get("q", q), told.get("sigma", sigma)):
        LOG.warning(
            "dpcore.follow: the run had sigma = %g and q = %g when it was interrupted. It goes on"
            " with sigma = %g and q = %g, which is never too little, until run.step(sigma=, q=)"
            " tells others.",
            before.sigma,
            before.q,
            sigma,
            q,
        )
    return Phase(steps, q, sigma)


def _rate(examples: int | None, batch: float | None, q: float | None) -> float | None:
    """The sampling rate, from the expected batch unless it is given."""
    if batch is None:
        return q
    if q is not None:
        raise ValueError("Give batch or q, not both: q is batch / examples.")
    if examples is None:
        raise ValueError("Give examples beside batch: the sampling rate q is batch / examples.")
    check.whole(1, examples=examples)
    check.positive(batch=batch)
    if batch > examples:
        raise ValueError(f"Expected batch={batch!r} to be at most examples={examples!r}.")
    return batch / examples


def _plain(value: Any) -> Any:
    """A number of another library, which JSON would not take, as one of Python."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else check.as_float(value)


def _rank(rank: int | None) -> int:
    """The number of this process among those of the training; a warning where it is not 0."""
    said = f"rank={rank}"
    if rank is None:
        rank, said = _rank_here()
    check.whole(0, rank=rank)
    if rank:
        LOG.warning(
            "dpcore.follow: this process is not the first of its training (%s). Its steps are"
            " counted in memory, and nothing of it is stored: rank 0 stores the run. If no process"
            " is rank 0, pass rank=0.",
            said,
        )
    return rank


def _rank_here() -> tuple[int, str]:
    """The rank that a launcher of several processes has set, and how."""
    for name in RANKS:
        said = os.environ.get(name, "")
        if said.isdecimal():
            return int(said), f"{name}={said}"
    return 0, ""


def _check_id(id: str, rank: int) -> None:
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise ValueError(f"Expected id={str(id)[:80]!r} to be 1 to 32 small letters and digits.")
    if not rank and any(each.id == id for each in open_runs):
        raise ValueError(
            f"This process follows run {id} already. Use that object, or call its finish() first."
        )


def _store(home: Path | str | None, *, must_know: bool) -> Store | None:
    """The store; None, and a warning, if it fails.

    Errors: StoreError if a count must go on that only the store knows.
    """
    try:
        return Store(home)
    except StoreError as error:
        if must_know:
            raise StoreError(
                f"dpcore.follow: the count of this id must go on, and the store fails. {error} Or"
                " pass done= the steps that it took: then it is counted in memory."
            ) from error
        LOG.warning(
            "dpcore.follow: the run is counted in memory, and no page shows it. %s The training"
            " goes on.",
            error,
        )
        return None


def _before(store: Store, id: str, rank: int, done: int) -> Run | None:
    """The run that goes on; None, and a warning, if none has this id."""
    try:
        before = store.run(id)
    except UnknownRun:
        if not done:
            LOG.warning(
                "dpcore.follow: no run of %s has id=%r, so it begins at step 0. If it began"
                " elsewhere, set DPCORE_HOME, or pass done= the steps that it took.",
                store.path,
                id,
            )
        return None
    if before.kind != Followed.kind:
        raise ValueError(f"Run {id} is a job of kind {before.kind}. Give another id.")
    if before.imported:
        raise ValueError(f"Run {id} was imported, as {before.imported}. Give another id.")
    if rank:
        return before
    if is_followed_elsewhere(store, before):
        raise ValueError(IN_USE.format(run=id, worker=before.worker))
    if before.status is Status.RUNNING:
        store.recover(before, f"Its process {before.worker} is gone.")
    return before


def _request(told: dict[str, Any]) -> Followed:
    """The settings of a new run."""
    for key in ("delta", "examples", "q", "sigma"):
        if key not in told:
            named = "batch or q" if key == "q" else key
            raise ValueError(
                f"Give {named}. A run needs delta, examples, batch (or q) and sigma, as in"
                " dpcore.follow('mine', delta=1e-5, examples=60_000, batch=512, sigma=1.1). An"
                " engine of Opacus tells q and sigma itself after its first step."
            )
    return Followed(**told)


def _phases(told: dict[str, Any]) -> list[Phase]:
    return [Phase(0, float(told["q"]), float(told["sigma"]))]


def _continued(before: Run, told: dict[str, Any]) -> Followed:
    """The settings of a run that goes on: what it is charged for stays as it was."""
    request = before.request
    for key in FIXED:
        stored = getattr(request, key)
        if key in told and told[key] != stored:
            raise ValueError(
                f"Expected {key}={told[key]!r} to be {stored!r}, as in the steps that run"
                f" {before.id} has taken: one epsilon does not cover both. Leave out id= to begin"
                " a new run, which costs its own epsilon."
            )
    return replace(request, **told)


def _counted(store: Store, before: Run, rank: int, done: int) -> tuple[list[Phase], int]:
    """The phases and the steps of a run that goes on, on the safe side."""
    plan = before.plan
    phases = phases_of(plan.drawn) or [Phase(0, before.request.q, before.request.sigma)]
    said = last_told(store, before.id)
    lives = before.status is Status.RUNNING and not is_dead(before.worker or "")
    if rank and lives:  # rank 0 has begun, and stored more than it took
        return phases, max(said, done)
    if plan.steps > said:
        LOG.warning(
            "dpcore.follow: run %s had told %s steps when it was heard last, and may have taken"
            " up to %s. So %s are counted.",
            before.id,
            f"{said:,}",
            f"{plan.steps:,}",
            f"{max(plan.steps, done):,}",
        )
    return phases, max(plan.steps, done)
