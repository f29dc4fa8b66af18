"""Milliseconds of one private training step, beside plain PyTorch and Opacus, all measured in one run.

python -m tests.benchmarks.training_step [--rounds 12] [--no-opacus]

Prints a table, then one JSON object. A step is everything from a batch that is there to parameters that moved:
gradients, clipping, noise, the optimizer's update; "with sampling" also draws the Poisson batch and gathers it. The
contenders take turns, so that whatever else the machine does meets them alike. Figures are medians.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from opacus import PrivacyEngine
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from dpcore.training.config import RunConfig
from dpcore.training.engine import Run
from dpcore.training.models import build

Step = Callable[[], None]
WORK = {"mlp-600": ("mlp", "relu", 600), "cnn-512": ("cnn", "tanh", 512), "cnn-2048": ("cnn", "tanh", 2048)}
WARM, TIMED = 2, 3  # steps of each turn: the first ones pay for the caches and threads that the turn before left
SLOW = 0.5  # seconds: a contender this slow gets three turns of one step, not more


def plain(model: str, activation: str, x: Tensor, y: Tensor) -> Step:
    """The ordinary step without privacy."""
    network, loss_of = build(model, activation, 0).to(x.device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    return _step(network, loss_of, optimizer, x, y)


def opacus(model: str, activation: str, x: Tensor, y: Tensor, mode: str) -> Step:
    """The private step of Opacus."""
    network, loss_of = build(model, activation, 0).to(x.device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    made = PrivacyEngine().make_private(
        module=network,
        optimizer=optimizer,
        data_loader=DataLoader(TensorDataset(x.cpu(), y.cpu()), batch_size=len(x)),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
        grad_sample_mode=mode,
        **({"criterion": loss_of} if mode == "ghost" else {}),
    )
    return _step(made[0], made[2] if mode == "ghost" else loss_of, made[1], x, y)


def _step(network: nn.Module, loss_of: Callable, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        loss_of(network(x), y).backward()
        optimizer.step()

    return step


def contenders(model: str, activation: str, batch: int, with_opacus: bool) -> dict[str, tuple[Step, Callable]]:
    """Name -> (step, what it runs in)."""
    config = RunConfig(
        model=model, activation=activation, batch=batch, sigma=1.0, clip_norm=1.0, lr=0.1, momentum=0.0, epochs=10
    )
    run = Run(config, time.perf_counter)
    x, y = run.train[0][:batch].clone(), run.train[1][:batch].clone()
    made: dict[str, tuple[Step, Callable[[], AbstractContextManager]]] = {
        "non-private": (plain(model, activation, x, y), nullcontext),
        "dpcore": (lambda: run.tally.add(1, *run.descend(1, x, y)[1:]), run.cores.working),
        "dpcore, with sampling": (lambda: run.step(1), run.cores.working),
    }
    if with_opacus:
        for mode in ("hooks", "ghost", "functorch"):
            made[f"opacus {mode}"] = (opacus(model, activation, x, y, mode), nullcontext)
    return made


def timed(step: Step, within: Callable, warm: int, count: int) -> list[float]:
    """Milliseconds of `count` steps."""
    times = []
    for i in range(warm + count):
        start = time.perf_counter()
        with within():
            step()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        if i >= warm:
            times.append(1e3 * (time.perf_counter() - start))
    return times


def measure(entrants: dict[str, tuple[Step, Callable]], rounds: int) -> dict[str, dict[str, float]]:
    """Median milliseconds of each, and the multiple of the non-private step."""
    first = {name: timed(step, within, 1, 1)[0] for name, (step, within) in entrants.items()}
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for turn in range(rounds):
        for name, (step, within) in entrants.items():
            if first[name] < 1e3 * SLOW:
                times[name] += timed(step, within, WARM, TIMED)
            elif turn < 3:
                times[name] += timed(step, within, 0, 1)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {name: {"ms": ms, "multiple": ms / medians["non-private"]} for name, ms in medians.items()}


def main() -> None:
    """Measure, print the table, print the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--no-opacus", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    result: dict[str, object] = {"device": device, "torch": torch.__version__, "threads": torch.get_num_threads()}
    print(f"{'work':<10} {'contender':<24} {'ms':>9} {'multiple':>9}")
    for name, (model, activation, batch) in WORK.items():
        rows = measure(contenders(model, activation, batch, not options.no_opacus), options.rounds)
        result[name] = rows
        for contender, row in rows.items():
            print(f"{name:<10} {contender:<24} {row['ms']:>9.1f} {row['multiple']:>9.2f}", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
