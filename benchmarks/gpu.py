"""What a GPU makes of private training, in less than eight minutes: one command for any machine
with CUDA.

python -m benchmarks.gpu [--out FILE]

Prints a table and writes docs/measured/gpu.json. Its phases: the step, private against
plain under the same kind of recording; the seconds of an epoch of 60,000 examples; the tests that
need CUDA; one run of each recipe of the ladders at epsilon 3, and of the others. The first two need
no data, theirs is made up; a recipe whose data are not here fails. Each phase is a process of its
own with a limit on its time, and has what those before it have left over. One that fails or runs
past it is reported with what it had found, and the rest goes on; a recipe that is left out is
named. At last stands which of the wanted figures were reached. Without CUDA nothing is measured and
nothing written. `--small` tries the command itself, on the CPU, in tiny sizes.
"""

import argparse
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from benchmarks.accuracy import commit
from benchmarks.made_up import inputs_on
from benchmarks.recipes import RECIPES, Recipe
from dpcore import __version__
from dpcore.papers.better_features.recipes import EPSILONS, GRIDS, RECORD
from dpcore.training.config import RunConfig
from dpcore.training.cuda.recorded_step import recording
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.inputs import moved
from dpcore.training.loop import train
from dpcore.training.models import build
from dpcore.training.step_runner import step_runner_of
from dpcore.training.training_run import TrainingRun

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "measured" / "gpu.json"
NONE = "There is no CUDA device here, so nothing is measured and nothing is written."
SECONDS = 470.0  # for everything
WAIT = 25  # steps until every optimizer has its scale
Figures = dict[str, Any]
Found = Iterator[tuple[str, Figures]]  # one by one, so that a phase that is cut short leaves some
Step = Callable[[], object]
WORK: dict[str, Recipe] = {  # figures that are wanted come first, as time may be short
    "cnn-512": {"model": "cnn", "activation": "tanh", "batch": 512},
    "scatter-8192": {
        "dataset": "fashion_mnist",
        "features": "scatter",
        "model": "linear",
        "batch": 8192,
    },
    "cnn-4096": {"model": "cnn", "activation": "tanh", "batch": 4096},
    "mlp-600": {"model": "mlp", "activation": "relu", "batch": 600},
}
# Contender -> what its run chooses; SGD is held against SGD, the others against Adam.
PRIVATE: dict[str, Recipe] = {
    "private": {},
    "private auto_s": {"clipping": "auto_s"},
    "private pi_adam": {"optimizer": "pi_adam"},
    "private adadp": {"optimizer": "adadp"},
    "private, secure noise": {"noise_generator": "secure"},
}
PLAIN: dict[str, type[torch.optim.Optimizer]] = {
    "plain": torch.optim.SGD,
    "plain adam": torch.optim.Adam,
}
WANTED = {  # phase, row and figure, and what it is to be at most
    "seconds of an epoch, tanh cnn, batch 512": ("epochs", "cnn-512", "seconds", 0.05),
    "seconds of an epoch, scattering and linear, batch 8192": (
        "epochs",
        "scatter-8192",
        "seconds",
        0.005,
    ),
    "private step of a plain one, tanh cnn, batch 512": (
        "steps",
        "cnn-512 private",
        "of plain",
        1.1,
    ),
    "private step of a plain one, tanh cnn, batch 4096": (
        "steps",
        "cnn-4096 private",
        "of plain",
        1.1,
    ),
}


class Size(NamedTuple):
    """How much is done."""

    device: str = "cuda"
    source: str = "full"  # whose number of examples is made up
    batch: int = 8192  # at most
    steps: int = 20  # of a turn, and so many turns for each contender
    epoch: int | None = None  # steps of an epoch, where it is to be a shorter one
    time: float = 45.0  # seconds for all runs of a phase of recipes


SMALL = Size("cpu", "sample", batch=64, steps=1, epoch=2, time=0.5)


