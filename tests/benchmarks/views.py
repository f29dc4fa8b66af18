"""Milliseconds of one step on features with K views of each example, private and plain, in turns.

python -m tests.benchmarks.views [--rounds 10] [--batch 4096] [--views 4] [--half]

The network is one linear layer on 3,969 features, as many as the two-layer scattering transform gives of a grey image.
The plain step averages over the views too: autograd on the mean loss of all rows, and torch's SGD. The private step is
everything from a batch that is there to parameters that moved, noise included. Prints a table, then one JSON object.
Times are medians; so is the multiple, which is taken within each round, since other work meets both steps of it alike.
`--half` hands over the features as float16, as they are kept; the plain step turns them into float32 at once.
"""

import argparse
import json
import statistics

import torch
from numpy.random import SeedSequence
from torch import Tensor, nn

from dpcore.training.config import RunConfig
from dpcore.training.dp_step import Descent
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.engine_choice import engine_of
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from tests.benchmarks.training import TIMED, WARM, Entrant, Step, timed

FEATURES, CLASSES = 3969, 10


def plain(x: Tensor, y: Tensor) -> Step:
    """The step without privacy on views x (B, K, d)."""
    network = nn.Linear(FEATURES, CLASSES)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    labels = y.repeat_interleave(x.shape[1])

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x.flatten(0, 1).float()), labels).backward()
        optimizer.step()

    return step


def private(x: Tensor, y: Tensor) -> Entrant:
    """The private step on views x (B, K, d), and what it runs in."""
    cores = Cores()
    engine = engine_of(nn.Sequential(nn.Linear(FEATURES, CLASSES)), cores, views=x.shape[1])
    noise = GaussianNoise(len(engine.parameters), SeedSequence(0), torch.device("cpu"), cores)
    descent = Descent(RunConfig(batch=len(x), clip_norm=0.1), engine, noise, cores)
    given = x if x.shape[1] > 1 else x[:, 0]
    return Entrant(lambda: descent.take(given, y, 2.0, 0.1), cores.working)


def measured(entrants: dict[str, Entrant], rounds: int) -> dict[str, float]:
    """Median milliseconds of each, and the median multiple of the plain step."""
    times = {name: [] for name in entrants}
    for _ in range(rounds):
        for name, entrant in entrants.items():
            times[name].append(statistics.median(timed(entrant, WARM, TIMED)))
    multiples = [one / other for one, other in zip(times["private"], times["plain"], strict=True)]
    return {name: statistics.median(values) for name, values in times.items()} | {
        "multiple": statistics.median(multiples)
    }


def main() -> None:
    """Measure, print the table, print the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--views", type=int, default=4)
    parser.add_argument("--half", action="store_true")
    options = parser.parse_args()
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(options.batch, options.views, FEATURES, generator=generator)
    y = torch.randint(CLASSES, (options.batch,), generator=generator)
    x = x.half() if options.half else x
    found = measured({"plain": Entrant(plain(x, y)), "private": private(x, y)}, options.rounds)
    for name, value in found.items():
        print(f"{name:<10} {value:>8.2f}")
    setting = {**vars(options), "torch": torch.__version__, "threads": torch.get_num_threads()}
    print(json.dumps({**setting, **found}))


if __name__ == "__main__":
    main()
