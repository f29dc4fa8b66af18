"""What the head does round by round: it hears the workers, writes down what they say, and sees to what runs."""

import math
import time
from collections.abc import Callable
from typing import Any

from dpcore.runs.limits import overdue
from dpcore.runs.ray_pool.cluster import Cluster, Gone, NoAnswer
from dpcore.runs.ray_pool.job import News, ended, job_of, record
from dpcore.runs.ray_pool.roster import MARK, Roster, Worker
from dpcore.runs.ray_pool.staffing import Staffing
from dpcore.runs.record import Run, Status, checkpoint_path, is_dead
from dpcore.runs.store import Store
from dpcore.runs.supervision import STALE, Heartbeats, silent
from dpcore.runs.worker import longest_here

WITHIN = 0.05  # seconds that a round waits for answers
LOOK = 0.2  # seconds between two looks at what runs by the store
STAFF = 0.5  # seconds between two looks at what waits there
SELDOM = 5.0  # times that a look takes, until the next one
BEAT = 3.0  # seconds between two heartbeats of a run that says nothing
GRACE = 5.0  # seconds from a cancellation to the end of a worker that does not heed it
CALL = 5.0  # seconds without a word after which a worker that waits is called: it would end itself, or has ended
FRESH = 1.0  # seconds after its last word in which a worker is taken to live


