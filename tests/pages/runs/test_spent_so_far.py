"""What a run has released so far, and its epsilon: every place says the same, of every state that a
run can be in.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.export import record_of
from dpcore.runs.export.data_forms import figures_of
from dpcore.runs.record import Status
from dpcore.runs.run_table import Wanted, priced
from dpcore.runs.store import Store
from dpcore.runs.sweeps import all_released
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Event, Unsaved
from dpcore.training.plan import plan
from pages.parts.results.costs import Spending, known_cost, learn, spending_of
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import CONFIG, events_of, recorded
from tests.runs.by_hand import handed

FIRST = replace(CONFIG, model="mlp", optimizer="adppl")  # releases relevances before its first step
RELEVANCES = Release(1.0, FIRST.relevance_sigma)
REPEATED = 20


def steps(count: int) -> Mechanism:
    return Mechanism.constant(CONFIG.q, CONFIG.sigma, count)


def waiting(store: Store, config: RunConfig = CONFIG) -> str:
    return store.submit(config)


def cancelled(store: Store) -> str:
    run = store.submit(FIRST)
    store.cancel(run)
    return run


def behind(store: Store, event: Event) -> str:
    """A run that was cancelled behind an event that came after its last report."""
    run = recorded(store, CONFIG, 40)
    store.append(run, event)
    store.end(run, Status.CANCELLED)
    return run


def anew(store: Store, done: int | None = None) -> str:
    """A run that begins another one anew, which had released some steps."""
    worker = None if done is None else "test:1"
    run = handed(store, CONFIG, plan(CONFIG).anew(REPEATED), worker)
    for event in () if done is None else events_of(CONFIG, done):
        store.append(run, event)
    return run


STATES: dict[str, tuple[Callable[[Store], str], Mechanism | None]] = {
    "queued": (waiting, None),
    "queued, to release something first": (lambda store: waiting(store, FIRST), None),
    "cancelled in the queue": (cancelled, None),
    "begun": (lambda store: recorded(store, CONFIG, 0), None),
    "begun, with something released first": (
        lambda store: recorded(store, FIRST, 0),
        Mechanism((RELEVANCES,)),
    ),
    "running": (lambda store: recorded(store, CONFIG, 40), steps(40)),
    "with a checkpoint after its last report": (
        lambda store: behind(store, Checkpointed(45)),
        steps(45),
    ),
    "without room for that checkpoint": (
        lambda store: behind(store, Unsaved(45, "No room.")),
        steps(45),
    ),
    "finished": (
        lambda store: recorded(store, CONFIG, 70, Status.FINISHED),
        steps(plan(CONFIG).steps),
    ),
    "to begin anew": (anew, steps(REPEATED)),
    "begun anew": (lambda store: anew(store, 0), steps(REPEATED)),
    "begun anew, and on its way": (lambda store: anew(store, 30), steps(REPEATED + 30)),
    "without privacy": (lambda store: recorded(store, replace(CONFIG, private=False), 40), None),
}


@pytest.mark.parametrize("state", STATES)
def test_every_place_says_the_same_of_a_run(store: Store, state: str):
    make, released = STATES[state]
    run = store.run(make(store))
    (watched,) = watched_runs(store, [run.id])
    found = [run.plan.released(run.done), watched.released, all_released([run])]
    if run.sequence:
        found.append(record_of(store, run.id).released)
    assert [merged(each) for each in found] == [merged(released)] * len(found)
    listed = [Spending(CERTIFIED, *each[1:]) for each in priced(store, Wanted())]
    asked = {spending_of(run), *listed} - {None}
    learn(each for each in asked if each)
    costs = {cost and cost.value for cost in (known_cost(each) for each in asked if each)}
    epsilon = (
        released and ACCOUNTANTS[CERTIFIED].curve(released, released.steps, CONFIG.delta).last.value
    )
    assert costs == {epsilon}
    assert bool(listed) >= bool(released)


def merged(released: Mechanism | None) -> dict[Release, int]:
    """How often each release was made."""
    counts: dict[Release, int] = {}
    for each in released.releases if released else ():
        key = replace(each, count=1)
        counts[key] = counts.get(key, 0) + each.count
    return counts


def test_what_nobody_can_say_a_number_of_is_infinite_in_every_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    def gives_up(*_: object) -> None:
        raise RuntimeError("The numbers left the floats.")

    run = store.run(recorded(store, replace(CONFIG, sigma=1.2345), 40, Status.CANCELLED))
    monkeypatch.setattr(type(ACCOUNTANTS[CERTIFIED]), "_account", gives_up)
    spending = spending_of(run)
    assert spending
    assert learn([spending]) == 0
    cost = known_cost(spending)
    assert cost
    assert (cost.value, cost.lower) == (float("inf"), None)
    exported = [
        each.value
        for each in figures_of(record_of(store, run.id))
        if each.name == "privacy/epsilon"
    ]
    assert set(exported) == {float("inf")}
