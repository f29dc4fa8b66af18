"""Privacy numbers of paper 004: of each experiment mu and two epsilons, of its text and figures."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting
from dpcore.papers.words import words_of
from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import gdp
from dpcore.privacy.mechanism import FloatArray

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


def _rows_of_table_1() -> list[PrivateRow]:
    rows = []
    for number, texts in enumerate(WORDS["table_1"], start=1):
        setting = replace(MNIST, **texts["setting"])
        rows.append(PrivateRow(**texts | {"place": f"Table 1, row {number}", "setting": setting}))
    return rows


def _rows_of_other_tables() -> dict[str, PrivateRow]:
    rows = {}
    for name, texts in WORDS["tables"].items():
        setting = PrintedSetting(**texts["setting"])
        rows[name] = PrivateRow(**texts | {"setting": setting})
    return rows


ON_MNIST = tuple(_rows_of_table_1())
TABLES = _rows_of_other_tables()
TABLE_1 = tuple(each.setting for each in ON_MNIST)
EXPERIMENTS = (*ON_MNIST, *TABLES.values())


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


def _entry(
    place: str, name: str, setting: PrintedSetting, printed: str, because: str = ""
) -> Computed:
    """Return a printed number that a formula gives; those of epsilon claim privacy."""
    is_epsilon = name in ("central", "moments")
    return Computed(
        place,
        quantity=WORDS["quantities"][name].format(sigma=setting.sigma),
        printed=printed,
        because=because,
        setting=setting,
        claim=claim_of(setting) if is_epsilon else None,
        bound=name == "moments",
        ours=partial(FORMULAS[name], setting),
    )


def _table_entries() -> list[Computed]:
    entries = []
    for row in EXPERIMENTS:
        entries.append(_entry(row.place, "mu", row.setting, row.mu))
        entries.append(_entry(row.place, "central", row.setting, row.central))
        entries.append(_entry(row.place, "moments", row.setting, row.moments))
    return entries


def _figure_entries() -> list[Computed]:
    entries = []
    for each in WORDS["figure_4"]:
        setting = SETTINGS[each["setting"]]
        because = each.get("because", "")
        entries.append(_entry(each["place"], each["name"], setting, each["printed"], because))
    return entries


ROW_2 = TABLE_1[1]
ROW_3 = TABLE_1[2]


def _errors_by_clt() -> float:
    """Return the least sum of type I and II errors in per cent, at the printed mu."""
    return 200 * float(ndtr(-0.57 / 2))


def _errors_by_moments() -> float:
    """Return the least sum of type I and II errors in per cent, by one pair (epsilon, delta)."""
    return 200 * (1 - ROW_2.delta) / (1 + math.exp(moments_epsilon(ROW_2)))


TEXTS = WORDS["entries"]
ENTRIES = (
    *_table_entries(),
    # The numbers that section 4.1 reads out of Table 1.
    Computed(**TEXTS["ratio_by_moments"], setting=ROW_3, ours=partial(math.exp, 7.10)),
    Computed(**TEXTS["ratio_by_clt"], setting=ROW_3, ours=partial(math.exp, 5.07)),
    Computed(**TEXTS["errors_by_clt"], setting=ROW_2, ours=_errors_by_clt),
    Computed(**TEXTS["errors_by_moments"], setting=ROW_2, ours=_errors_by_moments),
    *_figure_entries(),
)
