"""Oracles: autograd, one example at a time, clipped as the papers write it, and what torch.optim
has.
"""

import copy
import itertools
from collections.abc import Callable
from textwrap import indent
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training.gradients.clipped_sum import Engine
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.engines import BookKeeping, PerExample
from dpcore.training.gradients.layers import Factors, MeanOfRows
from dpcore.training.gradients.rounding import relative_error
from dpcore.training.models import build
from dpcore.training.optimizers import OPTIMIZERS

NAMED = 6  # ids in a batch of them: few enough that some stand in an example several times


class Ids(tuple[int, ...]):
    """The shape of one input that holds ids."""


SHAPES = {  # name -> (module, shape of one input)
    "dense": (lambda: nn.Sequential(nn.Linear(7, 5)), (7,)),
    "dense without bias": (
        lambda: nn.Sequential(nn.Linear(7, 6, bias=False), nn.ReLU(), nn.Linear(6, 5)),
        (7,),
    ),
    "one unit": (lambda: nn.Sequential(nn.Linear(7, 1), nn.Tanh(), nn.Linear(1, 5)), (7,)),
    "maps laid flat": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(24, 6), nn.Tanh(), nn.Linear(6, 5)),
        (4, 2, 3),
    ),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(2, 5, 6), nn.Flatten()), (2, 6, 6)),
    "convolution without bias": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3, bias=False), nn.Tanh(), nn.Flatten(), nn.Linear(16, 5)
        ),
        (3, 4, 4),
    ),
    "stride and padding": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(2, 1)),
            nn.Tanh(),
            nn.Conv2d(3, 4, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(48, 5),
        ),
        (2, 9, 7),
    ),
    "stride that leaves a rest": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3, stride=2), nn.Conv2d(2, 5, 2, stride=3), nn.Flatten()
        ),
        (1, 8, 8),
    ),
    "oblong kernel behind another": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 2),
            nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0)),
            nn.Flatten(),
            nn.Linear(36, 5),
        ),
        (1, 7, 6),
    ),
    "overlapping pools": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3),
            nn.MaxPool2d(2, 1),
            nn.Tanh(),
            nn.MaxPool2d(3, 2, padding=1),
            nn.Flatten(),
            nn.Linear(27, 5),
        ),
        (1, 8, 8),
    ),
    "pool then convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(2, 4, 2),
            nn.Flatten(),
            nn.Linear(16, 5),
        ),
        (1, 8, 8),
    ),
    "embedding": (
        lambda: nn.Sequential(nn.Embedding(9, 3), nn.Flatten(), nn.Linear(12, 5)),
        Ids((4,)),
    ),
    "embedding alone": (lambda: nn.Sequential(nn.Embedding(9, 5), MeanOfRows()), Ids((12,))),
    "mean of an embedding": (
        lambda: nn.Sequential(
            nn.Embedding(9, 4),
            MeanOfRows(),
            nn.Linear(4, 6),
            nn.ReLU(),
            nn.Linear(6, 5, bias=False),
        ),
        Ids((12,)),
    ),
    "factors": (lambda: nn.Sequential(nn.Embedding(9, 7), Factors(3), nn.Linear(11, 5)), Ids((2,))),
    "mlp": (lambda: build("mlp", "relu", 3, width=60), (1, 28, 28)),
    "cnn": (lambda: build("cnn", "tanh", 3), (1, 28, 28)),
    "cnn relu": (lambda: build("cnn", "relu", 3), (1, 28, 28)),
    "adult": (lambda: build("adult", "relu", 3, (123,), 5), (123,)),
    "imdb": (lambda: build("imdb", "relu", 3, (256,), 5), Ids((256,))),
    "movielens": (lambda: build("movielens", "relu", 3, (2,), 5), Ids((2,))),
}
CORES = Cores(3)  # more than some machines have: sharing out must not depend on it
ENGINES = {"book-keeping": BookKeeping, "vmap": PerExample}
WAYS = [*itertools.product(CLIPPINGS, (False, True))]  # the clipping, and whether there is a D
TERMS = 2048  # at most, that a number of the networks here goes through: forward, backward, a batch


def assert_close(found: Tensor, expected: Tensor, terms: int = TERMS, case: object = "") -> None:
    """Equal up to the rounding of two float32 sums of that many terms, each in its processor's
    order.
    """
    error, size = (
        2 * relative_error(terms),
        float(expected.abs().max()) if expected.numel() else 0.0,
    )
    torch.testing.assert_close(
        found, expected, rtol=error, atol=error * size, msg=lambda said: f"{case}: {said}"
    )