def config_of(work: str, size: Size, **options: Any) -> RunConfig:
    """A run of the work, without momentum as the plain step."""
    chosen = {
        "source": size.source,
        "device": size.device,
        "seed": 0,
        "epochs": 1.0,
        "lr": 1e-4,
        "momentum": 0.0,
    }
    batch = min(WORK[work]["batch"], size.batch)
    return RunConfig(**(chosen | WORK[work] | options | {"batch": batch}))


def steps(size: Size) -> Found:
    """Milliseconds of a step that is recorded, where it can be: private ones as multiples of plain
    ones.
    """
    for work in WORK:
        given = inputs_on(config_of(work, size), torch.device(size.device))
        entrants = {}
        for name in (*PLAIN, *PRIVATE):
            run = TrainingRun(
                config_of(work, size, **PRIVATE.get(name, {})), time.perf_counter, inputs=given
            )
            entrants[name] = plain_step(run, PLAIN[name]) if name in PLAIN else private_step(run)
        times: dict[str, list[float]] = {name: [] for name in entrants}
        for _ in range(size.steps):
            for name, (step, _) in entrants.items():
                times[name].append(milliseconds(step, size.steps, size.device))
        medians = {name: statistics.median(values) for name, values in times.items()}
        for name, ms in medians.items():
            multiples = {f"of {base}": ms / medians[base] for base in PLAIN}
            yield f"{work} {name}", {"ms": ms, **multiples, "engine": entrants[name][1]}


def plain_step(run: TrainingRun, kind: type[torch.optim.Optimizer]) -> tuple[Step, str]:
    """The ordinary step without privacy, gathering its batch, under a graph as the private one;
    what it is taken by.
    """
    config, (x, y) = run.config, run.train
    network, loss_of = (
        build(config.model, config.activation, 0, config.shape).to(run.device),
        nn.CrossEntropyLoss(),
    )
    rows = torch.arange(config.batch, device=run.device)
    more = {"capturable": True} if kind is torch.optim.Adam and run.device.type == "cuda" else {}
    optimizer = kind(network.parameters(), lr=1e-4, **more)  # type: ignore[call-arg]

    def step() -> None:
        optimizer.zero_grad()
        loss_of(network(x[rows].float()), y[rows]).backward()
        optimizer.step()

    play = recording(step, ()) if run.device.type == "cuda" else step
    drawn = np.arange(config.batch)

    def taken() -> None:
        rows.copy_(moved(drawn, run.device))
        play()

    return taken, "PyTorch, captured" if play is not step else "PyTorch"


def private_step(run: TrainingRun) -> tuple[Step, str]:
    """The private step, on a batch of the expected size; what it is taken by."""
    run.runner = step_runner_of(run)
    drawn = np.arange(run.config.batch)
    run.drawn = lambda step: drawn  # type: ignore[method-assign]
    run.step_totals.add = lambda step, *found: None  # type: ignore[method-assign]

    def taken() -> None:
        with run.cores.working():
            run.step(1)

    for _ in range(WAIT):
        taken()
    return taken, run.engine.name + run.runner.note


def milliseconds(step: Step, count: int, device: str) -> float:
    """Of one of so many steps in a row; one more before them is not timed."""
    # Waits for all that was asked of the device.
    settle = torch.cuda.synchronize if device == "cuda" else lambda: None
    step()
    settle()
    start = time.perf_counter()
    for _ in range(count):
        step()
    settle()
    return 1e3 * (time.perf_counter() - start) / count


