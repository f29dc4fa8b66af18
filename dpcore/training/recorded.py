"""What the defaults of the pages reached on the bundled samples, as it was recorded.

`python -m benchmarks.defaults_recorded` trains the networks anew and writes recorded.toml.
"""

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dpcore.privacy.report.numbers import outward
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults, suited_features
from dpcore.training.models import models_for
from dpcore.training.settings import SETTINGS, Settings

FILE = Path(__file__).with_name("recorded.toml")
DELTA = 1e-5  # of all recorded epsilons
# No part of a recipe.
FREE = ("sigma", "batch", "epochs", "delta", "seed", "device", "noise_generator", "private")


class Recorded(NamedTuple):
    """Mean test accuracies with and without privacy, and the certified epsilon of the former."""

    sigma: float
    epsilon: float  # an upper bound, at `DELTA`
    accuracy: float
    baseline: float


def recipe(dataset: str, *, private: bool = True) -> RunConfig:
    """The settings that were recorded, but for sigma."""
    features = suited_features(dataset)[0]
    model = models_for(dataset, features)[-1]
    return defaults(dataset, model, "sgd", private=private, features=features)


def of_recipe(settings: Settings) -> bool:
    """True for settings of the recipe with any sigma, batch and number of epochs.

    >>> of_recipe(recipe("mnist")), of_recipe(Settings(dataset="mnist", model="cnn"))
    (True, False)
    """
    wanted = recipe(settings.dataset)
    for name, setting in SETTINGS.items():
        matters = name not in FREE and setting.is_used(settings)
        if matters and getattr(settings, name) != getattr(wanted, name):
            return False
    return True


@cache
def recorded(dataset: str, source: str) -> tuple[Recorded, ...]:
    """The recorded trainings on these data by growing epsilon; none for other data."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8")).get(dataset, {}).get(source)
    if found is None:
        return ()
    rows = []
    for sigma, epsilon, accuracy in found["private"]:
        rows.append(Recorded(sigma, epsilon, accuracy, found["baseline"]))
    return tuple(sorted(rows, key=lambda row: row.epsilon))


def recorded_at(dataset: str, source: str, epsilon: float) -> Recorded | None:
    """The most accurate training that was recorded with at most this epsilon, if there is one.

    >>> found = recorded_at("mnist", "sample", 1.0)
    >>> found.epsilon <= 1.0, found.accuracy < found.baseline
    (True, True)
    """
    most = as_shown(epsilon)  # so that a setting finds its own record, whose bound was rounded up
    within = [row for row in recorded(dataset, source) if as_shown(row.epsilon) <= most]
    return max(within, key=lambda row: row.accuracy, default=None)


def most_private(dataset: str, source: str) -> Recorded | None:
    """The recorded training on these data with the smallest epsilon; None for other data.

    >>> found = most_private("mnist", "sample")
    >>> recorded_at("mnist", "sample", found.epsilon) == found
    True
    """
    return next(iter(recorded(dataset, source)), None)


def as_shown(epsilon: float) -> float:
    """An upper bound of epsilon in the digits in which people read it.

    >>> as_shown(0.3178201), as_shown(math.inf)
    (0.318, inf)
    """
    return float(outward(epsilon, math.ceil)) if math.isfinite(epsilon) else epsilon
