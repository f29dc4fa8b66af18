"""A pool, a store and real comparisons of perturbation methods."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.events import Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.request import Request
from tests.runs.test_real_runs import pool  # noqa: F401

Eventually = Callable[..., None]
SHORT = Request(methods=("none", "output"), epsilons=(0.5, 8.0), seeds=3, seed=1)


@pytest.mark.long
def test_a_comparison_reports_each_method_and_is_the_same_again_and_a_long_one_is_cancelled(
    store: Store,
    pool: Pool,  # noqa: F811
    eventually: Eventually,
) -> None:
    job, same = store.submit(SHORT), store.submit(SHORT)
    long = store.submit(replace(SHORT, dataset="digits", model="mlp", steps=100_000))
    eventually(lambda: not store.run(same).active, within=90)
    done = store.run(job)
    assert (done.status, done.request) == (Status.FINISHED, SHORT), done.error
    first, *measured, last = [event for _, event in store.tail(job)]
    assert isinstance(first, Prepared)
    assert isinstance(last, Finished)
    assert [(each.method, each.epsilon) for each in measured] == [("none", None), ("output", 0.5), ("output", 8.0)]
    assert all(isinstance(each, Measured | Skipped) for each in measured)
    assert [event for _, event in store.tail(same)][1:-1] == measured

    eventually(lambda: store.run(long).status is Status.RUNNING, within=60)
    store.cancel(long)
    eventually(lambda: not store.run(long).active, within=20)
    assert store.run(long).status is Status.CANCELLED


@pytest.mark.long
def test_what_a_comparison_cannot_do_is_kept_with_it(
    store: Store,
    pool: Pool,  # noqa: F811
    eventually: Eventually,
) -> None:
    job = store.submit(replace(SHORT, dataset="iris", classes=("setosa", "virginica"), rate=1e6, regulariser=100.0))
    eventually(lambda: not store.run(job).active, within=60)
    events = [event for _, event in store.tail(job)]
    assert store.run(job).status is Status.FINISHED
    assert any(isinstance(event, Skipped) and event.reason for event in events)
