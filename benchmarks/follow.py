"""What it costs a training to be followed by `dpcore.follow`: python -m benchmarks.follow

Status 1 where a target is missed. `--short` follows steps of less than a millisecond, of NumPy, in
place of a small network of torch.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dpcore
from dpcore.runs.feed import RunFeed, messages
from dpcore.runs.store import Store

ROOT = Path(__file__).parent.parent
TOLD: dict[str, Any] = {"delta": 1e-5, "examples": 60_000, "batch": 512, "sigma": 1.1}
TARGETS = {
    "run.step, us": 5.0,
    "run.log, us": 200.0,
    "would_exceed, ms": 20.0,
    "a followed training longer by, %": 2.0,
    "run.log to a reader's stream, ms": 50.0,
}
ROUNDS = 7
STEPS = 1_000
LOGS = 60
EVENT = re.compile(rb"^data: (\{\"event\": \"logged\".*\})$", re.MULTILINE)
# Logs the time, now and then, beside its steps.
TELLING = """
import random, sys, time, dpcore
run = dpcore.follow("told", id="told1", delta=1e-5, examples=60_000, batch=512, sigma=1.1)
for _ in range(int(sys.argv[1])):
    until = time.monotonic() + random.uniform(0.1, 0.3)
    while time.monotonic() < until:
        run.step()
        time.sleep(0.002)
    run.log({"now": time.time()})
run.finish()
"""


def times_of(act: Callable[[], object], count: int) -> list[float]:
    """The seconds of each of so many calls."""
    found = []
    for _ in range(count):
        began = time.perf_counter()
        act()
        found.append(time.perf_counter() - began)
    return found


def calls(home: Path) -> dict[str, float]:
    """The median time of a step and of a log, and the slowest of 99 % of questions."""
    with dpcore.follow("calls", target_epsilon=3.0, home=home, **TOLD) as run:
        steps = []
        asked = []
        logs = []
        for number in range(5_000):
            asked += times_of(run.would_exceed, 1)
            steps += times_of(run.step, 1)
            if number % 10 == 0:
                logs += times_of(lambda: run.log({"loss": 0.5, "test/accuracy": 0.9}), 1)
            time.sleep(0.0002)  # a step takes some time
    print(f"would_exceed: median {1e6 * statistics.median(asked):.2g} us,", end=" ")
    print(f"slowest {1e3 * max(asked):.3g} ms")
    return {
        "run.step, us": 1e6 * statistics.median(steps),
        "run.log, us": 1e6 * statistics.median(logs),
        "would_exceed, ms": 1e3 * float(np.quantile(asked, 0.99)),
    }


def numpy_step() -> Callable[[], object]:
    """A step of about a millisecond: clipped gradients of a linear model, and noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(512, 200))
    y = rng.normal(size=512)
    w = np.zeros(200)

    def step() -> None:
        gradients = (x @ w - y)[:, None] * x
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        total = (gradients / np.maximum(norms, 1)).sum(axis=0)
        w[:] -= 1e-3 * (total + 1.1 * rng.normal(size=200))

    return step


def torch_step() -> Callable[[], object]:
    """A step of a small network of torch."""
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(512, 784)
    y = torch.randint(10, (512,))

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def training(step: Callable[[], object], home: Path | None) -> float:
    """The processor's seconds of a training, followed in the store of a home if one is given."""
    run = None
    if home is not None:
        run = dpcore.follow("training", target_epsilon=3.0, home=home, **TOLD)
    began = time.process_time()  # of all threads
    for number in range(STEPS):
        step()
        if run is not None:
            run.step()
            run.would_exceed()
            if number % 10 == 0:
                run.log({"loss": 0.5})
    if run is not None:
        run.finish()
    return time.process_time() - began


def longer(step: Callable[[], object], home: Path) -> float:
    """How much longer a followed training takes, in percent.

    The quickest of several trainings each way, in turn, in processor time: others use this machine.
    """
    training(step, home)
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(ROUNDS):
        for followed in (number % 2 == 0, number % 2 == 1):
            taken[followed].append(training(step, home if followed else None))
    quickest = min(taken[False])
    print(f"{STEPS:,} steps take {quickest:.3g} s, followed {min(taken[True]):.3g} s")
    return 100 * (min(taken[True]) / quickest - 1)


def to_reader(home: Path) -> float:
    """The median milliseconds from a log in another process to a reader of the feed here."""
    environment = {**os.environ, "DPCORE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TELLING, str(LOGS)]
    telling = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    lags = []

    async def read(store: Store) -> None:
        async for piece in messages([(RunFeed(store, "told1"), 0)]):
            now = time.time()
            for body in EVENT.findall(piece):
                lags.append(now - json.loads(body)["values"]["now"])

    with Store(home) as store:
        while not store.rows("SELECT 1 FROM runs WHERE id = 'told1'"):
            time.sleep(0.05)
        asyncio.run(read(store))
    telling.wait()
    fresh = lags[2:]
    print(f"to a reader: slowest of {len(fresh)} after {1e3 * max(fresh):.0f} ms")
    return 1e3 * statistics.median(fresh)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="follow very short steps")
    arguments = parser.parse_args()
    step = numpy_step() if arguments.short else torch_step()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        found = calls(home)
        found["a followed training longer by, %"] = longer(step, home)
        found["run.log to a reader's stream, ms"] = to_reader(home)
    missed = 0
    for name, target in TARGETS.items():
        within = found[name] <= target
        missed += not within
        print(f"{name:36} {found[name]:8.3g}  (at most {target:g}){'' if within else '  MISSED'}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