def scale_of(engine: Engine, scaled: bool, least: float = 0.2) -> tuple[Tensor, Tensor | None]:
    """A D of the engine's parameters and its 1 / D^2; ones and None where nothing is scaled."""
    size = len(engine.parameters)
    scale = (
        least + torch.rand(size, generator=torch.Generator().manual_seed(8))
        if scaled
        else torch.ones(size)
    )
    return scale.double(), scale**-2 if scaled else None


def batch(shape: tuple[int, ...], count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ids = isinstance(shape, Ids)
    x = (
        torch.randint(NAMED, (count, *shape), generator=generator)
        if ids
        else torch.rand(count, *shape, generator=generator)
    )
    return x, torch.randint(0, 5, (count,), generator=generator)


def one_at_a_time(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Per-example gradients (B, d) by autograd."""
    rows = []
    for i in range(len(x)):
        module.zero_grad()
        F.cross_entropy(module(x[i : i + 1]), y[i : i + 1]).backward()
        rows.append(torch.cat([weight.grad.flatten() for weight in module.parameters()]))  # type: ignore[union-attr]
    return torch.stack(rows)


def means_one_at_a_time(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Gradients (B, d) of each example's mean loss over its views x (B, K, ...), by autograd."""
    rows = []
    for i in range(len(x)):
        module.zero_grad()
        F.cross_entropy(module(x[i]), y[i].expand(len(x[i]))).backward()
        rows.append(torch.cat([weight.grad.flatten() for weight in module.parameters()]))  # type: ignore[union-attr]
    return torch.stack(rows)


def assert_equals_the_loop(
    engine: Engine, x: Tensor, y: Tensor, gradients: Tensor, losses: Tensor, ways=WAYS
) -> None:
    """Norms, clipped sums and losses of the engine are those of a loop over the gradients of single
    examples (B, d).
    """
    for clipping, scaled in ways:
        scale, inverse = scale_of(engine, scaled)
        rows = gradients / scale.float()
        norms = rows.norm(dim=1)
        clip_norm = 0.97 * norms.median().item()  # no norm lies on the bound
        found = engine.clipped_sum(x, y, CLIPPINGS[clipping](clip_norm), inverse)
        clipped, factors = clipped_one_at_a_time(
            rows, clipping, clip_norm, layer_sizes(engine.module)
        )
        assert_close(found.norms, norms, case=(clipping, scaled))
        assert_close(found.total / scale.float(), clipped.sum(0), case=(clipping, scaled))
        assert found.clipped.tolist() == (factors < 1).any(1).tolist(), (clipping, scaled)
        assert_close(found.losses, losses)


def engine_on(
    kind: type[BookKeeping] | type[PerExample], module: nn.Module, chunk: int = 4, views: int = 1
) -> Engine:
    module = copy.deepcopy(module)
    engine = (
        BookKeeping(module, CORES, views) if kind is BookKeeping else PerExample(module, "", views)
    )  # type: ignore[arg-type]
    engine.chunk = chunk  # several chunks, the last one short
    return engine


def layer_sizes(module: nn.Module) -> list[int]:
    sizes = [
        sum(weight.numel() for weight in layer.parameters(recurse=False))
        for layer in module.modules()
    ]
    return [size for size in sizes if size]


def clipped_one_at_a_time(
    rows: Tensor, clipping: str, clip_norm: float, sizes: list[int]
) -> tuple[Tensor, Tensor]:
    """Each row clipped as the papers write it (B, d), and the factors (B, groups)."""
    clipped, factors = [], []
    for row in rows:
        parts = row.split(sizes) if clipping == "per_layer" else [row]
        norms = [part.norm().item() for part in parts]
        flat = [min(1.0, clip_norm * (1 - 1e-6) / norm) if norm else 1.0 for norm in norms]
        by = [clip_norm / (norm + 0.01) for norm in norms] if clipping == "auto_s" else flat
        clipped.append(torch.cat([part * factor for part, factor in zip(parts, by, strict=True)]))
        factors.append(by)
    return torch.stack(clipped), torch.tensor(factors)


def _made_by(lines: str) -> Callable[..., Any]:
    """The function of weights and config that these lines are the body of, as in the script for
    Opacus.
    """
    made: dict[str, Any] = {"torch": torch}
    # The lines are the package's own.
    exec("def peer(weights, config):\n" + indent(lines, "    "), made)
    return made["peer"]


PEERS = {
    name: _made_by(optimizer.in_torch)
    for name, optimizer in OPTIMIZERS.items()
    if optimizer.in_torch
}
PEERS["adppl"] = PEERS["sgd"]  # it differs in its noise alone
