"""Numbers of paper 003: its comparisons, the noise at each place, its experiments and claims."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpcore.data.tabular import TABLES
from dpcore.papers.entry import Computed
from dpcore.papers.input_perturbation import noise_formulas as formulas
from dpcore.papers.input_perturbation.noise_formulas import Learning
from dpcore.papers.input_perturbation.noise_table import WORDS
from dpcore.papers.paper import Drawing, Experiment, Line
from dpcore.papers.words import Numbers, findings, rounded_up, with_numbers
from dpcore.privacy import gaussian
from dpcore.privacy.report.numbers import plain, short
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request

EXPERIMENT_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.25)  # the paper's range


def _experiments() -> tuple[Experiment, ...]:
    experiments = []
    for each in WORDS["experiments"]:
        dataset = each["dataset"]
        model = each["model"]
        title = f"{TABLES[dataset].title}, {MODELS[model].title.lower()}"
        request = Request(dataset=dataset, model=model, epsilons=EXPERIMENT_EPSILONS)
        experiments.append(Experiment(each["place"], title, request))
    return tuple(experiments)


EXPERIMENTS = _experiments()
# Breast cancer; T, Delta ours.
GIVEN = Learning(n=699, p=9, d=9, epsilon=0.1, delta=1e-5, steps=100, convexity=0.01)
EPSILONS = (0.01, 0.05, 0.1, 0.25)  # the ends of section 6's range and two between
MANY = replace(GIVEN, n=10**9)  # enough rows for n - 1 to be n


def _power(name: str, ratio: Callable[[Learning], float]) -> float:
    """Return the power of a quantity in a ratio, without rounding errors."""
    tenfold = replace(MANY, **{name: 10 * getattr(MANY, name)})
    return round(math.log10(ratio(tenfold) / ratio(MANY)), 6)


def _over_theirs(noise: Callable[[Learning], float], given: Learning) -> float:
    """Return a method's noise variance over theirs."""
    return (noise(given) / formulas.own_noise(given)) ** 2


def _bassily_noise(given: Learning) -> float:
    """Return Bassily's noise variance over theirs, without the logarithm of n/delta."""
    return _over_theirs(formulas.bassily_noise, given) / math.log(given.n / given.delta)


def _bassily_noise_of_mean(given: Learning) -> float:
    """Return the same for the mean of the gradients."""
    return _bassily_noise(given) / given.n**2


def _bassily_risk(given: Learning) -> float:
    """Return Bassily's excess risk over theirs, with logarithms of n in place of n/delta."""
    logs = (math.log(given.n) / math.log(given.n / given.delta)) ** 2
    return formulas.bassily_risk(given) * logs / formulas.own_risk(given)


def _descent_risk(given: Learning) -> float:
    """Return the excess risk of gradient descent over theirs, without logarithms of n."""
    return formulas.gradient_risk(given) * math.log(given.n) / formulas.own_risk(given)


def _fukuchi_risk(given: Learning) -> float:
    """Return Fukuchi's excess risk over theirs, without logarithms of n."""
    return formulas.fukuchi_risk(given) * math.log(given.n) ** 2 / formulas.own_risk(given)


def local_epsilon(noise: float, delta: float) -> float:
    """Return the exact epsilon of Gaussian noise of a standard deviation on a row of norm 1.

    >>> round(local_epsilon(2 * 30.75, 1e-5), 3)
    0.1
    """
    return float(gaussian.epsilon_of(delta, 2 / noise))


# By entry: the quantity whose power the paper names, and the ratio to theirs that has it.
RATIOS: dict[str, tuple[str, Callable[[Learning], float]]] = {
    "bassily_noise": ("n", _bassily_noise),
    "bassily_noise_of_mean": ("n", _bassily_noise_of_mean),
    "fukuchi_noise": ("n", partial(_over_theirs, formulas.fukuchi_noise)),
    "convexity": ("convexity", partial(_over_theirs, formulas.gradient_noise)),
    "inner_steps": ("inner", partial(_over_theirs, formulas.reduced_noise)),
    "bassily_risk": ("n", _bassily_risk),
    "descent_risk": ("n", _descent_risk),
    "fukuchi_risk": ("n", _fukuchi_risk),
}


def _entries() -> tuple[Computed, ...]:
    numbers = vars(GIVEN) | {"ratio": _over_theirs(formulas.fukuchi_noise, GIVEN)}
    entries = []
    for name, (quantity, ratio) in RATIOS.items():
        texts = with_numbers(WORDS["entries"][name], **numbers)
        entries.append(Computed(**texts, ours=partial(_power, quantity, ratio)))
    return tuple(entries)


ENTRIES = _entries()


def _places() -> tuple[Line, ...]:
    epsilons = np.geomspace(EPSILONS[0], EPSILONS[-1], 41)
    exact = 1 / gaussian.mu_of(epsilons, GIVEN.delta)  # at sensitivity 1
    claimed = [formulas.own_noise(replace(GIVEN, epsilon=each)) for each in epsilons.tolist()]
    in_each_step = 2 / GIVEN.n * math.sqrt(GIVEN.steps) * exact
    on_parameters = 2 / (GIVEN.n * GIVEN.convexity) * exact
    return (
        Line("input, exact, for each row", epsilons, 2 * exact),
        Line("input, the paper's formula: no guarantee", epsilons, np.array(claimed)),
        Line("gradient, exact, in each of T steps", epsilons, in_each_step),
        Line("output, exact, on each parameter", epsilons, on_parameters),
    )


DRAWINGS = (Drawing(**WORDS["drawing"], lines=_places),)
PROMISED: dict[str, object] = {
    "epsilon": plain(GIVEN.epsilon),
    "delta": plain(GIVEN.delta),
    "steps": GIVEN.steps,
}


def _private() -> Numbers:
    """Compare the noise of the paper's formula with the noise that keeps its promise."""
    noise = formulas.own_noise(GIVEN)
    return PROMISED | {
        "n": GIVEN.n,
        "convexity": GIVEN.convexity,
        "claimed": short(noise),
        "kept": rounded_up(local_epsilon(noise, GIVEN.delta)),
        "needed": rounded_up(formulas.local_noise(GIVEN)),
    }


def _between() -> Numbers:
    """List the noise that keeps each epsilon of section 6."""
    parts = []
    for epsilon in EPSILONS:
        noise = formulas.local_noise(replace(GIVEN, epsilon=epsilon))
        parts.append(f"{rounded_up(noise)} at epsilon {epsilon:g}")
    return PROMISED | {"noises": ", ".join(parts)}


def _less_noise() -> Numbers:
    ratio = formulas.own_noise(GIVEN) / formulas.gradient_noise(GIVEN)
    return {"convexity": GIVEN.convexity, "ratio": short(ratio)}


def _as_accurate() -> Numbers:
    """Compare noise on rows, at epsilon and at half of it, with noise on gradients."""
    halved = replace(GIVEN, epsilon=GIVEN.epsilon / 2)
    return PROMISED | {
        "local": rounded_up(formulas.local_noise(GIVEN)),
        "halved": rounded_up(formulas.local_noise(halved)),
        "gradient": rounded_up(formulas.private_gradient_noise(GIVEN)),
    }


FINDINGS = findings(
    WORDS,
    {
        "private": _private,
        "between": _between,
        "less_noise": _less_noise,
        "as_accurate": _as_accurate,
    },
)
