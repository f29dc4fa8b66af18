"""Milliseconds and memory of a step on scattering features as a run takes it, its batch drawn and
gathered, in turns.

python -m benchmarks.features [--rounds 10] [--batch 8192] [--views 1] [--source full]

The run is Fashion-MNIST's linear model on scattering at epsilon 3: 60,000 rows of 3,969 features in
float16, made up here, of which a step takes a batch. The private step is all that a run does for
one: a Poisson batch, its rows, clipping, noise, the optimizer, and the sums of losses and norms.
Plain steps are PyTorch's own, for one of the batches that a shuffled epoch is cut into: rows
gathered and turned into float32 at once, autograd on the mean loss, torch's SGD with momentum. One
takes new memory for its rows each time, as most programs do; one keeps it, which is faster.
"dpcore, not private" is the same run without clipping and noise.

Times are medians. The last two columns say how many times as much the private step takes: of time
within each round, since other work meets all steps of it alike, and of memory. Memory is what the
features take and what the peak of five steps adds to that, in processes of their own; other things
that Python and torch hold are left out on both sides, since they would make two steps seem more
alike. `--source sample` takes 10,000 rows instead.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from benchmarks.counts import repeats
from benchmarks.made_up import inputs
from benchmarks.memory import added, peak
from benchmarks.training import TIMED, WARM, Entrant, five, timed
from dpcore.papers.better_features.recipes import LINEAR, PLAIN_RATES, RECORD, run
from dpcore.papers.entry import without_privacy
from dpcore.training.config import RunConfig
from dpcore.training.inputs import Inputs
from dpcore.training.models import build
from dpcore.training.training_run import TrainingRun

PRIVATE = "private"
RATE = PLAIN_RATES["linear"]


def shuffled(n: int, batch: int) -> Iterator[Tensor]:
    """Positions of one batch after the other, epoch after epoch; what is left of an epoch is
    dropped.
    """
    while True:
        yield from torch.randperm(n).split(batch)[: n // batch]


def plain(config: RunConfig, given: Inputs, *, kept: bool) -> Entrant:
    """The ordinary step without privacy; its rows lie in memory that is `kept`, or in new memory
    each time.
    """
    (x, y), views = given.train, config.views
    network = build(config.model, config.activation, 0, config.shape, 10)
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=config.momentum)
    batches, size = shuffled(len(x), config.batch), (config.batch, *x.shape[1:])
    halves, numbers = (x.new_empty(size), torch.empty(size)) if kept else (None, None)

    def step() -> None:
        at = next(batches)
        rows, labels = torch.index_select(x, 0, at, out=halves), y[at]
        rows = rows.float() if numbers is None else numbers.copy_(rows)
        if views > 1:
            rows, labels = rows.flatten(0, 1), labels.repeat_interleave(views)
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(rows), labels).backward()
        optimizer.step()

    return Entrant(step)


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


def times_of(config: RunConfig, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each step, the median of each round."""
    given = inputs(config)
    entrants = {name: make(config, given) for name, make in MAKERS.items()}
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for _ in range(rounds):
        for name, entrant in entrants.items():
            times[name].append(median(timed(entrant, WARM, TIMED)))
    return times


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=repeats, default=10)
    parser.add_argument("--batch", type=repeats, default=8192)
    parser.add_argument("--views", type=repeats, default=1)
    parser.add_argument("--source", choices=["full", "sample"], default="full")
    parser.add_argument(
        "--peak", choices=list(MAKERS), help="print the MiB that one kind of step adds"
    )
    options = parser.parse_args()
    size = {name: getattr(options, name) for name in ("batch", "views", "source")}
    config = replace(run("fashion_mnist", LINEAR, RECORD), **size, seed=0)
    if options.peak:
        entrant = MAKERS[options.peak](config, inputs(config))
        print(added(lambda: five(entrant)))
        return
    times, held = times_of(config, options.rounds), inputs(config).train[0].nbytes / 2**20
    words = [word for name, value in size.items() for word in (f"--{name}", str(value))]
    more = {
        name: peak(["benchmarks.features", *words, "--peak", name]) or float("nan")
        for name in MAKERS
    }
    print(f"{config.examples} rows, which take {held:.0f} MiB")
    print(f"{'step':<19}{'ms':>10}{'MiB more':>10}{'x time':>10}{'x memory':>10}")
    for name, each in times.items():
        of_time = median(own / other for own, other in zip(times[PRIVATE], each, strict=True))
        of_memory = (held + more[PRIVATE]) / (held + more[name])
        print(
            f"{name:<19}{median(each):>10.1f}{more[name]:>10.0f}{of_time:>10.2f}{of_memory:>10.2f}"
        )


if __name__ == "__main__":
    main()
