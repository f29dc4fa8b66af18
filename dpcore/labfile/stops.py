"""The stops of the file's sliders, all of them stops of the live lab."""

import math
from typing import NamedTuple

from dpcore import check
from dpcore.training.config import RunConfig
from dpcore.training.defaults import OPENING_SIGMA, defaults, suited_features
from dpcore.training.models import models_for
from dpcore.training.settings import SETTINGS, Count, Number, Settings
from dpcore.training.slider_stops import grid

# A stop costs some 14 ms, so two sliders have few of the lab's stops, and sigma, which is dragged
# most, has them all.
BATCHES = (20, 50, 100, 200, 300, 400, 500, 600, 800)
LARGE_BATCHES = (1000, 1500, 2000, 3000, 5000, 10_000, 20_000, 50_000)
FEW_EPOCHS = (0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15)
MANY_EPOCHS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000)
MOST_STEPS = 2_000_000  # of one stop; more take seconds each
MOST_EXAMPLES = 10_000_000
LEAST_DELTA = 1e-20  # a smaller one takes seconds, too


class Stop(NamedTuple):
    """One stop of each slider."""

    sigma: float
    batch: int
    epochs: float


class Stops(NamedTuple):
    """The stops of each slider, rising."""

    sigma: tuple[float, ...]
    batch: tuple[int, ...]
    epochs: tuple[float, ...]

    def places(self, stop: Stop) -> tuple[int, int, int]:
        """The places of a stop in the order batch, sigma, epochs.

        Errors: ValueError if a slider has none there.
        """
        return (
            self.batch.index(stop.batch),
            self.sigma.index(stop.sigma),
            self.epochs.index(stop.epochs),
        )

    def nearest(self, stop: Stop) -> Stop:
        """The stop whose numbers have the smallest ratios to those of another one.

        >>> Stops((1.0, 4.0), (256,), (1.0, 5.0)).nearest(Stop(3.0, 512, 5.0))
        Stop(sigma=4.0, batch=256, epochs=5.0)
        """
        found = []
        for values, wanted in zip(self, stop, strict=True):
            found.append(min(values, key=lambda each, wanted=wanted: abs(math.log(each / wanted))))
        return Stop(*found)


def opening(dataset: str) -> RunConfig:
    """The run with which the lab opens for a data set.

    >>> opening("mnist").examples, opening("cifar10").examples
    (10000, 50000)
    """
    features = suited_features(dataset)[0]
    model = models_for(dataset, features)[-1]
    return defaults(dataset, model, Settings().optimizer, features=features)


def opened(dataset: str, n: int) -> Stop:
    """The stop at which the file opens: that of the lab, the batch at most a quarter of n.

    >>> opened("mnist", 100).batch
    25
    """
    usual = opening(dataset)
    return Stop(OPENING_SIGMA, min(usual.batch, -(-n // 4)), usual.epochs)


def stops_of(dataset: str, n: int) -> Stops:
    """The stops for n examples. Errors: ValueError for an n that is too small or too large.

    >>> found = stops_of("mnist", 10_000)
    >>> found.batch[:3], found.batch[-1], len(found.epochs)
    ((20, 50, 100), 10000, 24)
    """
    check.whole(2, MOST_EXAMPLES, n=n)
    start = opened(dataset, n)
    low, high = _ends("sigma")
    sigmas = {*grid(low, high), Settings().sigma, start.sigma}
    epochs = {*FEW_EPOCHS, *MANY_EPOCHS, start.epochs}
    longest = max(epochs)
    most = min(n, int(_ends("batch")[1]))
    batches = {start.batch, most}
    for batch in (*BATCHES, *LARGE_BATCHES):
        if batch <= most and longest * n / batch <= MOST_STEPS:
            batches.add(batch)
    return Stops(tuple(sorted(sigmas)), tuple(sorted(batches)), tuple(sorted(epochs)))


def _ends(name: str) -> tuple[float, float]:
    """The ends of a setting's slider."""
    setting = SETTINGS[name]
    assert isinstance(setting, Number | Count)
    assert setting.slider is not None
    return setting.slider.low, setting.slider.high
