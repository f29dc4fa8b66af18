"""Rows of paper 004: of each experiment mu, two epsilons and accuracies, and those of Figure 4.

MNIST is in Table 1 and Figure 4; Adult, IMDb and MovieLens are in Tables 2 to 4.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from dpcore.papers.entry import (
    POINTS,
    Computed,
    PrintedClaim,
    PrintedSetting,
    Row,
    Trained,
    without_privacy,
)
from dpcore.papers.words import Values, computed, config_of, grid, table, words_of
from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import gdp
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.config import RunConfig

WORDS = words_of("gaussian_dp")
# The orders of the moments accountant's column, those of TensorFlow Privacy in 2019
# (compute_dp_sgd_privacy.py).
ORDERS: FloatArray = np.concatenate(
    [np.arange(11, 110) / 10, 12 + 0.2 * np.arange(240), np.arange(60.0, 100)]
)
ORDERS.setflags(write=False)
MNIST = PrintedSetting(n=60_000, batch=256, sigma=1.3, epochs=15, clip_norm=1.5, dataset="mnist")
SETTINGS = {name: replace(MNIST, **changes) for name, changes in WORDS["settings"].items()}
TOP = SETTINGS["top"]
TOP_LESS = SETTINGS["top_less"]
BOTTOM = SETTINGS["bottom"]
BOTTOM_LESS = SETTINGS["bottom_less"]
LR = {"lr": 0.15}  # of Figure 4
EPOCHS = 20.0  # of Tables 2 to 4 without privacy


@dataclass(frozen=True)
class Experiment:
    """A private row of Tables 1 to 4 with its printed numbers."""

    place: str
    setting: PrintedSetting
    printed: Sequence[str]  # mu, epsilon by the central limit theorem and by moments accountant
    run: Values  # settings of its run beside `setting`
    accuracy: str
    plain: str = ""  # accuracy without privacy, in Tables 2 to 4
    quantity: str = "test accuracy, %"
    within: float = POINTS
    because: str = "{differs} {of_ten}"  # on its accuracy, with texts of `runs`
    note: str = ""


def _experiments() -> Iterator[Experiment]:
    for texts in WORDS["experiments"]:
        setting = replace(MNIST, **texts["setting"])
        yield Experiment(**texts | {"setting": setting})


EXPERIMENTS = tuple(_experiments())
ON_MNIST = EXPERIMENTS[:6]
TABLE_1 = tuple(each.setting for each in ON_MNIST)


def claim_of(setting: PrintedSetting) -> PrintedClaim:
    """Return the promise of a setting's printed epsilon.

    Its steps are rounded down, which makes it easier to keep.
    """
    return PrintedClaim(setting.after(math.floor(setting.steps)), setting.delta)


def central_mu(setting: PrintedSetting) -> float:
    """Return mu of the central limit theorem.

    T = epochs n / B is not rounded in the paper. Source: equation (3.1).

    >>> round(central_mu(TABLE_1[0]), 4)
    0.2273
    """
    return gdp.mu_of(setting.after(1)) * math.sqrt(setting.steps)


def central_epsilon(setting: PrintedSetting) -> float:
    """Return epsilon by the central limit theorem, which is no bound: equations (3.1) and (3.2)."""
    return float(gaussian.epsilon_of(setting.delta, central_mu(setting)))


def moments_epsilon(setting: PrintedSetting) -> float:
    """Return epsilon by the paper's moments accountant.

    It has Renyi moments at `ORDERS`, T not rounded, and the tail bound.

    >>> round(moments_epsilon(TABLE_1[0]), 3)
    1.191
    """
    total = setting.steps * renyi.log_moments_at(setting.q, setting.sigma, ORDERS)
    return float(renyi.epsilon_classic(total[None], ORDERS, np.array([setting.delta]))[0])


def less_noise(setting: PrintedSetting) -> float:
    """Return the sigma whose epsilon by the CLT is that of the setting by the moments accountant.

    Source: equations (3.3) and (3.4).
    """
    from scipy.optimize import root_scalar  # here, not above: costs a quarter of a second

    wanted = moments_epsilon(setting)

    def gap(sigma: float) -> float:
        return central_epsilon(replace(setting, sigma=sigma)) - wanted

    return float(root_scalar(gap, bracket=(setting.sigma / 4, setting.sigma)).root)


FORMULAS = {
    "mu": central_mu,
    "central": central_epsilon,
    "moments": moments_epsilon,
    "less_noise": less_noise,
}


def _row(place: str, by: str, setting: PrintedSetting, printed: str, because: str = "") -> Computed:
    """Return a printed number that a formula gives; those of epsilon claim privacy."""
    is_epsilon = by in ("central", "moments")
    return Computed(
        place,
        quantity=WORDS["quantities"][by].format(sigma=setting.sigma),
        printed=printed,
        because=because,
        setting=setting,
        claim=claim_of(setting) if is_epsilon else None,
        bound=by == "moments",
        ours=partial(FORMULAS[by], setting),
    )


def _privacy() -> Iterator[Computed]:
    """Yield mu and both epsilons of each experiment, and the numbers of Figure 4."""
    for each in EXPERIMENTS:
        for by, printed in zip(("mu", "central", "moments"), each.printed, strict=True):
            yield _row(each.place, by, each.setting, printed)
    yield from _section_4_1()
    for panel, rows in WORDS["figure_4"].items():
        for each in rows:
            setting = SETTINGS[each["setting"]]
            because = each.get("because", "")
            yield _row(f"Figure 4, {panel}", each["by"], setting, each["printed"], because)


def _section_4_1() -> Iterator[Computed]:
    """Yield the numbers that section 4.1 reads out of Table 1."""
    texts = WORDS["entries"]
    _, row_2, row_3, *_ = TABLE_1

    def errors_by_clt() -> float:
        """Return the least sum of type I and II errors in per cent, at the printed mu."""
        return 200 * float(ndtr(-0.57 / 2))

    def errors_by_moments() -> float:
        """Return the least sum of type I and II errors in per cent, by one (epsilon, delta)."""
        return 200 * (1 - row_2.delta) / (1 + math.exp(moments_epsilon(row_2)))

    yield computed(texts["ratio_by_moments"], partial(math.exp, 7.10), row_3)
    yield computed(texts["ratio_by_clt"], partial(math.exp, 5.07), row_3)
    yield computed(texts["errors_by_clt"], errors_by_clt, row_2)
    yield computed(texts["errors_by_moments"], errors_by_moments, row_2)


def run(setting: PrintedSetting, more: Values) -> RunConfig:
    """Return a run of NoisySGD with the paper's network, or with other settings."""
    values = {
        "optimizer": setting.optimizer,
        "batch": setting.batch,
        "sigma": setting.sigma,
        "clip_norm": setting.clip_norm,
        "delta": setting.delta,
        "epochs": float(setting.epochs),
    }
    return config_of(WORDS["network"], values, more)


def _accuracies(experiments: tuple[Experiment, ...]) -> Iterator[Trained]:
    """Yield the accuracy of each with privacy, and without it where the paper has both."""
    for each in experiments:
        config = run(each.setting, each.run)
        private = Trained(
            each.place,
            each.quantity,
            each.accuracy,
            each.because.format_map(WORDS["runs"]),
            each.note,
            within=each.within,
            config=config,
        )
        yield private
        if each.plain:
            quantity = f"{each.quantity}, without privacy"
            bare = without_privacy(config, epochs=EPOCHS)
            yield replace(private, quantity=quantity, printed=each.plain, config=bare)


FIGURE_4 = tuple(table(WORDS["accuracies"], run(BOTTOM, LR), WORDS["runs"]))
COUNTED = FIGURE_4[:6]  # after the epochs that the paper counts
ROWS: tuple[Row, ...] = (
    *_privacy(),
    *_accuracies(ON_MNIST),
    *FIGURE_4,
    *_accuracies(EXPERIMENTS[6:]),
)
GRIDS = (grid(WORDS["grid"], run(TOP, LR)),)
