"""Events of a followed run. Charts know them by the names that those of our own runs have."""

from collections.abc import Mapping
from dataclasses import dataclass

from dpcore.training.events import Evaluated


@dataclass(frozen=True)
class Stepped:
    """So many steps were told, the last ones with this q and sigma."""

    step: int
    epoch: float  # expected uses of each example
    q: float
    sigma: float
    steps_per_second: float


@dataclass(frozen=True)
class Logged:
    """The numbers that the training logged after so many steps. No epsilon covers them."""

    step: int
    epoch: float
    values: Mapping[str, float]


Event = Stepped | Evaluated | Logged
# By their names in the store.
KINDS: dict[str, type] = {"stepped": Stepped, "evaluated": Evaluated, "logged": Logged}
