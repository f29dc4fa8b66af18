"""Epsilons that paper 000 prints, recomputed, and its Figure 4."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Line
from dpcore.papers.pigdo.theorem_3 import DELTA, WORDS, claimed, closed_form
from dpcore.papers.words import with_numbers
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import short

# Section 5.2: sigma, epochs, epsilon.
QUOTED = ((2.0, 260, "5.47"), (4.0, 100, "3.39"), (8.0, 30, "1.86"))
MNIST = PrintedSetting(
    n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, optimizer="adam", dataset="mnist"
)
FIGURE_4_SETTING = replace(MNIST, sigma=2.0, epochs=400)  # of Figure 4
STEPS = FIGURE_4_SETTING.mechanism.steps
TEXTS = WORDS["entries"]


def epsilon_at_the_end(accountant: str) -> float:
    """Return an accountant's epsilon after the 400 epochs of Figure 4."""
    return ACCOUNTANTS[accountant].spent(FIGURE_4_SETTING.mechanism, DELTA).value


def drawn_at_the_end() -> float:
    """Return the end of the curve that Figure 4 calls moments accountant."""
    return float(closed_form(3, 0.01, 2.0, STEPS))


def _figure_4() -> tuple[Line, ...]:
    epochs = np.arange(5.0, 401.0, 5.0)
    steps = np.round(100 * epochs).astype(np.int64)
    drawn = closed_form(3, 0.01, 2.0, steps.astype(np.float64))
    lines = [Line("“Moments accountant”, as drawn", epochs, drawn)]
    for name in ("zcdp", "rdp", "mma", "moments", CERTIFIED):
        lines += epsilon_lines(name, FIGURE_4_SETTING.mechanism, epochs, steps, DELTA)
    return tuple(lines)


def _quoted(sigma: float, epochs: int, printed: str) -> Computed:
    """Return an epsilon of section 5.2, which is MMA's at sigma = 2."""
    setting = replace(MNIST, sigma=sigma, epochs=epochs)
    right = claimed(0.01, sigma, setting.mechanism.steps)
    texts = with_numbers(TEXTS["quoted"], sigma=sigma, epochs=epochs, right=short(right))
    if short(right) == printed:
        texts["because"] = ""
    return Computed(
        **texts,
        printed=printed,
        setting=setting,
        claim=PrintedClaim(setting.mechanism, DELTA),
        ours=partial(claimed, 0.01, sigma, setting.mechanism.steps),
    )


def _promised(batch: int, sigma: float, steps: int) -> Computed:
    """Return an epsilon that Theorem 3 promises without printing it."""
    setting = replace(MNIST, batch=batch, sigma=sigma, epochs=steps * batch / MNIST.n)
    by_one_step = steps == 1
    texts = TEXTS["promised_by_one" if by_one_step else "promised"]
    return Computed(
        **with_numbers(texts, q=setting.q, sigma=sigma, steps=steps),
        printed=short(claimed(setting.q, sigma, steps)),
        setting=None if by_one_step else setting,
        claim=PrintedClaim(setting.after(steps), DELTA),
        ours=partial(claimed, setting.q, sigma, steps),
    )


def _rdp_over_closed_form() -> float:
    return epsilon_at_the_end("rdp") / drawn_at_the_end()


def _rdp_over_moments() -> float:
    return epsilon_at_the_end("rdp") / epsilon_at_the_end("moments")


def _of_figure_4(
    name: str, ours: Callable[[], float], claim: PrintedClaim | None = None
) -> Computed:
    return Computed(**TEXTS[name], setting=FIGURE_4_SETTING, claim=claim, ours=ours)


PROMISE = PrintedClaim(FIGURE_4_SETTING.mechanism, DELTA)
ENTRIES = (
    # Remark 4.
    _of_figure_4("closed_form", drawn_at_the_end, PROMISE),
    _of_figure_4("moments", partial(epsilon_at_the_end, "moments"), PROMISE),
    _of_figure_4("mma", partial(epsilon_at_the_end, "mma"), PROMISE),
    *(_quoted(sigma, epochs, printed) for sigma, epochs, printed in QUOTED),
    _of_figure_4("rdp_over_closed_form", _rdp_over_closed_form),
    _of_figure_4("rdp_over_moments", _rdp_over_moments),
    _promised(6000, 1.0, 100),
    _promised(3000, 1.0, 100),
    _promised(600, 1.0, 100),
    _promised(600, 2.0, 1),
    Computed(**TEXTS["factor"], ours=lambda: 2 * math.log1p(0.1**2)),
)
FIGURE_4 = Drawing(**WORDS["figure_4"], lines=_figure_4)
