"""Figures 6, 7 and 9 of paper 000, which vary one setting and print few numbers."""

from dataclasses import replace
from typing import Any

from dpcore.papers.paper import Sweep
from dpcore.papers.pigdo.runs import THREE, name_of, run
from dpcore.papers.pigdo.theorem_3 import WORDS, claimed
from dpcore.papers.words import sweep, with_numbers
from dpcore.training.config import RunConfig

RIVALS = ("ADADP", "ADPPL", "EXP", "DP-SGD")
FIVE = ("PIAdam, as coded", *RIVALS)  # of Figures 6(a) and 9
SIGMA = 4.0  # the default of section 5
BUDGET = round(claimed(0.01, SIGMA, 10_000), 1)  # epsilon by MMA of Figure 7's 100 epochs at the default
EPSILONS = (0.5, 2.0)  # of Figure 6(b)
LONG = 2500.0  # epochs, more than any budget of Figure 6 affords
FALLING = 1000.0  # the same with EXP, whose noise falls


def _stopped(config: RunConfig, epsilon: float, epochs: float = LONG) -> RunConfig:
    return replace(config, stop_epsilon=epsilon, stop_accountant="mma", epochs=epochs)


def _words(name: str, **numbers: object) -> dict[str, Any]:
    return with_numbers(WORDS["sweeps"][name], sigma=SIGMA, budget=BUDGET, by_mma=WORDS["runs"]["by_mma"], **numbers)


def _epsilons(method: str) -> Sweep:
    words = _words("adppl" if method == "ADPPL" else "epsilon", method=method)
    most = FALLING if method == "EXP" else LONG
    return sweep(_stopped(run("MNIST", method, SIGMA), words["values"][0], most), **words)


def _deltas(epsilon: float) -> Sweep:
    return sweep(_stopped(run("MNIST", FIVE[0], SIGMA), epsilon), **_words("delta", epsilon=epsilon))


def _panel(setting: str) -> tuple[Sweep, ...]:
    """Return a panel of Figure 7 for each of the three methods, as written; two of them spend one budget."""
    runs = {method: run("MNIST", name_of(method, "as written"), SIGMA) for method in THREE}
    if setting in ("batch", "sigma"):
        runs = {method: _stopped(config, BUDGET) for method, config in runs.items()}
    return tuple(sweep(config, **_words(setting, method=method)) for method, config in runs.items())


def _fashion(method: str) -> Sweep:
    configs = tuple(run("Fashion-MNIST", method, sigma) for sigma in (2.0, 4.0, 8.0))
    along = ("epochs", "rate") if method == "EXP" else ("epochs",)
    return Sweep(**_words("fashion", method=method), configs=configs, along=along)


FIGURE_6B = tuple(_deltas(epsilon) for epsilon in EPSILONS)
FIGURE_7 = tuple(_panel(setting) for setting in ("width", "clip_norm", "batch", "sigma"))  # the panels (a) to (d)
SWEEPS = (
    *(_epsilons(method) for method in FIVE),
    *FIGURE_6B,
    *(each for panel in FIGURE_7 for each in panel),
    *(_fashion(method) for method in FIVE),
)
