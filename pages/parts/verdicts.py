"""The table under the chart: what each accountant says at the last epoch, and what that is worth."""

import math
from collections.abc import Callable, Mapping

from dpcore.figures.labels import short
from dpcore.figures.style import BAND_ID
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.verdict import Status, Verdict, verdict
from pages.parts import words

MARKS = {
    Status.SOUND_AND_TIGHT: ":green[:material/check_circle:]",
    Status.LOOSE: ":blue[:material/expand:]",
    Status.CLAIMS_LESS: ":red[:material/dangerous:]",
    Status.OUTSIDE: ":orange[:material/warning:]",
    Status.UNDECIDED: ":gray[:material/help:]",
    Status.NOT_AVAILABLE: ":gray[:material/block:]",
}


def verdict_table(curves: Mapping[str, Curve]) -> str:
    """A Markdown table with one row an accountant: epsilon, ratio to the certified value, kind, verdict."""
    certified = curves[BAND_ID]
    rows = [
        _row(name, curve, verdict(curve, certified)) for name, curve in curves.items() if certified.lower is not None
    ]
    head = "| accountant | epsilon | ÷ certified | kind | verdict |\n|:--|--:|--:|:--|:--|\n"
    return head + "\n".join(rows)


def headline(certified: Curve, epochs: float, steps: int, delta: str) -> str:
    """What is certain after the whole mechanism, in one sentence."""
    after = f"After {epochs:,.4g} epochs ({steps:,} steps) at delta = {delta}"
    upper, lower = float(certified.epsilon[-1]), certified.lower
    if math.isinf(upper) or lower is None:
        return f"{after}, no accountant can certify epsilon: {certified.note or 'it is beyond what can be computed.'}"
    return f"{after}, epsilon is certified to lie between **{outward(lower[-1], math.floor)}** and **{outward(upper, math.ceil)}**."


def outward(value: float, towards: Callable[[float], int]) -> str:
    """A bound in four significant digits, rounded away from the band so that the text is as true as the number.

    >>> outward(1.94651, math.floor), outward(1.94961, math.ceil), outward(0.0, math.floor)
    ('1.946', '1.950', '0')
    """
    if value == 0:
        return "0"
    unit = 3 - math.floor(math.log10(abs(value)))
    return f"{towards(value * 10.0**unit) / 10.0**unit:.{max(unit, 0)}f}"


def _row(name: str, curve: Curve, judged: Verdict) -> str:
    value = float(curve.epsilon[-1])
    epsilon = short(value) if math.isfinite(value) else "n/a"
    ratio = short(judged.ratio) if math.isfinite(value) and math.isfinite(judged.ratio) else "–"
    text = judged.text if math.isfinite(value) else f"n/a, because {_lowered(curve.note or judged.text)}"
    cells = (ACCOUNTANTS[name].title, epsilon, ratio, words.KINDS[curve.kind], f"{MARKS[judged.status]} {text}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _lowered(sentence: str) -> str:
    """The sentence as it reads after a comma, unless it begins with a name or a symbol.

    >>> _lowered("Needs more steps."), _lowered("RDP is infinite.")
    ('needs more steps.', 'RDP is infinite.')
    """
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence
