"""Epsilons that paper 000 prints, recomputed, and its Figure 4."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Line
from dpcore.papers.pigdo.theorem_3 import DELTA, WORDS, claimed, closed_form
from dpcore.papers.words import with_numbers
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
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
    return (
        Line(
            "“Moments accountant”, as drawn",
            epochs,
            closed_form(3, 0.01, 2.0, steps.astype(np.float64)),
        ),
        *(
            line
            for name in ("zcdp", "rdp", "mma", "moments", CERTIFIED)
            for line in epsilon_lines(name, FIGURE_4_SETTING.mechanism, epochs, steps, DELTA)
        ),
    )


def _quoted(sigma: float, epochs: int, printed: str) -> Computed:
    setting = replace(MNIST, sigma=sigma, epochs=epochs)
    claim, right = (
        PrintedClaim(setting.mechanism, DELTA),
        claimed(0.01, sigma, setting.mechanism.steps),
    )
    texts = with_numbers(TEXTS["quoted"], sigma=sigma, epochs=epochs, right=short(right))
    if short(right) == printed:
        texts["because"] = ""
    return Computed(**texts, printed=printed, setting=setting, claim=claim, ours=lambda: right)


def _promised(batch: int, sigma: float, steps: int) -> Computed:
    setting = replace(MNIST, batch=batch, sigma=sigma, epochs=steps * batch / MNIST.n)
    promise = claimed(setting.q, sigma, steps)
    texts = TEXTS["promised" if steps > 1 else "promised_by_one"]
    return Computed(
        **with_numbers(texts, q=setting.q, sigma=sigma, steps=steps),
        printed=short(promise),
        setting=setting if steps > 1 else None,
        claim=PrintedClaim(Mechanism.constant(setting.q, sigma, steps), DELTA),
        ours=lambda: promise,
    )


REMARK_4: dict[str, Callable[[], float]] = {
    "closed_form": drawn_at_the_end,
    "moments": lambda: epsilon_at_the_end("moments"),
    "mma": lambda: epsilon_at_the_end("mma"),
}
RATIOS: dict[str, Callable[[], float]] = {
    "rdp_over_closed_form": lambda: epsilon_at_the_end("rdp") / drawn_at_the_end(),
    "rdp_over_moments": lambda: epsilon_at_the_end("rdp") / epsilon_at_the_end("moments"),
}
PROMISE = PrintedClaim(FIGURE_4_SETTING.mechanism, DELTA)
ENTRIES = (
    *(
        Computed(**TEXTS[name], setting=FIGURE_4_SETTING, claim=PROMISE, ours=ours)
        for name, ours in REMARK_4.items()
    ),
    *(_quoted(*each) for each in QUOTED),
    *(
        Computed(**TEXTS[name], setting=FIGURE_4_SETTING, ours=ours)
        for name, ours in RATIOS.items()
    ),
    *(_promised(batch, 1.0, 100) for batch in (6000, 3000, 600)),
    _promised(600, 2.0, 1),
    Computed(**TEXTS["factor"], ours=lambda: 2 * math.log1p(0.1**2)),
)
FIGURE_4 = Drawing(**WORDS["figure_4"], lines=_figure_4)
