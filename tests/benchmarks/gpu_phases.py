"""What `tests.benchmarks.gpu` measures, a phase each: figures come one by one, so that a phase cut short leaves some.

All of it runs on any device, in a size to be chosen: tests run every line on the CPU.
"""

import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import nn

from dpcore.training import cuda_graph
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import moved
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.loop import prepared
from dpcore.training.models import build
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.training_run import TrainingRun
from tests.benchmarks.gpu_data import data_for
from tests.benchmarks.recipes import RECIPES, Recipe

Figures = dict[str, Any]
Step = Callable[[], object]
TESTS = Path(__file__).parents[1]
WAIT = 25  # steps until every optimizer has its scale
WORK: dict[str, Recipe] = {  # figures that are wanted come first, as time may be short
    "cnn-512": {"model": "cnn", "activation": "tanh", "batch": 512},
    "scatter-8192": {"dataset": "fashion_mnist", "features": "scatter", "model": "linear", "batch": 8192},
    "cnn-4096": {"model": "cnn", "activation": "tanh", "batch": 4096},
    "mlp-600": {"model": "mlp", "activation": "relu", "batch": 600},
}
PRIVATE: dict[str, Recipe] = {  # contender -> what its run chooses; SGD is held against SGD, the others against Adam
    "private": {},
    "private auto_s": {"clipping": "auto_s"},
    "private pi_adam": {"optimizer": "pi_adam"},
    "private adadp": {"optimizer": "adadp"},
    "private, secure noise": {"noise_generator": "secure"},
}
PLAIN: dict[str, type[torch.optim.Optimizer]] = {"plain": torch.optim.SGD, "plain adam": torch.optim.Adam}


class Size(NamedTuple):
    """How much is done."""

    device: str = "cuda"
    source: str = "full"  # of the data
    work: tuple[str, ...] = tuple(WORK)
    batch: int = 8192  # at most
    contenders: tuple[str, ...] = (*PLAIN, *PRIVATE)
    turns: int = 20  # that each contender takes
    steps: int = 20  # of a turn
    epoch: int | None = None  # steps of an epoch, where it is to be a shorter one
    epochs: int = 3
    together: tuple[int, ...] = (1, 2, 4, 8)  # runs that share the device
    seconds: float = 4.0  # for which they do
    rungs: int | None = None  # of the ladders, all where it is None
    recipes: tuple[str, ...] = tuple(RECIPES)
    time: float = 45.0  # seconds for the rungs, and for the recipes again
    checks: tuple[str, ...] = ("-m", "cuda", "-n", str(min(4, os.cpu_count() or 1)))


SMALL = Size(
    device="cpu",
    source="sample",
    work=("cnn-512", "scatter-8192"),
    batch=64,
    contenders=("plain", "plain adam", "private", "private adadp"),
    turns=1,
    steps=1,
    epoch=2,
    epochs=1,
    together=(1,),
    seconds=0.1,
    rungs=1,
    recipes=("default-sgd",),
    time=0.5,
    checks=("-m", "cuda", "-n", "0"),
)


def steps(size: Size) -> Iterator[tuple[str, Figures]]:
    """Milliseconds of a step that is recorded, where it can be: private ones as multiples of plain ones."""
    for name in size.work:
        with data_for(size.source, made_up=True):
            entrants = {each: contender(name, each, size) for each in size.contenders}
        times: dict[str, list[float]] = {each: [] for each in entrants}
        for _ in range(size.turns):
            for each, (step, _) in entrants.items():
                times[each].append(milliseconds(step, size.steps, size.device))
        medians = {each: statistics.median(values) for each, values in times.items()}
        for each, ms in medians.items():
            multiples = {f"of {base}": ms / medians[base] for base in PLAIN}
            yield f"{name} {each}", {"ms": ms, **multiples, "engine": entrants[each][1]}


def contender(work: str, name: str, size: Size) -> tuple[Step, str]:
    """A step with a batch that changes, and what is said of how it is taken."""
    config = config_of(work, size, **PRIVATE.get(name, {}))
    run = TrainingRun(config, time.perf_counter)
    return plain_step(run, PLAIN[name]) if name in PLAIN else private_step(run)


def plain_step(run: TrainingRun, kind: type[torch.optim.Optimizer]) -> tuple[Step, str]:
    """The ordinary step without privacy, gathering its batch, under a graph as the private one."""
    config, (x, y) = run.config, run.train
    network, loss_of = build(config.model, config.activation, 0, config.shape).to(run.device), nn.CrossEntropyLoss()
    rows = torch.arange(config.batch, device=run.device)
    more = {"capturable": True} if kind is torch.optim.Adam and run.device.type == "cuda" else {}
    optimizer = kind(network.parameters(), lr=1e-4, **more)  # type: ignore[call-arg]

    def step() -> None:
        optimizer.zero_grad()
        loss_of(network(x[rows].float()), y[rows]).backward()
        optimizer.step()

    play = cuda_graph.recording(step, ()) if run.device.type == "cuda" else step
    drawn = np.arange(config.batch)

    def taken() -> None:
        rows.copy_(moved(drawn, run.device))
        play()

    return taken, "PyTorch, captured" if play is not step else "PyTorch"


