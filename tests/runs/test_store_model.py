"""Whatever is asked of a store in whatever order, it agrees with a few lines of Python."""

import tempfile
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished

FINAL = [Status.FINISHED, Status.CANCELLED, Status.FAILED, Status.LOST]
any_run = st.integers(0, 30)


@dataclass
class Expected:
    """What a run should be."""

    id: str
    status: Status = Status.QUEUED
    cancelling: bool = False
    events: list[Finished] = field(default_factory=list)


class Stores(RuleBasedStateMachine):
    """A store beside its model."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.store = Store(self.directory.name)
        self.model: list[Expected] = []

    def pick(self, number: int) -> Expected:
        """One of the runs."""
        return self.model[number % len(self.model)]

    @rule()
    def submit(self) -> None:
        self.model.append(Expected(self.store.submit(RunConfig())))

    @rule(limit=st.integers(1, 3))
    def claim(self, limit: int) -> None:
        queued = [run for run in self.model if run.status is Status.QUEUED]
        running = [run for run in self.model if run.status is Status.RUNNING]
        claimed = self.store.claim("here:1", limit)
        if queued and len(running) < limit:
            queued[0].status = Status.RUNNING
            assert claimed is not None
            assert claimed.id == queued[0].id
        else:
            assert claimed is None

    @precondition(lambda self: self.model)
    @rule(number=any_run, step=st.integers(0, 9))
    def append(self, number: int, step: int) -> None:
        run, event = self.pick(number), Finished(step, 1.0, 0.5)
        runs = run.status is Status.RUNNING
        assert self.store.append(run.id, event) is (not runs or run.cancelling)
        if runs:
            run.events.append(event)

    @precondition(lambda self: self.model)
    @rule(number=any_run)
    def cancel(self, number: int) -> None:
        run = self.pick(number)
        if run.status in (Status.QUEUED, Status.RUNNING):
            run.cancelling = True
        if run.status is Status.QUEUED:
            run.status = Status.CANCELLED
        assert self.store.cancel(run.id) is run.status

    @precondition(lambda self: self.model)
    @rule(number=any_run, status=st.sampled_from(FINAL))
    def end(self, number: int, status: Status) -> None:
        run = self.pick(number)
        assert self.store.end(run.id, status) is (run.status is Status.RUNNING)
        if run.status is Status.RUNNING:
            run.status = status

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.directory.name)

    @invariant()
    def agrees(self) -> None:
        queued = [run.id for run in self.model if run.status is Status.QUEUED]
        runs = self.store.runs()
        assert [run.id for run in runs] == [run.id for run in self.model[::-1]]
        for run, expected in zip(runs, self.model[::-1], strict=True):
            assert (run.status, run.cancelling) == (expected.status, expected.cancelling)
            assert self.store.tail(run.id) == list(enumerate(expected.events, 1))
            assert run.position == (queued.index(run.id) + 1 if run.id in queued else None)
            assert (run.ended is None) is run.active

    def teardown(self) -> None:
        self.store.close()
        self.directory.cleanup()


TestStores = Stores.TestCase
