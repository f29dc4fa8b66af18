"""The table under the chart: what each accountant says at the last epoch, and what that is worth."""

import math
from collections.abc import Mapping
from html import escape

from dpcore.figures.labels import short
from dpcore.figures.style import BAND_ID, style_of
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.verdict import Status, Verdict, outward, verdict
from pages.parts import words

MARKS = {  # sign and colour, both: neither speaks alone
    Status.SOUND_AND_TIGHT: ("✓", "#2e9150"),
    Status.LOOSE: ("↕", "#2b7bd3"),
    Status.CLAIMS_LESS: ("✕", "#cf4a5a"),
    Status.OUTSIDE: ("!", "#c9741a"),
    Status.UNDECIDED: ("?", "#808080"),
    Status.NOT_AVAILABLE: ("–", "#808080"),
}
STYLE = """<style>
.verdicts {width: 100%; border-collapse: collapse; font-size: .95rem}
.verdicts th, .verdicts td {padding: .45rem .7rem; text-align: left; border-bottom: 1px solid rgba(128,128,128,.3)}
.verdicts .number {text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap}
.verdicts b.sign {display: inline-block; width: 1.2em}
@media (max-width: 640px) {
  .verdicts thead {display: none}
  .verdicts tr {display: block; padding: .5rem 0; border-bottom: 1px solid rgba(128,128,128,.3)}
  .verdicts td, .verdicts th {display: inline-block; border: 0; padding: .1rem .5rem .1rem 0}
  .verdicts td.verdict {display: block}
}
</style>"""
HEAD = (
    "<table class=verdicts><thead><tr><th scope=col>Accountant</th><th scope=col class=number>Epsilon</th>"
    "<th scope=col class=number>÷ certified</th><th scope=col>Kind</th><th scope=col>Verdict</th></tr></thead>"
)


def verdict_table(curves: Mapping[str, Curve]) -> str:
    """An HTML table with one row an accountant: epsilon, ratio to the certified value, kind, verdict."""
    certified = curves[BAND_ID]
    judged = {name: _judged(curve, certified) for name, curve in curves.items()}
    rows = "".join(_row(name, curves[name], each) for name, each in judged.items())
    return f"{STYLE}{HEAD}<tbody>{rows}</tbody></table>"


def headline(certified: Curve, epochs: float, steps: int, delta: str) -> str:
    """What is certain after the whole mechanism, in one sentence."""
    after = f"After {epochs:,.4g} epochs ({steps:,} steps) at delta = {delta}"
    upper, lower = float(certified.epsilon[-1]), certified.lower
    if lower is None or math.isinf(upper):
        least = f" It is at least {outward(lower[-1], math.floor)}." if lower is not None and lower[-1] > 0 else ""
        return f"{after}, there is no certified epsilon: {_lowered(certified.note)}{least}"
    low, high = outward(lower[-1], math.floor), outward(upper, math.ceil)
    return f"{after}, epsilon is certified to lie between **{low}** and **{high}**."


def _judged(curve: Curve, certified: Curve) -> Verdict:
    if certified.lower is None:  # the certified accountant itself gave up
        return Verdict(Status.UNDECIDED, "There is no certified value to compare with.", math.nan)
    return verdict(curve, certified)


def _row(name: str, curve: Curve, judged: Verdict) -> str:
    value = float(curve.epsilon[-1])
    finite = math.isfinite(value)
    epsilon = short(value) if finite else "n/a"
    ratio = f"{short(judged.ratio)} ×" if finite and math.isfinite(judged.ratio) else "–"
    text = judged.text if finite else f"n/a, because {_lowered(curve.note or judged.text)}"
    sign, color = MARKS[judged.status]
    glyph = f'<span aria-hidden=true style="color:{style_of(name).color}">{style_of(name).glyph}</span>'
    return (
        f"<tr><th scope=row>{glyph} {escape(ACCOUNTANTS[name].title)}</th><td class=number>{epsilon}</td>"
        f"<td class=number>{ratio}</td><td>{words.KINDS[curve.kind]}</td>"
        f'<td class=verdict><b class=sign style="color:{color}">{sign}</b> {escape(text)}</td></tr>'
    )


def _lowered(sentence: str) -> str:
    """The sentence as it reads after a comma, unless it begins with a name or a symbol.

    >>> _lowered("Needs more steps."), _lowered("RDP is infinite.")
    ('needs more steps.', 'RDP is infinite.')
    """
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence
