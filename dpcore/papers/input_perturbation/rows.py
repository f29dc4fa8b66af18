"""Numbers of paper 003: its comparisons, the noise at each place, its experiments and claims."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from dpcore.data.tabular import TABLES
from dpcore.papers.entry import Computed
from dpcore.papers.input_perturbation.table_1 import WORDS, Learning, noise, private_noise, risk
from dpcore.papers.paper import Experiment, Line, Lines
from dpcore.papers.words import Numbers, computed, drawing, rounded_up
from dpcore.privacy import gaussian
from dpcore.privacy.report.numbers import plain, short
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request

EXPERIMENT_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.25)  # the paper's range


def _experiments() -> Iterator[Experiment]:
    for each in WORDS["experiments"]:
        dataset = each["dataset"]
        model = each["model"]
        title = f"{TABLES[dataset].title}, {MODELS[model].title.lower()}"
        request = Request(dataset=dataset, model=model, epsilons=EXPERIMENT_EPSILONS)
        yield Experiment(each["place"], title, request)


EXPERIMENTS = tuple(_experiments())
# Breast cancer; T, Delta ours.
GIVEN = Learning(n=699, p=9, d=9, epsilon=0.1, delta=1e-5, steps=100, convexity=0.01)
EPSILONS = (0.01, 0.05, 0.1, 0.25)  # the ends of section 6's range and two between
MANY = replace(GIVEN, n=10**9)  # enough rows for n - 1 to be n


def _power(name: str, ratio: Callable[[Learning], float]) -> float:
    """Return the power of a quantity in a ratio, without rounding errors."""
    tenfold = replace(MANY, **{name: 10 * getattr(MANY, name)})
    return round(math.log10(ratio(tenfold) / ratio(MANY)), 6)


def _variance(method: str, given: Learning) -> float:
    """Return a method's noise variance over theirs."""
    amounts = noise(given)
    return (amounts[method] / amounts["own"]) ** 2


def _risk(method: str, given: Learning) -> float:
    """Return a method's excess risk, without logarithms of n, over theirs, which has their square.

    For Bassily it has logarithms of n in place of n/delta.
    """
    log = math.log(given.n)
    logs = {
        "bassily": (log / math.log(given.n / given.delta)) ** 2,
        "wang_descent": log,
        "fukuchi": log**2,
    }
    amounts = risk(given)
    return amounts[method] * logs[method] / amounts["own"]


def _bassily_variance(given: Learning) -> float:
    """Return Bassily's noise variance over theirs, without the logarithm of n/delta."""
    return _variance("bassily", given) / math.log(given.n / given.delta)


def _bassily_variance_of_mean(given: Learning) -> float:
    """Return the same for the mean of the gradients."""
    return _bassily_variance(given) / given.n**2


def local_epsilon(noise: float, delta: float) -> float:
    """Return the exact epsilon of Gaussian noise of a standard deviation on a row of norm 1.

    >>> round(local_epsilon(2 * 30.75, 1e-5), 3)
    0.1
    """
    return float(gaussian.epsilon_of(delta, 2 / noise))


# By entry: the quantity whose power the paper names, and the ratio to theirs that has it.
RATIOS: dict[str, tuple[str, Callable[[Learning], float]]] = {
    "bassily_noise": ("n", _bassily_variance),
    "bassily_noise_of_mean": ("n", _bassily_variance_of_mean),
    "fukuchi_noise": ("n", partial(_variance, "fukuchi")),
    "convexity": ("convexity", partial(_variance, "wang_descent")),
    "inner_steps": ("inner", partial(_variance, "wang_svrg")),
    "bassily_risk": ("n", partial(_risk, "bassily")),
    "descent_risk": ("n", partial(_risk, "wang_descent")),
    "fukuchi_risk": ("n", partial(_risk, "fukuchi")),
}


def _rows() -> Iterator[Computed]:
    numbers = vars(GIVEN) | {"ratio": _variance("fukuchi", GIVEN)}
    for name, (quantity, ratio) in RATIOS.items():
        texts = {"place": "Section 2"} | WORDS["entries"][name]
        yield computed(texts, partial(_power, quantity, ratio), numbers=numbers)


ENTRIES = tuple(_rows())


def _places() -> Lines:
    epsilons = np.geomspace(EPSILONS[0], EPSILONS[-1], 41)
    exact = 1 / gaussian.mu_of(epsilons, GIVEN.delta)  # at sensitivity 1
    claimed = [noise(replace(GIVEN, epsilon=each))["own"] for each in epsilons.tolist()]
    in_each_step = 2 / GIVEN.n * math.sqrt(GIVEN.steps) * exact
    on_parameters = 2 / (GIVEN.n * GIVEN.convexity) * exact
    return (
        Line("input, exact, for each row", epsilons, 2 * exact),
        Line("input, the paper's formula: no guarantee", epsilons, np.array(claimed)),
        Line("gradient, exact, in each of T steps", epsilons, in_each_step),
        Line("output, exact, on each parameter", epsilons, on_parameters),
    )


DRAWINGS = (drawing(WORDS["drawing"], _places),)
PROMISED: dict[str, object] = {
    "epsilon": plain(GIVEN.epsilon),
    "delta": plain(GIVEN.delta),
    "steps": GIVEN.steps,
}


def _private() -> Numbers:
    """Compare the noise of the paper's formula with the noise that keeps its promise."""
    claimed = noise(GIVEN)["own"]
    return PROMISED | {
        "n": GIVEN.n,
        "convexity": GIVEN.convexity,
        "claimed": short(claimed),
        "kept": rounded_up(local_epsilon(claimed, GIVEN.delta)),
        "needed": rounded_up(noise(GIVEN)["sound"]),
    }


def _between() -> Numbers:
    """List the noise that keeps each epsilon of section 6."""
    parts = []
    for epsilon in EPSILONS:
        needed = noise(replace(GIVEN, epsilon=epsilon))["sound"]
        parts.append(f"{rounded_up(needed)} at epsilon {epsilon:g}")
    return PROMISED | {"noises": ", ".join(parts)}


def _less_noise() -> Numbers:
    ratio = noise(GIVEN)["own"] / noise(GIVEN)["wang_descent"]
    return {"convexity": GIVEN.convexity, "ratio": short(ratio)}


def _as_accurate() -> Numbers:
    """Compare noise on rows, at epsilon and at half of it, with noise on gradients."""
    halved = replace(GIVEN, epsilon=GIVEN.epsilon / 2)
    return PROMISED | {
        "local": rounded_up(noise(GIVEN)["sound"]),
        "halved": rounded_up(noise(halved)["sound"]),
        "gradient": rounded_up(private_noise(GIVEN)["wang_descent"]),
    }


ANSWERS = {
    "private": _private,
    "between": _between,
    "less_noise": _less_noise,
    "as_accurate": _as_accurate,
}
