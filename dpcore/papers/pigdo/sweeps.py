"""Figures 6, 7 and 9 of paper 000, which vary one setting and print few numbers."""

from dataclasses import replace
from typing import Any

from dpcore.papers.paper import Sweep
from dpcore.papers.pigdo.runs import THREE, name_of, run
from dpcore.papers.pigdo.theorem_3 import WORDS, claimed

RIVALS = ("ADADP", "ADPPL", "EXP", "DP-SGD")
FIVE = ("PIAdam, as coded", *RIVALS)  # of Figures 6(a) and 9
SIGMA = 4.0  # the default of section 5
BUDGET = round(claimed(0.01, SIGMA, 10_000), 1)  # epsilon by MMA of Figure 7's 100 epochs at the default
DELTAS, EPSILONS = (1e-5, 1e-4, 1e-3, 1e-2), (0.5, 2.0)  # of Figure 6(b)
LONG = 2500.0  # epochs, more than any budget of Figure 6 affords
FALLING = 1000.0  # the same with EXP, whose noise falls
TEXTS = {name: text.format(sigma=SIGMA, budget=BUDGET) for name, text in WORDS["sweeps"].items()}
BY_MMA = WORDS["runs"]["by_mma"]


def _stopped(epsilon: float, **more: Any) -> dict[str, Any]:
    return {"stop_epsilon": epsilon, "stop_accountant": "mma", "epochs": LONG} | more


def _epsilons(method: str) -> Sweep:
    values = (0.5, 1.0, 2.0, 4.0, 8.0) if method == "ADPPL" else (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
    most = FALLING if method == "EXP" else LONG
    configs = tuple(run("MNIST", method, SIGMA, **_stopped(value, epochs=most)) for value in values)
    note = f"{TEXTS['epsilon']} {BY_MMA} {TEXTS['relevances'] if method == 'ADPPL' else ''}".strip()
    return Sweep("Figure 6(a)", f"epsilon, {method}", "stop_epsilon", configs, note)


def _deltas(epsilon: float) -> Sweep:
    configs = tuple(run("MNIST", FIVE[0], SIGMA, **_stopped(epsilon, delta=delta)) for delta in DELTAS)
    note = f"{TEXTS['delta']} {BY_MMA}"
    return Sweep("Figure 6(b)", f"delta, at epsilon {epsilon:g} by MMA", "delta", configs, note)


def _varied(method: str, setting: str, values: tuple[float, ...], **more: Any) -> tuple[Any, ...]:
    reference = run("MNIST", name_of(method, "as written"), SIGMA, **more)
    return tuple(replace(reference, **{setting: value}) for value in values)


def _parameters(method: str) -> tuple[Sweep, ...]:
    """Return Figure 7 for one of the three methods, as written."""
    named, budget = f"{method} as written", _stopped(BUDGET)
    widths = _varied(method, "width", (200, 500, 1000, 1600))
    clips = _varied(method, "clip_norm", (1.0, 2.0, 4.0, 6.0, 8.0))
    lots = _varied(method, "batch", (200, 400, 600, 1000, 2000), **budget)
    noise = _varied(method, "sigma", (2.0, 3.0, 4.0, 6.0, 8.0), **budget)
    return (
        Sweep("Figure 7(a)", f"hidden units, {named}", "width", widths, TEXTS["width"]),
        Sweep("Figure 7(b)", f"clipping value, {named}", "clip_norm", clips, TEXTS["clip_norm"]),
        Sweep("Figure 7(c)", f"lot size, {named}", "batch", lots, TEXTS["batch"]),
        Sweep("Figure 7(d)", f"noise level, {named}", "sigma", noise, TEXTS["sigma"]),
    )


def _fashion(method: str) -> Sweep:
    configs = tuple(run("Fashion-MNIST", method, sigma) for sigma in (2.0, 4.0, 8.0))
    along = ("epochs", "rate") if method == "EXP" else ("epochs",)
    return Sweep("Figure 9", f"noise level, Fashion-MNIST, {method}", "sigma", configs, TEXTS["fashion"], along)


FIGURE_6B = tuple(_deltas(epsilon) for epsilon in EPSILONS)
FIGURE_7 = tuple(_parameters(method) for method in THREE)  # method -> its panels
SWEEPS = (
    *(_epsilons(method) for method in FIVE),
    *FIGURE_6B,
    *(panels[place] for place in range(4) for panels in FIGURE_7),
    *(_fashion(method) for method in FIVE),
)