def private_step(run: TrainingRun) -> tuple[Step, str]:
    """The private step, on a batch of the expected size."""
    run.static, said = prepared(run)
    drawn = np.arange(run.config.batch)
    run.drawn = lambda step: drawn  # type: ignore[method-assign]
    run.step_totals.add = lambda step, *found: None  # type: ignore[method-assign]

    def taken() -> None:
        with run.cores.working():
            run.step(1)

    for _ in range(WAIT):
        taken()
    return taken, run.engine.name + said


def milliseconds(step: Step, count: int, device: str) -> float:
    """Of one of so many steps in a row; one more before them is not timed."""
    step()
    settle(device)
    start = time.perf_counter()
    for _ in range(count):
        step()
    settle(device)
    return 1e3 * (time.perf_counter() - start) / count


def settle(device: str) -> None:
    """Wait until all that was asked of the device is done."""
    if device == "cuda":
        torch.cuda.synchronize()


def epochs(size: Size) -> Iterator[tuple[str, Figures]]:
    """Seconds of an epoch of as many examples as MNIST has, batches drawn and gathered: the median of some."""
    for name in size.work:
        with data_for(size.source, made_up=True) as data:
            run = TrainingRun(config_of(name, size, epochs=100), time.perf_counter)
        run.static, said = prepared(run)
        count = size.epoch or -(-run.config.examples // run.config.batch)
        times = [seconds_of(run, 1 + count * i, count) for i in range(1 + size.epochs)][1:]
        figures = {"seconds": statistics.median(times), "steps": count, "engine": run.engine.name + said}
        yield name, {**figures, "data": data(run.config)}


def seconds_of(run: TrainingRun, first: int, count: int) -> float:
    """Of so many steps of a run, from this one on."""
    start = time.perf_counter()
    for step in range(first, first + count):
        with run.cores.working():
            run.step(1 + (step - 1) % run.plan.steps)
    run.step_totals.settle()  # waits for the device
    return time.perf_counter() - start


def sharing(size: Size) -> Iterator[tuple[str, Figures]]:
    """Steps a second of several runs that share the device, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    for count in size.together:
        barrier, found = context.Barrier(count), context.Queue()
        runs = [context.Process(target=share, args=(size, barrier, found), daemon=True) for _ in range(count)]
        for each in runs:
            each.start()
        rates = [found.get(timeout=60 + size.seconds) for _ in runs]
        for each in runs:
            each.join()
        yield f"{count} runs", {"steps a second": sum(rates), "the slowest": min(rates), "work": size.work[0]}


def share(size: Size, barrier: Any, found: Any) -> None:
    """One of the runs: it puts its steps a second into the queue."""
    with data_for(size.source):
        run = TrainingRun(config_of(size.work[0], size, epochs=100), time.perf_counter)
    run.static, _ = prepared(run)
    seconds_of(run, 1, 3)
    barrier.wait(60)
    start, step = time.perf_counter(), 4
    while (now := time.perf_counter()) < start + size.seconds:
        seconds_of(run, step, size.steps)
        step += size.steps
    found.put((step - 4) / (now - start))


def generator(size: Size) -> Iterator[tuple[str, Figures]]:
    """Milliseconds that noise takes for a vector: from the device's own generator, and from AES on the CPU."""
    for d in (26_010, 795_010):  # parameters of the cnn and of the mlp
        vector = torch.zeros(d, device=size.device)
        for secure in (False, True):
            noise = GaussianNoise(d, SeedSequence(0), vector.device, Cores(1), secure=secure)
            ms = milliseconds(lambda noise=noise, vector=vector: noise.add_to(vector, 1.0), size.steps, size.device)
            yield f"{d:,} numbers, {'secure' if secure else 'auto'}", {"ms": ms, "by": type(noise.words[0]).__name__}


def checks(size: Size, folder: Path = TESTS) -> Iterator[tuple[str, Figures]]:
    """How many tests that need CUDA passed and failed, and which failed."""
    files = [str(path) for path in sorted(folder.rglob("test_*.py")) if "mark.cuda" in path.read_text(encoding="utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *size.checks, *files]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(command, cwd=folder.parent, env=environment, capture_output=True, text=True)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", done.stdout)}
    failures = re.findall(r"^(?:FAILED|ERROR) \S*::(.*?)(?: - |$)", done.stdout, flags=re.MULTILINE)
    yield "marked cuda", {**counts, "status": done.returncode, **({"failures": failures} if failures else {})}


def config_of(work: str, size: Size, **options: Any) -> RunConfig:
    """A run of the work, without momentum as the plain step."""
    chosen = {"source": size.source, "device": size.device, "seed": 0, "epochs": 1.0, "lr": 1e-4, "momentum": 0.0}
    batch = min(WORK[work]["batch"], size.batch)
    return RunConfig(**(chosen | WORK[work] | options | {"batch": batch}))
