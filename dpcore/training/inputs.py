"""Inputs of a network from a run's data: pixels, or features and views."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Size, Tensor

from dpcore.data.loading import Images, fingerprint_of, load
from dpcore.training.config import RunConfig
from dpcore.training.features.cache import load_or_compute
from dpcore.training.features.compute import Steps, run_to_end, scaled

Positions = NDArray[np.int64]  # of the examples in a batch, increasing
Labelled = tuple[Tensor, Tensor]  # examples (n, ...) and their labels (n,)


class PickedRows:
    """Rows of a set of examples at the positions of a batch, taken part by part.

    A CPU would copy a whole batch of wide rows twice: to memory, and part by part back to a core.
    Here each core takes the rows of its own part, which stay in its cache: 12 ms for 8,192 rows of
    3,969 features, not 45. On a GPU the batch with all its views may not fit, but smaller parts do.
    """

    def __init__(self, held: Tensor, at: Tensor) -> None:
        self._held = held
        self._at = at

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, part: slice) -> Tensor:
        """The rows of a part of the batch."""
        return self._held.index_select(0, self._at[part])

    @property
    def shape(self) -> Size:
        """The shape of the batch as one tensor."""
        return Size((len(self), *self._held.shape[1:]))


def picked(rows: Tensor, at: Tensor) -> Tensor | PickedRows:
    """The rows at these positions; taken part by part on a GPU, and on a CPU if they are float16.

    On a CPU all other batches fit into memory, and a part is a slice. Other kinds of rows, such as
    those that an audit watches, are taken at once, since their makers look at whole batches.
    """
    stay = isinstance(rows, Tensor) and (not rows.is_cpu or rows.itemsize == 2)
    return PickedRows(rows, at) if stay else rows[at]


def moved(values: NDArray[Any], device: torch.device) -> Tensor:
    """Copy the array to the device; to CUDA by page-locked memory, without making the calling
    thread wait.
    """
    tensor = torch.from_numpy(values)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


TENSORS: WeakKeyDictionary[Images, dict[torch.device, Labelled]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Inputs:
    """The parts of a data set for a run: rows (n, ...), or (n, K, ...) for K views, and labels
    (n,).
    """

    train: Labelled
    # The last training examples, held out; answers are averaged over their views.
    public: Labelled
    test: Labelled
    fingerprint: str  # of the data set, and of its features unless they are pixels
    note: str = ""  # a sentence on a failure to keep features; empty otherwise

    def changed(self, change: Callable[[Tensor], Tensor]) -> "Inputs":
        """The inputs with the examples of all three parts changed in the same way."""
        parts = (self.train, self.public, self.test)
        train, public, test = [(change(x), y) for x, y in parts]
        return Inputs(train, public, test, self.fingerprint, self.note)


def inputs_of(config: RunConfig, device: torch.device) -> Inputs:
    """The inputs of `load_inputs`, without its progress."""
    return run_to_end(load_inputs(config, device))


def load_inputs(config: RunConfig, device: torch.device) -> Steps[Inputs]:
    """Read the data and report the progress of features.

    Errors: ValueError for missing data, or of another size.
    """
    data = load(config.dataset, config.source)
    n = config.examples
    if len(data.train) != n + config.public:
        raise ValueError(
            f"Expected {n + config.public} training examples; {config.source} data has"
            f" {len(data.train)}."
        )
    fingerprint = fingerprint_of(data)
    parts = []
    digests = ""
    note = ""
    for part in (data.train, data.test):
        if config.features == "pixels" and config.views == 1:
            values, labels = tensors(part, device)
        else:  # features are kept as float16; a step turns its batch into float32
            found = yield from load_or_compute(part, config.features, config.views)
            values = found.values if config.views > 1 else found.values[:, 0]
            labels = torch.tensor(part.labels, device=device).long()
            digests = digests + found.digest
            note = note or found.note
        if config.pixel_scale == "centred":
            values = centred(values)
        parts.append((values.to(device), labels))
    if digests:
        fingerprint = hashlib.sha256((fingerprint + digests).encode()).hexdigest()
    (x, y), tested = parts
    return Inputs((x[:n], y[:n]), (x[n:], y[n:]), tested, fingerprint, note)


def tensors(part: Images, device: torch.device) -> Labelled:
    """Images as (n, 1, 28, 28) in [0, 1], in colour (n, 3, 32, 32) in [-1, 1], and labels (n,);
    read-only.

    Features (n, d) stay as they are, ids (n, d) whole numbers. The scales are fixed and depend on
    no data. The tensors live as long as the part: the next run on a sample finds them.
    """
    kept = TENSORS.setdefault(part, {})
    if device not in kept:
        ids = part.images.dtype == np.uint16
        given = part.images.astype(np.int32) if ids else part.images
        values = torch.tensor(given, device=device)
        labels = torch.tensor(part.labels, device=device).long()
        if not ids:
            values = values.float() if values.dim() == 2 else scaled(values)
        kept[device] = values, labels
    return kept[device]


def centred(values: Tensor) -> Tensor:
    """Map numbers in [0, 1] to [-1, 1], in new memory."""
    return values.mul(2).sub_(1)
