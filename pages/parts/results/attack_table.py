"""What an attacker can do, in numbers: a table of all curves shown, and what the CLT is worth here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from dpcore.figures import Line, gaussian_line
from dpcore.figures.style import style_of
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import RATES, Risks, advantage, bayes_risk, mu_above
from dpcore.privacy.report.kinds import MARKS as KIND_MARKS
from dpcore.privacy.report.kinds import rounded
from dpcore.privacy.report.numbers import outward, plain
from dpcore.privacy.report.verdict import Status
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff
from pages.parts.controls.number import show
from pages.parts.results import cache
from pages.parts.results.table import MARKS, scrolling

STYLE = """<style>
.attack {width: 100%; border-collapse: collapse; font-size: .95rem}
.attack th, .attack td {padding: .4rem .7rem; text-align: left; border-bottom: 1px solid rgba(128,128,128,.3)}
.attack td, .attack thead th + th {text-align: right; font-variant-numeric: tabular-nums}
.attack td {white-space: nowrap}
.attack .own {font-weight: 600}
@media (max-width: 640px) {
  .attack thead {display: none}
  .attack tr {display: block; padding: .5rem 0; border-bottom: 1px solid rgba(128,128,128,.3)}
  .attack td, .attack th {display: block; border: 0; padding: .1rem 0}
  .attack td::before {content: attr(data-label); float: left; font-weight: 400; opacity: .8}
}
</style>"""


class Named(NamedTuple):
    """A curve with its name and the kind of claim that it is."""

    name: str
    kind: Kind
    f: Tradeoff


@dataclass(frozen=True)
class Shown:
    """What stands beside the certified band: mu of the CLT, one pair of one accountant, all pairs of another."""

    mu: float
    one: str
    spent: Curve
    every: str
    allowed: Pairs
    every_kind: Kind

    @property
    def pair(self) -> Pairs:
        """The boundary of the one pair's region."""
        return Pairs(self.spent.epsilon[-1:], self.spent.delta[-1:])

    def lines(self) -> list[Line]:
        """For the chart. All pairs of the certified accountant are the band's lower edge already."""
        style, of_all = style_of(self.one), style_of(self.every)
        lines = [Line(style._replace(label=f"{self._pair_name()} by {style.label}"), self.pair, region=True)]
        if self.every != CERTIFIED:
            lines.append(Line(of_all._replace(label=f"All pairs by {of_all.label}"), self.allowed))
        return [*lines, gaussian_line(self.mu)]

    def curves(self) -> list[Named]:
        """For the tables."""
        return [
            _clt(self.mu),
            Named(f"{self._pair_name()} by {style_of(self.one).label}", self.spent.kind, self.pair),
            Named(f"All pairs by {style_of(self.every).label}", self.every_kind, self.allowed),
        ]

    def _pair_name(self) -> str:
        epsilon, delta = float(self.spent.epsilon[-1]), plain(float(self.spent.delta[-1]))
        return (
            f"({rounded(epsilon, self.spent.kind)}, {delta})" if math.isfinite(epsilon) else f"No pair at delta {delta}"
        )


def named(band: Band, shown: Shown) -> list[Named]:
    """All curves of the chart, the band's two first."""
    return [*_edges(band, "Certified"), *shown.curves()]


def narrow(band: Band, mu: float) -> list[Named]:
    """The certified curves and the CLT's."""
    return [*_edges(band, "Certified"), _clt(mu)]


def grown(mechanism: Mechanism) -> list[Named]:
    """The certified curves of growing lengths, and their limit."""
    bands = {steps: cache.band(each) for steps, each in cache.growing(mechanism).items()}
    edges = [each for steps, band in bands.items() for each in _edges(band, f"Certified, T = {steps:,}")]
    return [*edges, _clt(cache.mu(mechanism))]


def _clt(mu: float) -> Named:
    return Named("CLT's G_mu", Kind.APPROXIMATE, Gaussian(mu))


def _edges(band: Band, name: str) -> list[Named]:
    if band.note:  # nothing is certified
        return []
    bounds = (("at least", band.lower), ("at most", band.upper))
    return [Named(f"{name}, {word}", Kind.CERTIFIED, f) for word, f in bounds]


class Row(NamedTuple):
    """One number: how it follows from a curve, whether more of it is worse, in which unit it is shown."""

    label: str
    value: Callable[[Tradeoff], float]
    worse: bool  # a larger value is worse for privacy: a sound curve gives the most, else the least
    blind: float
    percent: bool = True


