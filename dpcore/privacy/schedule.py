"""Noise schedules: recipes that turn a first sigma into one sigma per epoch, and so into a mechanism.

Source: Yu et al., "Differentially private model publishing for deep learning", IEEE S&P 2019, section 5.
"""

import math
from collections.abc import Callable

from dpcore import check
from dpcore.privacy.mechanism import Mechanism, Release

STEP_PERIOD = 10  # levels between two falls of `step`, as in the paper's MNIST code
POLYNOMIAL_PERIOD = 100  # levels until `polynomial` has fallen, as there
POLYNOMIAL_END = 0.2  # of the first sigma, and kept from then on: 10 falls to 2 there
# Levels that `delayed` holds the first sigma. Ours: the paper's cancer code holds it for 300 epochs of one step each.
HOLD = 10


def _polynomial(rate: float, level: int) -> float:
    if level >= POLYNOMIAL_PERIOD:
        return POLYNOMIAL_END
    return (1 - POLYNOMIAL_END) * (1 - level / POLYNOMIAL_PERIOD) ** rate + POLYNOMIAL_END


# name -> factor(k, e) on the first sigma, in level e from 0 at the rate k
RECIPES: dict[str, Callable[[float, int], float]] = {
    "constant": lambda rate, level: 1.0,
    "exponential": lambda rate, level: math.exp(-rate * level),
    "time": lambda rate, level: 1.0 / (1.0 + rate * level),
    "step": lambda rate, level: rate ** (level // STEP_PERIOD),
    "polynomial": _polynomial,
    "delayed": lambda rate, level: math.exp(-rate * max(0, level - HOLD)),
    "linear": lambda rate, level: 1.0 - rate * level,
}
SCHEDULES = tuple(RECIPES)
MAX_LEVELS = 2000


def scheduled(name: str, q: float, sigma: float, steps: int, rate: float = 0.0, level_steps: int = 0) -> Mechanism:
    """The mechanism of `steps` steps whose sigma changes every `level_steps` steps (default: one epoch, round(1/q)).

    With e the level from 0: constant: sigma; exponential: sigma e^(-rate e); time: sigma / (1 + rate e);
    step: sigma rate^(e // 10); polynomial: 0.8 sigma (1 - e/100)^rate + 0.2 sigma, and 0.2 sigma from e = 100 on;
    delayed: sigma, and sigma e^(-rate (e - 10)) from e = 10 on; linear: sigma (1 - rate e).
    Source: as above; `delayed` is its constant-then-exponential for the cancer data. `linear` is ours.

    >>> [round(r.sigma, 3) for r in scheduled("exponential", 0.5, 10.0, 5, rate=0.1, level_steps=2).releases]
    [10.0, 9.048, 8.187]
    """
    check.one_of(SCHEDULES, schedule=name)
    check.in_range(0, 1, ends="(]", q=q)
    check.positive(sigma=sigma)
    check.whole(1, steps=steps)
    check.in_range(0, math.inf, ends="[)", rate=rate)
    if name == "constant":
        return Mechanism.constant(q, sigma, steps)
    check.whole(0, level_steps=level_steps)
    length = level_steps or max(1, round(min(1 / q, steps)))
    if steps > MAX_LEVELS * length:
        raise ValueError(
            f"Expected level_steps={length} to make at most {MAX_LEVELS} levels of steps={steps}; "
            f"take level_steps of at least {-(-steps // MAX_LEVELS)}."
        )
    releases: list[Release] = []
    for level, start in enumerate(range(0, steps, length)):
        value = sigma * RECIPES[name](rate, level)
        if not 0 < value < math.inf:
            raise ValueError(f"Expected rate={rate!r} to keep sigma above 0; at step {start} it is {value:g}.")
        count = min(length, steps - start)
        if releases and releases[-1].sigma == value:
            releases[-1] = Release(q, value, releases[-1].count + count)
        else:
            releases.append(Release(q, value, count))
    return Mechanism(tuple(releases))
