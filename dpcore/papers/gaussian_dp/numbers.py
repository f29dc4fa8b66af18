"""What paper 004 prints of privacy: mu and two epsilons of each experiment, and the numbers of its text and figures."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import ndtr

from dpcore.papers.entry import Claim, Computed, Setting
from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import gdp
from dpcore.privacy.mechanism import FloatArray, Mechanism

# The orders of the moments accountant's column, those of TensorFlow Privacy in 2019 (compute_dp_sgd_privacy.py).
ORDERS: FloatArray = np.concatenate([np.arange(11, 110) / 10, 12 + 0.2 * np.arange(240), np.arange(60.0, 100)])
ORDERS.setflags(write=False)

MNIST = Setting(n=60_000, batch=256, sigma=1.3, epochs=15, clip_norm=1.5, dataset="mnist")
TABLE_1 = (  # its rows
    MNIST,
    replace(MNIST, sigma=1.1, epochs=60, clip_norm=1.0),
    replace(MNIST, sigma=0.7, epochs=45),
    replace(MNIST, sigma=0.6, epochs=62),
    replace(MNIST, sigma=0.55, epochs=68),
    replace(MNIST, sigma=0.5, epochs=100),
)
ADULT = Setting(n=29_305, batch=256, sigma=0.55, epochs=18, dataset="adult")
IMDB = Setting(n=25_000, batch=512, sigma=0.56, epochs=9, optimizer="adam", dataset="imdb")
# p = 1/80 exactly; 80 % of the 1,000,209 ratings are 800,167.
MOVIELENS = Setting(n=800_160, batch=10_002, sigma=0.6, epochs=20, clip_norm=5.0, optimizer="adam", delta=1e-6)
# Figure 4's caption (also PMC7695347): at these epochs epsilon is the same with less noise, counted by the CLT.
TOP, TOP_LESS = replace(MNIST, epochs=20), replace(MNIST, sigma=1.06, epochs=20)
BOTTOM, BOTTOM_LESS = replace(MNIST, sigma=0.7, epochs=70), replace(MNIST, sigma=0.638, epochs=70)


@dataclass(frozen=True)
class Experiment:
    """A private row of Tables 1 to 4, and what is printed of it."""

    place: str
    setting: Setting
    mu: str
    central: str  # epsilon by the central limit theorem
    moments: str  # epsilon by the moments accountant


EXPERIMENTS = (
    Experiment("Table 1, row 1", TABLE_1[0], "0.23", "0.83", "1.19"),
    Experiment("Table 1, row 2", TABLE_1[1], "0.57", "2.32", "3.01"),
    Experiment("Table 1, row 3", TABLE_1[2], "1.13", "5.07", "7.10"),
    Experiment("Table 1, row 4", TABLE_1[3], "2.00", "9.98", "13.27"),
    Experiment("Table 1, row 5", TABLE_1[4], "2.76", "14.98", "18.72"),
    Experiment("Table 1, row 6", TABLE_1[5], "4.78", "31.12", "32.40"),
    Experiment("Table 2, Adult", ADULT, "2.03", "10.20", "14.70"),
    Experiment("Table 3, IMDb", IMDB, "2.07", "10.43", "15.24"),
    Experiment("Table 4, MovieLens", MOVIELENS, "1.94", "10.61", "15.39"),
)


def claim_of(setting: Setting) -> Claim:
    """What an epsilon printed for a setting promises, of its steps rounded down: what refutes it then refutes more."""
    return Claim(Mechanism.constant(setting.q, setting.sigma, math.floor(setting.steps)), setting.delta)


def central_mu(setting: Setting) -> float:
    """Mu of the central limit theorem after T = epochs n / B steps, which the paper does not round.

    Source: equation (3.1).

    >>> round(central_mu(TABLE_1[0]), 4)
    0.2273
    """
    return gdp.mu_of(Mechanism.constant(setting.q, setting.sigma, 1)) * math.sqrt(setting.steps)


def central_epsilon(setting: Setting) -> float:
    """Epsilon by the central limit theorem, which is no bound: equations (3.1) and (3.2)."""
    return float(gaussian.epsilon_of(setting.delta, central_mu(setting)))


def moments_epsilon(setting: Setting) -> float:
    """Epsilon by the moments accountant as the paper runs it: Renyi moments at `ORDERS`, T not rounded, tail bound.

    >>> round(moments_epsilon(TABLE_1[0]), 3)
    1.191
    """
    total = setting.steps * renyi.log_moments_at(setting.q, setting.sigma, ORDERS)
    return float(renyi.epsilon_classic(total[None], ORDERS, np.array([setting.delta]))[0])


def less_noise(setting: Setting) -> float:
    """Sigma at which the central limit theorem gives what the moments accountant gives at the setting's own.

    Source: equations (3.3) and (3.4).
    """
    wanted = moments_epsilon(setting)
    gap = lambda sigma: central_epsilon(replace(setting, sigma=sigma)) - wanted  # noqa: E731
    return float(root_scalar(gap, bracket=(setting.sigma / 4, setting.sigma)).root)


def of_tables() -> Iterator[Computed]:
    """Three numbers of each experiment."""
    for each in EXPERIMENTS:
        yield _mu(each.place, each.setting, each.mu)
        yield _central(each.place, each.setting, each.central)
        yield _moments(each.place, each.setting, each.moments)


def of_text() -> Iterator[Computed]:
    """The numbers that section 4.1 reads out of Table 1."""
    place, row_2, row_3 = "Section 4.1", TABLE_1[1], TABLE_1[2]
    ratio = "likelihood ratio e^epsilon of Table 1's row 3"
    yield Computed(
        place, f"{ratio}, by the moments accountant", "1212.0", setting=row_3, ours=lambda: math.exp(7.10),
        note="From epsilon rounded to 7.10.",
    )  # fmt: skip
    yield Computed(
        place, f"{ratio}, by the CLT", "159.1", setting=row_3, ours=lambda: math.exp(5.07),
        because="e to the printed 5.07 is 159.17, which is cut off instead of rounded.",
    )  # fmt: skip
    errors = "least sum of type I and II errors in Table 1's row 2, in per cent"
    yield Computed(
        place, f"{errors}, by the CLT", "77.6 %", setting=row_2, ours=lambda: 200 * float(ndtr(-0.57 / 2)),
        note="From mu rounded to 0.57; the unrounded mu gives 77.4.",
    )  # fmt: skip
    yield Computed(
        place, f"{errors}, by the moments accountant", "9.4 %", setting=row_2,
        ours=lambda: 200 * (1 - row_2.delta) / (1 + math.exp(moments_epsilon(row_2))),
        note="From its one pair of epsilon and delta = 1e-5; all its pairs together give much more.",
    )  # fmt: skip


def of_figure_4() -> Iterator[Computed]:
    """The same epsilon with less noise, as the text and the caption of Figure 4 have it."""
    place = "Figure 4, above"
    because = "The moments accountant gives 1.350 there; 1.34 is what the central limit gives at the rounded 1.06."
    yield replace(_moments(place, TOP, "1.34"), because=because)
    yield _less_noise(place, TOP, "1.06")
    yield _central(place, TOP_LESS, "1.34")
    yield _mu(place, TOP_LESS, "0.35")
    place = "Figure 4, below"
    yield _moments(place, BOTTOM, "8.68")
    yield _less_noise(place, BOTTOM, "0.638")
    because = "The printed 8.68 belongs to the unrounded sigma, at which both counts give it."
    yield replace(_central(place, BOTTOM_LESS, "8.68"), because=because)
    yield _mu(place, BOTTOM_LESS, "1.78")


def _mu(place: str, setting: Setting, printed: str) -> Computed:
    quantity = f"mu of the CLT, sigma {setting.sigma:g}"
    return Computed(place, quantity, printed, setting=setting, ours=lambda: central_mu(setting))


def _central(place: str, setting: Setting, printed: str) -> Computed:
    quantity, ours = f"epsilon by the CLT, sigma {setting.sigma:g}", lambda: central_epsilon(setting)
    return Computed(place, quantity, printed, setting=setting, claim=claim_of(setting), ours=ours)


def _moments(place: str, setting: Setting, printed: str) -> Computed:
    quantity, ours = f"epsilon by the moments accountant, sigma {setting.sigma:g}", lambda: moments_epsilon(setting)
    return Computed(place, quantity, printed, setting=setting, claim=claim_of(setting), ours=ours, bound=True)


def _less_noise(place: str, setting: Setting, printed: str) -> Computed:
    quantity = f"sigma of the CLT for the moments accountant's epsilon at {setting.sigma:g}"
    return Computed(place, quantity, printed, setting=setting, ours=lambda: less_noise(setting))
