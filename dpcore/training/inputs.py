"""What a network is given: the examples of each part on the run's device, as pixels or features, and their labels."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from dpcore.data.loading import Images, fingerprint_of, load
from dpcore.training.config import RunConfig
from dpcore.training.features.cache import load_or_compute
from dpcore.training.features.compute import Steps, run_to_end, scaled
from dpcore.training.rows import ByteRows, Rows

TENSORS: WeakKeyDictionary[Images, dict[torch.device, tuple[Tensor, Tensor]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Inputs:
    """The parts of a data set as a run sees them: rows (n, ...), of several views (n, K, ...), and labels (n,)."""

    train: tuple[Rows, Tensor]
    public: tuple[Tensor, Tensor]  # of as many views, over which answers are averaged
    test: tuple[Tensor, Tensor]
    fingerprint: str  # of the data set and, where they are not its pixels, of what is made of it
    note: str = ""  # a sentence on what did not go well; empty otherwise


def inputs_of(config: RunConfig, device: torch.device) -> Inputs:
    """The inputs that `load_inputs` gives in the end."""
    return run_to_end(load_inputs(config, device))


def load_inputs(config: RunConfig, device: torch.device) -> Steps[Inputs]:
    """Read the data; the last `public` training examples are held out, neither trained nor tested on.

    Says how far it is where features are computed. Errors: ValueError for data that are not here, or of another size.
    """
    data, n = load(config.dataset, config.source), config.examples
    if len(data.train) != n + config.public:
        raise ValueError(f"Expected {n + config.public} training examples; {config.source} data has {len(data.train)}.")
    fingerprint = fingerprint_of(data)
    if config.features != "pixels" or config.views > 1:
        return (yield from _featured(config, data.train, data.test, device, fingerprint))
    change = centred if config.pixel_scale == "centred" else None
    x, y = rows_of(data.train, device, change)
    train = x.first(n) if isinstance(x, ByteRows) else x[:n]
    seen, labels = tensors(data.test, device)
    return Inputs((train, y[:n]), (x[n:], y[n:]), (change(seen) if change else seen, labels), fingerprint)


def _featured(config: RunConfig, train: Images, test: Images, device: torch.device, fingerprint: str) -> Steps[Inputs]:
    """The same for features, which are kept as float16: what a step takes of them it turns into float32."""
    n, notes, parts, made = config.examples, [], [], hashlib.sha256(fingerprint.encode())
    for part in (train, test):
        found = yield from load_or_compute(part, config.features, config.views)
        values = found.values if config.views > 1 else found.values[:, 0]
        if config.pixel_scale == "centred":
            values = centred(values)
        parts.append((values.to(device), torch.tensor(part.labels, device=device).long()))
        notes.append(found.note)
        made.update(found.digest.encode())
    (x, y), tested = parts
    return Inputs((x[:n], y[:n]), (x[n:], y[n:]), tested, made.hexdigest(), next(filter(None, notes), ""))


def tensors(part: Images, device: torch.device) -> tuple[Tensor, Tensor]:
    """Images as (n, 1, 28, 28) in [0, 1], in colour (n, 3, 32, 32) in [-1, 1], and labels (n,). Nobody writes to them.

    Features (n, d) stay as they are, ids (n, d) whole numbers. The scales are fixed: no data set had a say in them.
    They are kept as long as the part is: that of a sample is at hand where the next run begins.
    """
    kept = TENSORS.setdefault(part, {})
    if device not in kept:
        ids = part.images.dtype == np.uint16
        given = part.images.astype(np.int32) if ids else part.images
        values, labels = torch.tensor(given, device=device), torch.tensor(part.labels, device=device).long()
        kept[device] = values if ids else numbers(values), labels
    return kept[device]


def rows_of(
    part: Images, device: torch.device, change: Callable[[Tensor], Tensor] | None = None
) -> tuple[Rows, Tensor]:
    """The same, each number changed, but images that go to CUDA stay bytes until a batch takes them."""
    if device.type != "cuda" or part.images.dtype != np.uint8:
        values, labels = tensors(part, device)
        return change(values) if change else values, labels
    held, labels = torch.tensor(part.images, device=device), torch.tensor(part.labels, device=device).long()
    return ByteRows(held, (lambda values: change(numbers(values))) if change else numbers), labels


def numbers(values: Tensor) -> Tensor:
    """Examples (n, ...) as the numbers that a network is given; features (n, d) stay as they are."""
    return values.float() if values.dim() == 2 else scaled(values)


def centred(values: Tensor) -> Tensor:
    """Numbers in [0, 1] as numbers in [-1, 1], in memory of their own."""
    return values.mul(2).sub_(1)
