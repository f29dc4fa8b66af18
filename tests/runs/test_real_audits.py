"""A pool, a store and real audits."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dpcore.audit.events import Finished, Judged, Measured, Prepared, Watched
from dpcore.audit.request import AuditRequest
from dpcore.runs.in_words import name_of
from dpcore.runs.kinds import event_from_json, event_to_json
from dpcore.runs.limits import FILE
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit
from dpcore.training.config import RunConfig
from tests.audit.small_audits import QUICK, request_for, said_by
from tests.runs.test_real_runs import pool  # noqa: F401

Eventually = Callable[..., None]


def test_every_event_of_an_audit_is_the_same_again_from_json() -> None:
    for event in said_by(request_for("half_noise", canaries=30, epochs=0.2)):
        values = event_to_json(event)
        assert event_from_json("audit", values) == event


def test_an_audit_is_called_what_it_is_and_one_of_another_version_too(store: Store) -> None:
    job = store.submit(AuditRequest(RunConfig(sigma=2.0), "no_noise"))
    assert name_of(store.run(job)) == "Audit of MNIST cnn, SGD, sigma 2: No noise"
    with store.writing() as db:
        db.execute("UPDATE runs SET settings = '{\"unheard\": 1}' WHERE id = ?", (job,))
    assert "another version" in name_of(store.run(job))


def test_limits_of_runs_are_limits_of_audits(store: Store) -> None:
    store.home.mkdir(parents=True, exist_ok=True)
    (store.home / FILE).write_text("batch = 100\n", encoding="utf-8")
    with pytest.raises(ValueError, match="batch=512 to be at most the limit batch=100"):
        submit(store, [(AuditRequest(), "")])
    (store.home / FILE).write_text("steps = 30\n", encoding="utf-8")
    with pytest.raises(ValueError, match="steps=60 to be at most the limit steps=30"):
        submit(store, [(request_for("batches_reused"), "")])
    submit(store, [(request_for(), "")])


def test_shorter_audits_go_before_longer_ones_of_their_owner(store: Store) -> None:
    long, short = store.submit(request_for(epochs=5.0)), store.submit(request_for(epochs=1.0))
    assert store.queue() == [short, long]


@pytest.mark.long
def test_a_worker_audits_and_says_the_same_again_and_a_long_audit_is_cancelled(
    store: Store,
    pool: Pool,  # noqa: F811
    eventually: Eventually,
) -> None:
    request = AuditRequest(QUICK, "half_noise", canaries=20)
    job, same = store.submit(request), store.submit(request)
    long = store.submit(AuditRequest(replace(QUICK, epochs=1000.0), canaries=0))
    eventually(lambda: not store.run(same).active, within=120)
    done = store.run(job)
    assert (done.status, done.request) == (Status.FINISHED, request), done.error
    first, *middle, last = [event for _, event in store.tail(job)]
    assert isinstance(first, Prepared)
    assert isinstance(last, Finished)
    assert any(isinstance(event, Watched) for event in middle)
    assert any(isinstance(event, Measured) for event in middle)
    assert isinstance(next(event for _, event in store.tail(job) if isinstance(event, Judged)), Judged)
    assert [event for _, event in store.tail(same)][:-1] == [event for _, event in store.tail(job)][:-1]

    eventually(lambda: any(isinstance(event, Watched) for _, event in store.tail(long)), within=60)
    store.cancel(long)
    eventually(lambda: not store.run(long).active, within=20)
    assert store.run(long).status is Status.CANCELLED
    assert store.run(long).sequence > 1
