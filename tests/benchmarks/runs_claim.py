"""Many queued runs, several workers, and somebody who kills them: each run is claimed, and finished, exactly once."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpcore.runs.pool import recover_dead
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.faults.afterwards import note_endings, wrongs

ROOT = Path(__file__).parents[2]
# A process that starts workers one after the other: each is a process of its own, and does one job. All is imported
# once, for a thousand imports would take longer than what is measured.
NURSERY = """
import os, sys
from dpcore.runs import worker
from dpcore.runs.store import Store
home, parent, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
train = worker.load("tests.runs.faults.stepping:brisk")
while os.getppid() == parent:
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    with Store(home) as store:
        interrupts = worker.Interrupts()
        if run := worker.wait(store, os.getppid(), slots, interrupts):
            worker.perform(store, run, train, interrupts)
    os._exit(0)
"""


def measured(runs: int, workers: int, kills: int, within: float) -> dict[str, Any]:
    """The figures."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "home") as store:
        note_endings(store)
        asked = [store.submit(RunConfig(seed=None)) for _ in range(runs)]
        begun = time.monotonic()
        words = [sys.executable, "-c", NURSERY, str(store.home), str(os.getpid()), str(workers)]
        nurseries = [subprocess.Popen(words, cwd=ROOT) for _ in range(workers)]
        try:
            killed = killed_at_random(store, kills, runs / (kills + 1), begun + within)
        finally:
            for process in nurseries:
                process.kill()
                process.wait()
        seconds = time.monotonic() - begun
        wrong = wrongs(store, asked)
    return {
        "runs, workers": [runs, workers],
        "workers killed while they trained": killed,
        "seconds": round(seconds, 1),
        "not finished exactly once, or with other events": len(wrong),
        "the first of them": wrong[:3],
    }


def killed_at_random(store: Store, kills: int, every: float, deadline: float) -> int:
    """Kill workers that train, one in about so many runs that end, until all have ended; how many were killed."""
    killed, due = 0, random.expovariate(1 / every)
    while (left := counts(store))["active"] and time.monotonic() < deadline:
        recover_dead(store)
        if left["ended"] >= due and killed < kills and (running := store.runs(Status.RUNNING)):
            with suppress(ProcessLookupError):
                os.kill(int((random.choice(running).worker or "").rpartition(":")[2]), signal.SIGKILL)
                killed += 1
            due += random.expovariate(1 / every)
        time.sleep(0.02)
    return killed


def counts(store: Store) -> dict[str, int]:
    """How many runs go on, and how many have ended."""
    with store.reading() as db:
        row = db.execute("SELECT SUM(status IN ('queued', 'running')) AS active, COUNT(*) AS runs FROM runs").fetchone()
    return {"active": row["active"], "ended": row["runs"] - row["active"]}


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets that are missed."""
    name = "not finished exactly once, or with other events"
    return [name] if figures[name] else []