def epochs(size: Size) -> Found:
    """Seconds of an epoch, batches drawn and gathered: the median of three, after one that is not
    timed.
    """
    for work in WORK:
        config = config_of(work, size, epochs=100)
        run = TrainingRun(
            config, time.perf_counter, inputs=inputs_on(config, torch.device(size.device))
        )
        run.runner = step_runner_of(run)
        count = size.epoch or -(-config.examples // config.batch)
        times = [seconds_of(run, 1 + count * i, count) for i in range(4)][1:]
        yield (
            work,
            {
                "seconds": statistics.median(times),
                "steps": count,
                "engine": run.engine.name + run.runner.note,
            },
        )


def seconds_of(run: TrainingRun, first: int, count: int) -> float:
    """Of so many steps of a run, from this one on."""
    start = time.perf_counter()
    for step in range(first, first + count):
        with run.cores.working():
            run.step(1 + (step - 1) % run.plan.steps)
    run.step_totals.settle()  # waits for the device
    return time.perf_counter() - start


def checks(size: Size) -> Found:
    """How many tests that need CUDA passed and failed, and which failed."""
    files = (
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "mark.cuda" in path.read_text()
    )
    workers = str(min(4, os.cpu_count() or 1)) if size.device == "cuda" else "0"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "cuda",
        "-n",
        workers,
    ]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(
        [*command, *map(str, files)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    counts = {
        word: int(count)
        for count, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", done.stdout)
    }
    failures = re.findall(r"^(?:FAILED|ERROR) \S*::(.*?)(?: - |$)", done.stdout, flags=re.MULTILINE)
    yield (
        "marked cuda",
        {**counts, "status": done.returncode, **({"failures": failures} if failures else {})},
    )


def ladders(size: Size) -> Found:
    """One run of each recipe of both ladders at epsilon 3, those last whose features take the
    longest to compute.
    """
    found = {
        f"{each.place}, {curve.recipe}": curve.configs[EPSILONS.index(RECORD)]
        for each in GRIDS
        for curve in each.curves
    }
    ordered = sorted(
        found.items(), key=lambda item: item[1].views if item[1].features != "pixels" else 0
    )
    return trained(size, {name: config.to_json() | {"seed": 0} for name, config in ordered})


def trained(size: Size, recipes: Mapping[str, Recipe] = RECIPES) -> Found:
    """One run of each; one that takes more than its share of the time that is left is cut, and
    counts as left out.
    """
    end = time.perf_counter() + size.time
    for place, (name, recipe) in enumerate(recipes.items()):
        share = (end - time.perf_counter()) / (len(recipes) - place)
        figures: Figures = {"done": False, "seconds": 0.0}
        if share <= 0:
            yield name, figures | {"left out": "no time was left"}
            continue
        try:
            advance(RunConfig(**(recipe | {"device": size.device})), share, figures)
        except Exception as error:  # whatever a driver may raise: the other recipes are to be tried
            figures["failed"] = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
        else:
            if not figures["done"]:
                figures["left out"] = f"it was not done in its share of the time, {share:.1f} s"
        yield name, figures


def advance(config: RunConfig, seconds: float, figures: Figures) -> None:
    """Train until the end or until the time is over, and write down what is known so far."""
    start = time.perf_counter()
    for event in train(config):
        figures["seconds"] = time.perf_counter() - start
        if isinstance(event, Started):
            figures |= {"engine": event.engine, "seconds before the first step": figures["seconds"]}
        if isinstance(event, Stepped | Evaluated | Finished):
            figures["steps"] = event.step
        if isinstance(event, Evaluated | Finished):
            figures |= {"accuracy": event.accuracy, "averaged accuracy": event.averaged_accuracy}
        figures["done"] = isinstance(event, Finished)
        if figures["seconds"] > seconds:
            break


# What is measured, and for how many seconds at most.
PHASES: dict[str, tuple[Callable[[Size], Found], float]] = {
    "steps": (steps, 75.0),
    "epochs": (epochs, 45.0),
    "tests": (checks, 110.0),
    "ladders": (ladders, 90.0),
    "recipes": (trained, 55.0),
}
# Seconds of a phase of recipes in which none is trained: its start, and the last event of a run.
BESIDES = 15.0


def measured(small: list[str]) -> dict[str, Figures]:
    """What each phase found, in a process of its own, within the time for all of them."""
    end, found = time.monotonic() + SECONDS, {}
    later = sum(limit for _, limit in PHASES.values())
    for name, (_, limit) in PHASES.items():
        left, later = end - time.monotonic(), later - limit
        limit = max(0.0, min(left, max(limit, left - later)))
        words = ["-m", "benchmarks.gpu", "--phase", name, "--seconds", f"{limit:.1f}", *small]
        found[name] = bounded([sys.executable, *words], limit)
        say(name, found[name]["seconds"], found[name]["figures"], found[name].get("failed"))
    return found


def bounded(command: list[str], limit: float) -> Figures:
    """The figures that a process prints, its seconds, and how it failed if it did; past the limit
    it is ended.
    """
    start, failed = time.monotonic(), ""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    try:
        said, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started
        said, errors = process.communicate()
        failed = f"it ran past {limit:.0f} s"
    if process.returncode and not failed:
        failed = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1][:200]
    figures: Figures = {}
    for line in said.splitlines():
        try:
            figures |= json.loads(line)
        except (ValueError, TypeError):  # a warning, or a line that was cut
            continue
    return {"seconds": round(time.monotonic() - start, 1), "figures": figures} | (
        {"failed": failed} if failed else {}
    )


def say(phase: str, seconds: float, figures: Figures, failed: str | None = None) -> None:
    """Print a phase's part of the table."""
    print(f"{phase} ({seconds} s)" + (f", failed: {failed}" if failed else ""))
    for name, row in figures.items():
        cells = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in row.items()
        )
        print(f"  {name:<32} {', '.join(cells)}", flush=True)


