"""Privacy numbers of paper 004: mu and two epsilons of each experiment, and those of its text and
figures.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting
from dpcore.papers.words import words_of
from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import gdp
from dpcore.privacy.mechanism import FloatArray, Mechanism

WORDS = words_of("gaussian_dp")
# The orders of the moments accountant's column, those of TensorFlow Privacy in 2019
# (compute_dp_sgd_privacy.py).
ORDERS: FloatArray = np.concatenate(
    [np.arange(11, 110) / 10, 12 + 0.2 * np.arange(240), np.arange(60.0, 100)]
)
ORDERS.setflags(write=False)

MNIST = PrintedSetting(n=60_000, batch=256, sigma=1.3, epochs=15, clip_norm=1.5, dataset="mnist")
SETTINGS = {name: replace(MNIST, **changes) for name, changes in WORDS["settings"].items()}
TOP, TOP_LESS, BOTTOM, BOTTOM_LESS = SETTINGS.values()


@dataclass(frozen=True)
class PrivateRow:
    """A private row of Tables 1 to 4 with its printed numbers."""

    place: str
    setting: PrintedSetting
    mu: str
    central: str  # epsilon by the central limit theorem
    moments: str  # epsilon by the moments accountant
    lr: float
    accuracy: str
    plain: str = ""  # accuracy without privacy, in Tables 2 to 4
    differs: str = ""  # how our data differ from the paper's
    note: str = ""  # on its runs


TABLES = {
    name: PrivateRow(**texts | {"setting": PrintedSetting(**texts["setting"])})
    for name, texts in WORDS["tables"].items()
}
ON_MNIST = tuple(
    PrivateRow(f"Table 1, row {row}", **texts | {"setting": replace(MNIST, **texts["setting"])})
    for row, texts in enumerate(WORDS["table_1"], 1)
)
TABLE_1 = tuple(each.setting for each in ON_MNIST)
EXPERIMENTS = (*ON_MNIST, *TABLES.values())


def claim_of(setting: PrintedSetting) -> PrintedClaim:
    """Return the promise of a setting's printed epsilon for its steps rounded down, which is easier
    to keep.
    """
    return PrintedClaim(
        Mechanism.constant(setting.q, setting.sigma, math.floor(setting.steps)), setting.delta
    )


def central_mu(setting: PrintedSetting) -> float:
    """Return mu of the central limit theorem after T = epochs n / B steps, which the paper does not
    round.

    Source: equation (3.1).

    >>> round(central_mu(TABLE_1[0]), 4)
    0.2273
    """
    return gdp.mu_of(Mechanism.constant(setting.q, setting.sigma, 1)) * math.sqrt(setting.steps)


def central_epsilon(setting: PrintedSetting) -> float:
    """Return epsilon by the central limit theorem, which is no bound: equations (3.1) and (3.2)."""
    return float(gaussian.epsilon_of(setting.delta, central_mu(setting)))


def moments_epsilon(setting: PrintedSetting) -> float:
    """Return epsilon by the paper's moments accountant: Renyi moments at `ORDERS`, T not rounded,
    tail bound.

    >>> round(moments_epsilon(TABLE_1[0]), 3)
    1.191
    """
    total = setting.steps * renyi.log_moments_at(setting.q, setting.sigma, ORDERS)
    return float(renyi.epsilon_classic(total[None], ORDERS, np.array([setting.delta]))[0])


def less_noise(setting: PrintedSetting) -> float:
    """Return the sigma at which the central limit theorem gives the moments accountant's epsilon of
    the setting.

    Source: equations (3.3) and (3.4).
    """
    from scipy.optimize import root_scalar  # here, not above: costs a quarter of a second

    wanted = moments_epsilon(setting)
    gap = lambda sigma: central_epsilon(replace(setting, sigma=sigma)) - wanted  # noqa: E731
    return float(root_scalar(gap, bracket=(setting.sigma / 4, setting.sigma)).root)


FORMULAS = {
    "mu": central_mu,
    "central": central_epsilon,
    "moments": moments_epsilon,
    "less_noise": less_noise,
}


def _entry(
    place: str, name: str, setting: PrintedSetting, printed: str, because: str = ""
) -> Computed:
    """Return a printed number that a formula gives; those of epsilon claim privacy."""
    quantity, claims = (
        WORDS["quantities"][name].format(sigma=setting.sigma),
        name in ("central", "moments"),
    )
    claim, bound = claim_of(setting) if claims else None, name == "moments"
    ours = lambda: FORMULAS[name](setting)  # noqa: E731
    return Computed(
        place, quantity, printed, because, setting=setting, claim=claim, bound=bound, ours=ours
    )


ROW_2, ROW_3 = TABLE_1[1], TABLE_1[2]
TEXTS = WORDS["entries"]
OF_TABLES = tuple(
    _entry(each.place, name, each.setting, getattr(each, name))
    for each in EXPERIMENTS
    for name in ("mu", "central", "moments")
)
TEXT = (  # the numbers that section 4.1 reads out of Table 1
    Computed(**TEXTS["ratio_by_moments"], setting=ROW_3, ours=lambda: math.exp(7.10)),
    Computed(**TEXTS["ratio_by_clt"], setting=ROW_3, ours=lambda: math.exp(5.07)),
    Computed(**TEXTS["errors_by_clt"], setting=ROW_2, ours=lambda: 200 * float(ndtr(-0.57 / 2))),
    Computed(
        **TEXTS["errors_by_moments"],
        setting=ROW_2,
        ours=lambda: 200 * (1 - ROW_2.delta) / (1 + math.exp(moments_epsilon(ROW_2))),
    ),
)
FIGURE_4 = tuple(
    _entry(**each | {"setting": SETTINGS[each["setting"]]}) for each in WORDS["figure_4"]
)
ENTRIES = (*OF_TABLES, *TEXT, *FIGURE_4)
