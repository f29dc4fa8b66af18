"""Milliseconds and memory of a step on scattering features as a run takes it, its batch drawn and gathered, in turns.

python -m tests.benchmarks.features [--rounds 10] [--batch 8192] [--views 1] [--source full]

The run is Fashion-MNIST's linear model on scattering at epsilon 3: 60,000 rows of 3,969 features in float16, made up
here, of which a step takes a batch. The private step is all that a run does for one: a Poisson batch, its rows,
clipping, noise, the optimizer, and the sums of losses and norms. Plain steps are PyTorch's own, for one of the batches
that a shuffled epoch is cut into: rows gathered and turned into float32 at once, autograd on the mean loss, torch's SGD
with momentum. One takes new memory for its rows each time, as most programs do; one keeps it, which is faster. "dpcore,
not private" is the same run without clipping and noise.

Prints a table, then one JSON object. Times are medians. The last two columns say how many times as much the private
step takes: of time within each round, since other work meets all steps of it alike, and of memory. Memory is what the
features take and what the peak of five steps adds to that, in processes of their own; other things that Python and
torch hold are left out on both sides, since they would make two steps seem more alike. `--source sample` takes 10,000
rows instead.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from dpcore.papers.better_features.recipes import LINEAR, PLAIN_RATES, RECORD, run
from dpcore.papers.entry import without_privacy
from dpcore.training.config import RunConfig
from dpcore.training.inputs import Inputs
from dpcore.training.models import build
from dpcore.training.training_run import TrainingRun
from tests.benchmarks.made_up import inputs
from tests.benchmarks.memory import added, peak
from tests.benchmarks.training import TIMED, WARM, Entrant, five, timed

PRIVATE = "private"
RATE = PLAIN_RATES["linear"]
Row = dict[str, float | None]


def config_of(options: argparse.Namespace) -> RunConfig:
    """The recipe, in the size that is asked for."""
    recipe = run("fashion_mnist", LINEAR, RECORD)
    return replace(recipe, source=options.source, batch=options.batch, views=options.views, seed=0)


def shuffled(n: int, batch: int) -> Iterator[Tensor]:
    """Positions of one batch after the other, epoch after epoch; what is left of an epoch is dropped."""
    while True:
        yield from torch.randperm(n).split(batch)[: n // batch]


def plain(config: RunConfig, given: Inputs, *, kept: bool) -> Entrant:
    """The ordinary step without privacy."""
    (x, y), views = given.train, config.views
    network = build(config.model, config.activation, 0, config.shape, 10)
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=config.momentum)
    batches = shuffled(len(x), config.batch)
    gathered = gathering(x, config.batch) if kept else lambda at: x.index_select(0, at).float()

    def step() -> None:
        at = next(batches)
        rows, labels = gathered(at), y[at]
        if views > 1:
            rows, labels = rows.flatten(0, 1), labels.repeat_interleave(views)
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(rows), labels).backward()
        optimizer.step()

    return Entrant(step)


def gathering(x: Tensor, batch: int) -> Callable[[Tensor], Tensor]:
    """What puts rows of x in float32 into memory that it keeps."""
    halves, numbers = x.new_empty(batch, *x.shape[1:]), torch.empty(batch, *x.shape[1:])

    def gathered(at: Tensor) -> Tensor:
        torch.index_select(x, 0, at, out=halves)
        return numbers.copy_(halves)

    return gathered


def of_run(config: RunConfig, given: Inputs) -> Entrant:
    """The step of a run, from drawing its batch on."""
    taking = TrainingRun(config, lambda: 0.0, inputs=given)
    return Entrant(lambda: taking.step(1), taking.cores.working)


MAKERS: dict[str, Callable[[RunConfig, Inputs], Entrant]] = {
    "plain": partial(plain, kept=False),
    "plain, memory kept": partial(plain, kept=True),
    "dpcore, not private": lambda config, given: of_run(without_privacy(config, lr=RATE), given),
    PRIVATE: of_run,
}


def rows_of(times: dict[str, list[float]], memory: dict[str, float | None], held: float) -> dict[str, Row]:
    """The table: milliseconds by round, MiB that steps add and MiB of the features, seen from the private step.

    >>> found = rows_of({"plain": [2.0, 8.0, 4.0], "private": [4.0, 9.0, 6.0]}, {"plain": 60.0, "private": 20.0}, 40.0)
    >>> found["plain"]
    {'ms': 4.0, 'MiB added': 60.0, 'MiB': 100.0, 'private takes of its time': 1.5, 'private takes of its memory': 0.6}
    """
    totals = {name: None if more is None else held + more for name, more in memory.items()}
    own = totals[PRIVATE]
    return {
        name: {
            "ms": statistics.median(values),
            "MiB added": memory[name],
            "MiB": (total := totals[name]),
            "private takes of its time": statistics.median(a / b for a, b in zip(times[PRIVATE], values, strict=True)),
            "private takes of its memory": None if own is None or total is None else own / total,
        }
        for name, values in times.items()
    }


def times_of(config: RunConfig, given: Inputs, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each step, the median of each round."""
    entrants = {name: make(config, given) for name, make in MAKERS.items()}
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for _ in range(rounds):
        for name, entrant in entrants.items():
            times[name].append(statistics.median(timed(entrant, WARM, TIMED)))
    return times


def own_peak(name: str, config: RunConfig) -> float:
    """MiB that five steps add at their peak, in this process."""
    entrant = MAKERS[name](config, inputs(config))
    return added(lambda: five(entrant))


def line(name: str, row: dict[str, Any]) -> str:
    """A line of the table.

    >>> line("plain", {"ms": 4.0, "MiB added": None, "MiB": None, "of time": 1.5, "of memory": None})
    'plain                     4.0         -         -      1.50         -'
    """
    ms, *mebibytes = (row[key] for key in ("ms", "MiB added", "MiB"))
    multiples = list(row.values())[3:]
    cells = [f"{ms:.1f}", *(_short(each, 0) for each in mebibytes), *(_short(each, 2) for each in multiples)]
    return f"{name:<19}" + "".join(f"{cell:>10}" for cell in cells)


def _short(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table, print the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--views", type=int, default=1)
    parser.add_argument("--source", choices=["full", "sample"], default="full")
    parser.add_argument("--peak", choices=list(MAKERS), help="print the MiB that one kind of step adds")
    options = parser.parse_args(arguments)
    config = config_of(options)
    if options.peak:
        print(own_peak(options.peak, config))
        return
    given = inputs(config)
    times, held = times_of(config, given, options.rounds), given.train[0][:].nbytes / 2**20
    del given
    words = [word for name in ("batch", "views", "source") for word in (f"--{name}", str(getattr(options, name)))]
    memory = {name: peak(["tests.benchmarks.features", *words, "--peak", name]) for name in MAKERS}
    rows = rows_of(times, memory, held)
    print(f"{'step':<19}{'ms':>10}{'MiB more':>10}{'MiB':>10}{'x time':>10}{'x memory':>10}")
    for name, row in rows.items():
        print(line(name, row))
    setting = {"batch": options.batch, "views": options.views, "rows": config.examples, "features MiB": held}
    versions = {"torch": torch.__version__, "threads": torch.get_num_threads(), "rounds": options.rounds}
    print(json.dumps({**setting, **versions, **rows}))


if __name__ == "__main__":
    main()
