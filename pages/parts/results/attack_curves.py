"""The trade-off curves that are shown beside each other: names, kinds, and lines on a chart."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from dpcore.figures import Line, gaussian_line
from dpcore.figures.style import style_of
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import plain, raised, rounded
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff
from pages.parts.results import cache


class Named(NamedTuple):
    """A curve with its name and the kind of claim that it is."""

    name: str
    kind: Kind
    f: Tradeoff


@dataclass(frozen=True)
class Compared:
    """What stands beside the certified band: mu of the CLT, one pair of one accountant, all pairs of another."""

    mu: float
    one: str
    spent: Curve
    every: str
    allowed: Tradeoff
    every_kind: Kind

    @property
    def pair(self) -> Pairs:
        """The boundary of the one pair's region."""
        return Pairs(self.spent.epsilon[-1:], self.spent.delta[-1:])

    def lines(self) -> list[Line]:
        """For the chart. All pairs of the certified accountant are the band's lower edge already."""
        style, of_all = style_of(self.one), style_of(self.every)
        named = style._replace(label=f"{self._pair_name()} by {style.label}")
        lines = [Line(named, self.pair, self.spent.kind, region=True)]
        if self.every != CERTIFIED:
            lines.append(Line(of_all._replace(label=f"All pairs by {of_all.label}"), self.allowed, self.every_kind))
        return [*lines, gaussian_line(self.mu)]

    def curves(self) -> list[Named]:
        """For the tables."""
        return [
            _clt(self.mu),
            Named(f"{self._pair_name()} by {style_of(self.one).label}", self.spent.kind, self.pair),
            Named(f"All pairs by {style_of(self.every).label}", self.every_kind, self.allowed),
        ]

    def _pair_name(self) -> str:
        epsilon, delta = float(self.spent.epsilon[-1]), plain(raised(float(self.spent.delta[-1])))
        return (
            f"({rounded(epsilon, self.spent.kind)}, {delta})" if math.isfinite(epsilon) else f"No pair at delta {delta}"
        )


def all_curves(band: Band, compared: Compared) -> list[Named]:
    """All curves of the chart, the band's two first."""
    return [*_edges(band, "Certified"), *compared.curves()]


def band_and_clt(band: Band, mu: float) -> list[Named]:
    """The certified curves and the CLT's."""
    return [*_edges(band, "Certified"), _clt(mu)]


def growing_curves(mechanism: Mechanism) -> list[Named]:
    """The certified curves of growing lengths, and their limit."""
    bands = {steps: cache.band(each) for steps, each in cache.growing(mechanism).items()}
    edges = [each for steps, band in bands.items() for each in _edges(band, f"Certified, T = {steps:,}")]
    return [*edges, _clt(cache.mu(mechanism))]


def _clt(mu: float) -> Named:
    return Named("CLT's G_mu", Kind.APPROXIMATE, Gaussian(mu))


def _edges(band: Band, name: str) -> list[Named]:
    if band.empty:
        return []
    bounds = (("at least", band.lower), ("at most", band.upper))
    return [Named(f"{name}, {word}", Kind.CERTIFIED, f) for word, f in bounds]
