"""Comparisons of paper 003 that can be recomputed, the noise at each of the four places, its
experiments and claims.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpcore.data.tabular import TABLES
from dpcore.papers.entry import Computed
from dpcore.papers.input_perturbation import noise_formulas as formulas
from dpcore.papers.input_perturbation.noise_formulas import Learning
from dpcore.papers.input_perturbation.noise_table import WORDS
from dpcore.papers.paper import Drawing, Experiment, Line
from dpcore.papers.words import Numbers, findings, with_numbers
from dpcore.privacy import gaussian
from dpcore.privacy.report.numbers import outward, plain, short
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request

EXPERIMENT_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.25)  # the paper's range


def _experiment(place: str, dataset: str, model: str) -> Experiment:
    request = Request(dataset=dataset, model=model, epsilons=EXPERIMENT_EPSILONS)
    return Experiment(place, f"{TABLES[dataset].title}, {MODELS[model].title.lower()}", request)


EXPERIMENTS = tuple(_experiment(**each) for each in WORDS["experiments"])
# Breast cancer; T, Delta ours.
GIVEN = Learning(n=699, p=9, d=9, epsilon=0.1, delta=1e-5, steps=100, convexity=0.01)
EPSILONS = (0.01, 0.05, 0.1, 0.25)  # the ends of section 6's range and two between
MANY = replace(GIVEN, n=10**9)  # enough rows for n - 1 to be n


def _power(name: str, ratio: Callable[[Learning], float]) -> float:
    """Return the power of a quantity in a ratio, without rounding errors."""
    more = replace(MANY, **{name: 10 * getattr(MANY, name)})
    return round(math.log10(ratio(more) / ratio(MANY)), 6)


def _to_bassily(given: Learning) -> float:
    """Return Bassily's noise variance over theirs, without the logarithm of n/delta."""
    return _over_theirs(formulas.bassily_noise, given) / math.log(given.n / given.delta)


def _over_theirs(noise: Callable[[Learning], float], given: Learning) -> float:
    """Return a method's noise variance over theirs."""
    return (noise(given) / formulas.own_noise(given)) ** 2


def _gain_in_risk(other: Callable[[Learning], float], logs: Callable[[Learning], float]) -> float:
    """Return the power of n in another method's excess risk over theirs, without these logarithms
    of n.
    """
    return _power("n", lambda given: other(given) * logs(given) / formulas.own_risk(given))


def local_epsilon(noise: float, delta: float) -> float:
    """Return the exact epsilon of Gaussian noise of this standard deviation on one row of norm at
    most 1.

    >>> round(local_epsilon(2 * 30.75, 1e-5), 3)
    0.1
    """
    return float(gaussian.epsilon_of(delta, 2 / noise))


OURS: dict[str, Callable[[], float]] = {
    "bassily_noise": lambda: _power("n", _to_bassily),
    "bassily_noise_of_mean": lambda: _power("n", lambda given: _to_bassily(given) / given.n**2),
    "fukuchi_noise": lambda: _power("n", lambda given: _over_theirs(formulas.fukuchi_noise, given)),
    "convexity": lambda: _power(
        "convexity", lambda given: _over_theirs(formulas.gradient_noise, given)
    ),
    "inner_steps": lambda: _power(
        "inner", lambda given: _over_theirs(formulas.reduced_noise, given)
    ),
    "bassily_risk": lambda: _gain_in_risk(
        formulas.bassily_risk,
        lambda given: (math.log(given.n) / math.log(given.n / given.delta)) ** 2,
    ),
    "descent_risk": lambda: _gain_in_risk(formulas.gradient_risk, lambda given: math.log(given.n)),
    "fukuchi_risk": lambda: _gain_in_risk(
        formulas.fukuchi_risk, lambda given: math.log(given.n) ** 2
    ),
}


NUMBERS = vars(GIVEN) | {"ratio": _over_theirs(formulas.fukuchi_noise, GIVEN)}
ENTRIES = tuple(
    Computed(**with_numbers(WORDS["entries"][name], **NUMBERS), ours=ours)
    for name, ours in OURS.items()
)


def _places() -> tuple[Line, ...]:
    epsilons = np.geomspace(EPSILONS[0], EPSILONS[-1], 41)
    exact = 1 / gaussian.mu_of(epsilons, GIVEN.delta)  # at sensitivity 1
    claimed = np.array(
        [formulas.own_noise(replace(GIVEN, epsilon=each)) for each in epsilons.tolist()]
    )
    return (
        Line("input, exact, for each row", epsilons, 2 * exact),
        Line("input, the paper's formula: no guarantee", epsilons, claimed),
        Line(
            "gradient, exact, in each of T steps",
            epsilons,
            2 / GIVEN.n * math.sqrt(GIVEN.steps) * exact,
        ),
        Line("output, exact, on each parameter", epsilons, 2 / (GIVEN.n * GIVEN.convexity) * exact),
    )


DRAWINGS = (Drawing(**WORDS["drawing"], lines=_places),)
PROMISED: dict[str, object] = {
    "epsilon": plain(GIVEN.epsilon),
    "delta": plain(GIVEN.delta),
    "steps": GIVEN.steps,
}


def _private() -> Numbers:
    noise = formulas.own_noise(GIVEN)
    kept = outward(local_epsilon(noise, GIVEN.delta), math.ceil)
    needed = outward(formulas.local_noise(GIVEN), math.ceil)
    counts = {"n": GIVEN.n, "convexity": GIVEN.convexity}
    return PROMISED | counts | {"claimed": short(noise), "kept": kept, "needed": needed}


def _between() -> Numbers:
    noises = [
        outward(formulas.local_noise(replace(GIVEN, epsilon=each)), math.ceil) for each in EPSILONS
    ]
    told = ", ".join(
        f"{noise} at epsilon {epsilon:g}" for epsilon, noise in zip(EPSILONS, noises, strict=True)
    )
    return PROMISED | {"noises": told}


def _less_noise() -> Numbers:
    ratio = formulas.own_noise(GIVEN) / formulas.gradient_noise(GIVEN)
    return {"convexity": GIVEN.convexity, "ratio": short(ratio)}


def _as_accurate() -> Numbers:
    noises = {
        "local": formulas.local_noise(GIVEN),
        "halved": formulas.local_noise(replace(GIVEN, epsilon=GIVEN.epsilon / 2)),
        "gradient": 2 / GIVEN.n * math.sqrt(GIVEN.steps) * GIVEN.unit_noise,
    }
    return PROMISED | {name: outward(noise, math.ceil) for name, noise in noises.items()}


FINDINGS = findings(
    WORDS, private=_private, between=_between, less_noise=_less_noise, as_accurate=_as_accurate
)
