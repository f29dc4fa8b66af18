"""A pool, a store and real audits; a hundred sessions that watch."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.audit import events as audit
from dpcore.audit.request import AuditRequest
from dpcore.runs.kinds import event_from_json, event_to_json
from dpcore.runs.limits import FILE
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit
from tests.audit.small_audits import QUICK, request_for, said_by

Eventually = Callable[..., None]


@pytest.fixture
def pool(store: Store, monkeypatch: pytest.MonkeyPatch, eventually: Eventually) -> object:
    """A pool of real workers, all ended after the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with Pool(store) as pool:
        yield pool
    for worker in pool.workers:
        worker.process.wait(timeout=10)


def test_every_event_of_an_audit_is_the_same_again_from_json() -> None:
    for event in said_by(request_for("half_noise", canaries=30, epochs=0.2)):
        values = event_to_json(event)
        assert event_from_json("audit", values) == event


def test_limits_of_runs_are_limits_of_audits(store: Store) -> None:
    store.home.mkdir(parents=True, exist_ok=True)
    (store.home / FILE).write_text("batch = 100\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"limit batch of limits\.toml is 100, and this would make 512"
    ):
        submit(store, [(AuditRequest(), "")])
    (store.home / FILE).write_text("steps = 30\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"limit steps of limits\.toml is 30, and this would make 60"
    ):
        submit(store, [(request_for("batches_reused"), "")])
    submit(store, [(request_for(), "")])


@pytest.mark.long
def test_a_worker_audits_and_says_the_same_again_and_a_long_audit_is_cancelled(
    store: Store,
    pool: Pool,
    eventually: Eventually,
) -> None:
    request = AuditRequest(QUICK, "half_noise", canaries=20)
    job, same = store.submit(request), store.submit(request)
    long = store.submit(AuditRequest(replace(QUICK, epochs=1000.0), canaries=0))
    eventually(lambda: not store.run(same).active)
    done = store.run(job)
    assert (done.status, done.request) == (Status.FINISHED, request), done.error
    first, *middle, last = store.events(job)
    assert isinstance(first, audit.Prepared)
    assert isinstance(last, audit.Finished)
    assert any(isinstance(event, audit.Watched) for event in middle)
    assert any(isinstance(event, audit.Measured) for event in middle)
    assert isinstance(
        next(event for event in store.events(job) if isinstance(event, audit.Judged)), audit.Judged
    )
    assert store.events(same)[:-1] == store.events(job)[:-1]

    eventually(lambda: any(isinstance(event, audit.Watched) for event in store.events(long)))
    store.cancel(long)
    eventually(lambda: not store.run(long).active)
    assert store.run(long).status is Status.CANCELLED
    assert store.run(long).sequence > 1


ROOT = Path(__file__).parents[2]


def figures_of(script: str, *words: str) -> dict[str, Any]:
    """What a script measures; where a target is missed, as on a busy machine, it says so by its
    status.
    """
    command = [sys.executable, str(ROOT / "benchmarks" / script), *words]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert ("MISSED" in done.stdout) == bool(done.returncode), done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_hundred_sessions_miss_no_event_and_get_none_twice() -> None:
    words = ["--viewers", "100", "--browsers", "1", "--servers", "2", "--seconds", "10"]
    figures = figures_of("runs.py", "watch", *words)
    assert figures["events, received"][1] == 100 * figures["events, received"][0] > 0
    assert (figures["lost"], figures["doubled"], figures["workers' logs agree"]) == (0, 0, True)
    assert min(figures["MiB of each server"][0]) > 50
