"""Milliseconds and peak memory of one private training step, beside plain PyTorch and Opacus, all
in one run.

python -m benchmarks.training [--rounds 12] [--no-opacus] [--work mlp-600]

Prints a table. On the CPU (`benchmarks.gpu` measures on a GPU). A step is everything from a
batch that is there to parameters that moved: gradients, clipping, noise, the optimizer's update.
Multiples are of PyTorch's plain SGD step, and of its plain Adam step, whose state `pi_adam` and
`adadp` have too. The contenders take turns, so that whatever else the machine does meets them
alike. Times are medians. Memory is what the peak of five steps adds to a fresh process that has
everything up to its first step, batch and parameters included: the median of three processes, which
differ by a few MiB.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from opacus import PrivacyEngine
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.counts import repeats
from benchmarks.memory import added, peak
from dpcore.training.config import RunConfig
from dpcore.training.models import build
from dpcore.training.training_run import TrainingRun

Step = Callable[[], None]
WAIT = 25  # steps until every optimizer has its scale


class Entrant(NamedTuple):
    """A step, what it runs in, and what comes before the first one."""

    step: Step
    within: Callable[[], AbstractContextManager] = nullcontext
    warm: Step = lambda: None


WORK = {
    "mlp-600": ("mlp", "relu", 600),
    "cnn-512": ("cnn", "tanh", 512),
    "cnn-2048": ("cnn", "tanh", 2048),
}
# Steps of each turn: the first ones pay for the caches and threads that the turn before left.
WARM, TIMED = 2, 3
SLOW = 0.5  # seconds: a contender this slow gets three turns of one step, not more


def plain(
    model: str, activation: str, x: Tensor, y: Tensor, kind: type[torch.optim.Optimizer]
) -> Step:
    """The ordinary step without privacy."""
    network, loss_of = build(model, activation, 0), nn.CrossEntropyLoss()
    optimizer = kind(network.parameters(), lr=1e-3)  # type: ignore[call-arg]
    return _step(network, loss_of, optimizer, x, y)


def opacus(model: str, activation: str, x: Tensor, y: Tensor, mode: str) -> Step:
    """The private step of Opacus."""
    network, loss_of = build(model, activation, 0), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    made = PrivacyEngine().make_private(
        module=network,
        optimizer=optimizer,
        data_loader=DataLoader(TensorDataset(x, y), batch_size=len(x)),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
        grad_sample_mode=mode,
        **({"criterion": loss_of} if mode == "ghost" else {}),
    )
    return _step(made[0], made[2] if mode == "ghost" else loss_of, made[1], x, y)


def _step(
    network: nn.Module, loss_of: Callable, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor
) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        loss_of(network(x), y).backward()
        optimizer.step()

    return step


def private(model: str, activation: str, batch: int, **options: str) -> Entrant:
    """The step of this project, with the diagonal scale of its optimizer in force."""
    sizes = {
        "batch": batch,
        "sigma": 1.0,
        "clip_norm": 1.0,
        "lr": 1e-4,
        "momentum": 0.0,
        "epochs": 10.0,
    }
    config = RunConfig(model=model, activation=activation, device="cpu", **(sizes | options))
    run = TrainingRun(config, time.perf_counter)
    x, y = run.train[0][:batch].clone(), run.train[1][:batch].clone()

    def step() -> None:
        run.step_totals.add(1, *run.descend(1, x, y)[1:])

    def warm() -> None:
        for _ in range(WAIT):
            run.descend(1, x[:8], y[:8])

    return Entrant(step, run.cores.working, warm)


def contenders(
    model: str, activation: str, batch: int, with_opacus: bool
) -> dict[str, Callable[[], Entrant]]:
    """Name -> what makes the step, and what it runs in."""
    work = (model, activation, batch)

    def images() -> tuple[Tensor, Tensor]:
        run = TrainingRun(RunConfig(model=model, batch=batch, device="cpu"), time.perf_counter)
        return run.train[0][:batch].clone(), run.train[1][:batch].clone()

    made: dict[str, Callable[[], Entrant]] = {
        "non-private": lambda: Entrant(plain(model, activation, *images(), torch.optim.SGD)),
        "non-private adam": lambda: Entrant(plain(model, activation, *images(), torch.optim.Adam)),
        "dpcore": lambda: private(*work),
        "dpcore auto_s": lambda: private(*work, clipping="auto_s"),
        "dpcore pi_adam": lambda: private(*work, optimizer="pi_adam"),
        "dpcore adadp": lambda: private(*work, optimizer="adadp"),
    }
    for mode in ("hooks", "ghost", "functorch") if with_opacus else ():
        made[f"opacus {mode}"] = lambda mode=mode: Entrant(
            opacus(model, activation, *images(), mode)
        )
    return made


def own_peak(name: str, contender: str) -> float:
    """MiB that five steps add at their peak, in this process."""
    entrant = contenders(*WORK[name], with_opacus=True)[contender]()
    return added(lambda: five(entrant))


def five(entrant: Entrant) -> None:
    """Take the first five steps, and what comes before them."""
    with entrant.within():
        entrant.warm()
        for _ in range(5):
            entrant.step()


def timed(entrant: Entrant, warm: int, count: int) -> list[float]:
    """Milliseconds of `count` steps."""
    times = []
    for i in range(warm + count):
        start = time.perf_counter()
        with entrant.within():
            entrant.step()
        if i >= warm:
            times.append(1e3 * (time.perf_counter() - start))
    return times


def measure(entrants: dict[str, Entrant], rounds: int) -> dict[str, dict[str, float]]:
    """Median milliseconds of each, and the multiples of the non-private steps."""
    for entrant in entrants.values():
        entrant.warm()
    first = {name: timed(entrant, 1, 1)[0] for name, entrant in entrants.items()}
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for turn in range(rounds):
        for name, entrant in entrants.items():
            if first[name] < 1e3 * SLOW:
                times[name] += timed(entrant, WARM, TIMED)
            elif turn < 3:
                times[name] += timed(entrant, 0, 1)
    medians = {name: statistics.median(values) for name, values in times.items()}
    sgd, adam = medians["non-private"], medians["non-private adam"]
    return {
        name: {"ms": ms, "multiple": ms / sgd, "of adam": ms / adam} for name, ms in medians.items()
    }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=repeats, default=12)
    parser.add_argument("--no-opacus", action="store_true")
    parser.add_argument("--work", nargs="+", default=list(WORK), choices=list(WORK))
    parser.add_argument(
        "--peak", nargs=2, metavar=("WORK", "CONTENDER"), help="print the MiB of one contender"
    )
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.peak:
        print(own_peak(*options.peak))
        return
    print(
        f"{'work':<10} {'contender':<24} {'ms':>9} {'multiple':>9} {'of adam':>9} {'peak MiB':>9}"
    )
    for name in options.work:
        makers = contenders(*WORK[name], not options.no_opacus)
        rows = measure({contender: make() for contender, make in makers.items()}, options.rounds)
        for contender, row in rows.items():
            held = peak(["benchmarks.training", "--peak", name, contender])
            figures = f"{row['ms']:>9.1f} {row['multiple']:>9.2f} {row['of adam']:>9.2f}"
            print(
                f"{name:<10} {contender:<24} {figures} {'-' if held is None else f'{held:.0f}':>9}",
                flush=True,
            )


if __name__ == "__main__":
    main()