def verdicts(phases: dict[str, Figures]) -> dict[str, Figures]:
    """What was found of each wanted figure, None where a phase did not get so far, and whether that
    is reached.
    """
    found = {}
    for name, (phase, row, key, most) in WANTED.items():
        value = phases[phase]["figures"].get(row, {}).get(key)
        found[name] = {
            "found": value,
            "at most": most,
            "reached": value is not None and value <= most,
        }
    return found


def write(out: Path, device: str, small: list[str]) -> None:
    """Measure all phases, and write them down with where that was and which wanted figures are
    reached.
    """
    start, name = time.monotonic(), torch.cuda.get_device_name() if device == "cuda" else device
    versions = {
        "torch": str(torch.__version__),
        "cuda": str(torch.version.cuda),
        "python": platform.python_version(),
    }
    where = {
        "device": name,
        "date": datetime.now(UTC).date().isoformat(),
        "dpcore": __version__,
        "commit": commit(),
    }
    phases = measured(small)
    seconds, wanted = round(time.monotonic() - start, 1), verdicts(phases)
    say("wanted", seconds, wanted)
    out.parent.mkdir(parents=True, exist_ok=True)
    result = {**where, **versions, "seconds": seconds, "wanted": wanted, "phases": phases}
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="docs/measured/gpu.json where it is not given")
    parser.add_argument(
        "--small", action="store_true", help="on the CPU, in tiny sizes; needs --out"
    )
    parser.add_argument(
        "--phase", choices=list(PHASES), help="print the figures of one phase, a line of JSON each"
    )
    parser.add_argument("--seconds", type=float, help="that the phase has")
    options = parser.parse_args(arguments)
    size = SMALL if options.small else Size()
    if size.device == "cuda" and not torch.cuda.is_available():
        print(NONE)
        return
    if options.seconds and not options.small:
        size = size._replace(time=max(0.0, options.seconds - BESIDES))
    if options.phase:
        for name, figures in PHASES[options.phase][0](size):
            print(json.dumps({name: figures}), flush=True)
        return
    if options.small and not options.out:
        parser.error("--small needs --out: what it measures is nothing to be kept")
    write(options.out or RESULT, size.device, ["--small"] if options.small else [])


if __name__ == "__main__":
    main()
