"""The table under the chart: what each accountant says at the last epoch, and what that is worth."""

import math
from collections.abc import Mapping

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.report.numbers import marked, outward, short
from dpcore.privacy.report.verdict import Verdict, Worth, lowered, unavailable, verdict
from dpcore.privacy.sampling.poisson import Poisson
from pages.parts.results.table import VerdictRow, verdict_rows

HEADS = ("Epsilon", "÷\N{NO-BREAK SPACE}certified")


def verdict_table(curves: Mapping[str, Curve]) -> str:
    """An HTML table with one row an accountant: epsilon, ratio to the certified value, kind, verdict."""
    band = curves[CERTIFIED]
    return verdict_rows("Verdicts", "Accountant", HEADS, [_row(*each, band) for each in curves.items()])


def why_they_differ() -> str:
    """What each accountant makes of the noise."""
    return " ".join(
        ["**Why they differ.** All of them describe the same noise.", *(each.note for each in ACCOUNTANTS.values())]
    )


def epsilon_sentence(band: Curve, after: str, delta: str, *, apart: bool = False) -> str:
    """What is certain after the whole mechanism, in one sentence that begins with its length, `after_training`.

    It says for which adjacency. With `apart` it says first that it is about Poisson batches.
    """
    after = f"{f'**{Poisson.title}**, {Poisson.adjacency}: {lowered(after)}' if apart else after} at delta = {delta}"
    upper, lower = float(band.epsilon[-1]), band.lower
    if lower is None or math.isinf(upper):
        least = f" It is at least {outward(lower[-1], math.floor)}." if lower is not None and lower[-1] > 0 else ""
        return f"{after}, there is no certified epsilon: {lowered(band.note)}{least}"
    low, high = outward(lower[-1], math.floor), outward(upper, math.ceil)
    adjacency = "" if apart else f" ({Poisson.adjacency})"
    return f"{after}, epsilon is certified to lie between **{low}** and **{high}**{adjacency}."


def _judged(curve: Curve, band: Curve) -> Verdict:
    if band.lower is None:  # the certified accountant itself gave up
        return Verdict(Worth.UNDECIDED, "There is no certified value to compare with.", math.nan)
    return verdict(curve, band)


def _row(name: str, curve: Curve, band: Curve) -> VerdictRow:
    judged, value = _judged(curve, band), float(curve.epsilon[-1])
    finite = math.isfinite(value)
    compared = finite and math.isfinite(judged.ratio) and math.isfinite(float(band.epsilon[-1]))
    cells = (marked(value, curve.kind), f"{short(judged.ratio)} ×" if compared else "–")
    text = judged.text if finite else unavailable(curve.note or judged.text)
    return VerdictRow(name, cells, curve.kind, judged.worth, text)
