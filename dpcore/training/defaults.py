"""Settings to start from; free of torch."""

from typing import Any

from dpcore import check
from dpcore.training.config import EXAMPLES, MODELS, RunConfig
from dpcore.training.optimizers import OPTIMIZERS

# (dataset, model, optimizer) -> what differs from RunConfig's own defaults
TABLE: dict[tuple[str, str, str], dict[str, Any]] = {}


def defaults(dataset: str, model: str, optimizer: str, source: str = "sample") -> RunConfig:
    """A configuration that learns something within seconds to minutes on two cores.

    >>> defaults("mnist", "cnn", "sgd").optimizer
    'sgd'
    """
    check.one_of(dict.fromkeys(name for name, _ in EXAMPLES), dataset=dataset)
    check.one_of(MODELS, model=model)
    check.one_of(OPTIMIZERS, optimizer=optimizer)
    return RunConfig(
        dataset=dataset, source=source, model=model, optimizer=optimizer, **TABLE.get((dataset, model, optimizer), {})
    )