def headline(found: Risks, after: str) -> str:
    """The least that an attacker must err, in one sentence that begins with `words.after`."""
    if found.note:
        return f"{after}, nothing is certified about an attacker: {found.note}"
    low, high = outward(100 * found.error.lower, math.floor), outward(100 * found.error.upper, math.ceil)
    return (
        f"{after}, whoever guesses who took part makes type I and type II errors that add up to at least **{low} %**; "
        f"no more than **{high} %** for the best attack. Blind guessing: 100 %."
    )


def table(band: Band, found: Risks, shown: Shown, prior: float) -> str:
    """An HTML table with a row for each number, the certified band first; bounds are rounded outwards."""
    curves = shown.curves()
    heads = ["Certified", *(each.name for each in curves), "Blind guessing"]
    head = "".join(f"<th scope=col>{escape(each)}</th>" for each in ["Number", *heads])
    body = "".join(_row(row, band, curves, heads) for row in _rows(prior, found.least))
    return STYLE + scrolling(f"<table class=attack><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def clt(mu: float, found: Risks) -> str:
    """What the mu of the central limit theorem is worth beside the proven bounds, as HTML with a sign."""
    status, text = _judged(mu, found)
    sign, color = MARKS[status]
    return f'<p style="margin: 0"><b style="color:{color}">{sign}</b> {escape(text)}</p>'


def _judged(mu: float, found: Risks) -> tuple[Status, str]:
    where = f"for attacks with both errors of at least {plain(found.least)}"
    if found.note or math.isinf(found.mu.upper):
        return Status.UNDECIDED, "The CLT's mu cannot be judged here: no finite mu is certified."
    low, high = outward(found.mu.lower, math.floor), outward(found.mu.upper, math.ceil)
    if math.isinf(mu):
        return Status.NOT_AVAILABLE, "The CLT has no mu here: e^(1/sigma^2) is past any number."
    if mu < found.mu.lower:
        return Status.CLAIMS_LESS, (
            f"The CLT claims more privacy than there is: its mu is {mu:.4g}, but it is proven that it takes at least "
            f"{low}, {where}. A mu of {high} is enough."
        )
    if mu > found.mu.upper:
        return Status.LOOSE, (
            f"The CLT errs on the safe side here: its mu is {mu:.4g}, and {high} is proven to be enough, {where}."
        )
    return Status.UNDECIDED, f"The CLT's mu of {mu:.4g} lies between the proven {low} and {high}, {where}."


def _rows(prior: float, least: float) -> list[Row]:
    found = [
        Row(f"True positives at {100 * rate:g} % false positives", lambda f, r=rate: float(f.power(r)), True, rate)
        for rate in RATES
    ]
    wrong, rare = f"Chance of a wrong guess at prior {show(prior)}", min(prior, 1 - prior)
    return [
        Row("Smallest type I + type II error", lambda f: 1 - advantage(f), False, 1.0),
        Row("Largest advantage", advantage, True, 0.0),
        *found,
        Row(wrong, lambda f: bayes_risk(f, prior), False, rare),
        Row(f"mu, where both errors are at least {plain(least)}", lambda f: mu_above(f, least), True, 0.0, False),
    ]


def _row(row: Row, band: Band, curves: Sequence[Named], heads: Sequence[str]) -> str:
    cells = [
        _certified(row, band),
        *(_single(row, each) for each in curves),
        _written(row, f"{_scaled(row, row.blind):.4g}"),
    ]
    shown = "".join(
        f'<td data-label="{escape(head)}"{" class=own" if head == heads[0] else ""}>{cell}</td>'
        for head, cell in zip(heads, cells, strict=True)
    )
    return f"<tr><th scope=row>{escape(row.label)}</th>{shown}</tr>"


def _certified(row: Row, band: Band) -> str:
    if band.note:
        return "n/a"
    low, high = sorted(_scaled(row, row.value(f)) for f in (band.lower, band.upper))
    if math.isinf(high):
        return "no bound"
    return _written(row, f"{outward(low, math.floor)} to {outward(high, math.ceil)}")


def _single(row: Row, each: Named) -> str:
    value = _scaled(row, row.value(each.f))
    if math.isinf(value):
        return "no bound"
    if not each.kind.is_bound:
        return _written(row, f"{KIND_MARKS[each.kind]} {value:.4g}")
    return _written(row, f"≤ {outward(value, math.ceil)}" if row.worse else f"≥ {outward(value, math.floor)}")


def _scaled(row: Row, value: float) -> float:
    return 100 * value if row.percent else value


def _written(row: Row, text: str) -> str:
    return f"{text} %" if row.percent else text