class Crew:
    """Leads the workers of a cluster for a store.

    A worker that has given no answer for `stale` seconds is lost, and so is one of another kind whose run's heartbeat
    has been the same for as long. All that takes time is measured by `clock`; a round with nobody to hear waits by
    `pause`.
    """

    def __init__(
        self,
        store: Store,
        cluster: Cluster,
        train: str,
        cpus: int,
        gpus: float,
        stale: float = STALE,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._store, self._cluster, self._stale, self._clock, self._pause = store, cluster, stale, clock, pause
        self._roster = Roster(cluster, clock)
        self._staffing = Staffing(store, self._roster, train, cpus, gpus)
        self._strangers = Heartbeats(store, stale, clock)
        self._due: dict[str, float] = {}  # when to look again

    @property
    def workers(self) -> list[Worker]:
        """All that it leads."""
        return self._roster.workers

    @property
    def trouble(self) -> str | None:
        """What keeps runs from starting, if anything does."""
        return self._staffing.trouble

    def round(self) -> None:
        """Hear what is new, see to what runs, and give the idle something to do."""
        self._hear()
        self._now_and_then("attend", LOOK, self._attend)
        self._staffing.assign()
        self._now_and_then("staff", STAFF, self._staffing.adjust)

    def _now_and_then(self, name: str, every: float, work: Callable[[], None]) -> None:
        """Do the work where it is due; where it takes long, as with very many runs, the more seldom."""
        began = self._clock()
        if began > self._due.get(name, -math.inf):
            work()
            now = self._clock()
            self._due[name] = now + max(every, SELDOM * (now - began))

    def dismiss(self) -> None:
        """End the workers that have no run; the others go on."""
        for worker in [worker for worker in self.workers if not worker.run]:
            self._roster.end(worker)

    def _hear(self) -> None:
        asked = {worker.question: worker for worker in self.workers if worker.question is not None}
        if not asked:
            self._pause(WITHIN)
        looked = self._clock()  # what takes time from here on, as writing to a store that is held, is not silence
        for question in self._cluster.answered(list(asked), WITHIN):
            self._take(asked[question], question)
        now = self._clock()
        for worker in list(self.workers):
            if worker.ready and worker.silent_since is not None and looked - worker.silent_since > self._stale:
                self._lose(worker, silent(worker.name, self._stale))
            elif worker.question is None and worker.run and now > worker.ask_from:
                if worker.after is None:
                    worker.after = self._store.run(worker.run.id).sequence
                self._roster.ask(worker, "news", worker.run.id, worker.after)
            elif worker.question is None and not worker.run and now > worker.heard + CALL:
                self._roster.ask(worker, "hello")

    def _take(self, worker: Worker, question: Any) -> None:
        """Take an answer."""
        worker.question = None
        try:
            answer = self._cluster.answer(question)
        except NoAnswer:
            worker.ask_from = self._clock() + 1.0
            if not worker.run:  # nothing hangs on it
                self._lose(worker, "The cluster has lost touch with one.")
            return
        except Gone as error:
            self._lose(worker, f"Its worker {worker.name} is gone: {error}")
            return
        worker.silent_since, worker.heard = None, self._clock()
        if worker.asking == "hello" and not worker.ready:
            self._staffing.welcome(worker, answer)
        elif worker.asking == "forget":
            worker.since = self._clock()
        elif worker.asking == "news" and worker.run:
            self._take_news(worker, worker.run, answer)

    def _take_news(self, worker: Worker, run: Run, news: News | None) -> None:
        if news is None:  # a head before this one had no time to hand it over
            self._roster.ask(worker, "work", job_of(self._store, run), worker.name)
            return
        after, worker.after = worker.after or 0, None  # until it is known how much was written down
        worker.after = after + record(self._store, run, after, news, worker.name)
        now = self._clock()
        if news.bodies:
            worker.beaten = now
        elif now - worker.beaten > BEAT:
            self._store.beat(run.id, worker.name)
            worker.beaten = now
        if ended(news):
            status = Status(news.status)
            self._store.end(run.id, status, news.error, worker.name)
            if status is Status.FINISHED:
                checkpoint_path(self._store.home, run.id).unlink(missing_ok=True)
            self._free(worker)

    def _free(self, worker: Worker) -> None:
        """Have a worker wait for its next run; one with a GPU ends, so that nothing is left there."""
        worker.run, worker.cancelled = None, None
        if worker.shape is None or worker.shape.gpus:
            self._roster.end(worker)
        else:
            self._roster.ask(worker, "forget")

    def _lose(self, worker: Worker, reason: str) -> None:
        """Go on without a worker: its run is queued again.

        It is no attempt where the worker may have been gone before. Where it lived, its run may be what ended it.
        """
        self._roster.end(worker)
        if worker.run:
            if worker.began - worker.heard > FRESH:  # it has said nothing since it was given the run, nor just before
                self._store.give_back(worker.run)
            run = self._store.run(worker.run.id)
            if run.worker == worker.name:
                self._store.recover(run, reason)
        elif not worker.ready:
            self._staffing.note_failure(f"Workers on the Ray cluster end before they take a run. {reason}")

    def _attend(self) -> None:
        """Cancel what is to be cancelled, find what an earlier head has begun, queue again what nobody does."""
        known, running = {worker.name: worker for worker in self.workers}, set()
        for run in self._store.runs(Status.RUNNING, kind=None):
            name = run.worker or ""
            running.add((run.id, name))
            if name in known:
                self._attend_to(known[name], run)
            elif name.startswith(MARK):
                self._find(run, name)
            else:
                self._attend_to_stranger(run, name)
        for worker in list(self.workers):
            if worker.run and (worker.run.id, worker.name) not in running:  # taken from it, or deleted
                self._roster.end(worker)

    def _attend_to(self, worker: Worker, run: Run) -> None:
        if worker.run is None:  # the store failed between the claim and its answer
            worker.run, worker.after = run, None
        elif worker.run.id != run.id:
            self._store.recover(run, f"Its worker {worker.name} has another run.")
        elif run.cancelling:
            self._cancel(worker, run)
        elif self._clock() - worker.began > (longest := longest_here(self._store.home)):
            self._store.end(run.id, Status.FAILED, overdue(longest), worker.name)
            self._roster.end(worker)

    def _attend_to_stranger(self, run: Run, name: str) -> None:
        """See to a run of a process of this machine, or of one that this was called before."""
        self._strangers.recover_silent(run)
        if is_dead(name):
            self._store.recover(run, f"Its worker {name} died.")

    def _cancel(self, worker: Worker, run: Run) -> None:
        """Ask it to stop; where it does not heed that, end it."""
        if worker.cancelled is None:
            worker.cancelled = self._clock()
            self._cluster.ask(worker.handle, "cancel", run.id)
        elif self._clock() - worker.cancelled > GRACE:
            self._lose(worker, "")

    def _find(self, run: Run, name: str) -> None:
        if not self._roster.find(name, run):
            self._store.recover(run, f"Its worker {name} is gone.")
