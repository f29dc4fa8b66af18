"""Charts of trade-off functions: the errors of an attacker who guesses if an example took part."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.layout import (
    FONT,
    Note,
    Trace,
    axis,
    figure_of,
    hover_text,
    key,
    line,
    power_ticks,
)
from dpcore.figures.sampled import SampledBand, between, faint
from dpcore.figures.style import ATTACK_LOOK, BAND, GREY, RUNS, Style, faded, look_at, style_of
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import FloatArray, Kind, Mechanism
from dpcore.privacy.report.numbers import outward, placed, short
from dpcore.privacy.tradeoff import Gaussian, Tradeoff

MIN_FALSE_POSITIVES = 1e-6  # false-positive rate at the left end of the logarithmic chart
ROOMY = 240  # pixels of height: a lower chart has fewer numbers at its axes
LOWEST = math.log10(MIN_FALSE_POSITIVES)
ALPHA = np.concatenate([[0.0], np.logspace(-6, -2, 40), np.linspace(0.01, 1, 100)[1:]])
RATES = np.logspace(-6, 0, 121)
BLIND = Style(GREY, "dot", "···", "Blind guessing")
# Words for the reader of a chart, in place and in the key alike.
COIN = "a coin"
BEST = "the best attack"
NO_PROMISE = "No promise at all:<br>nothing proven limits the attacker"
FEW = 8  # corners: the chart shows each corner of a curve that has no more
FILLED: Trace = {"fillcolor": BAND}
DECIMALS = 4  # of an error, in the hover
Towards = Callable[[Any], int]  # math.floor or math.ceil
SAFE: dict[bool, Towards] = {False: math.floor, True: math.ceil}  # of errors, and of powers
HOVER = {False: f"%{{y:.{DECIMALS}f}}", True: "%{y:.3g}"}


class Line(NamedTuple):
    """One trade-off function on a chart; a `region` is filled up to blind guessing."""

    style: Style  # its label is the line's name
    f: Tradeoff
    kind: Kind  # a bound lies below the errors of every attacker
    region: bool = False


def gaussian_line(mu: float) -> Line:
    """G_mu of the central limit theorem, for mu in [0, inf]."""
    return Line(
        style_of("gdp")._replace(label=f"G_mu (CLT), mu = {short(mu)}"),
        Gaussian(mu),
        Kind.APPROXIMATE,
    )


def tradeoff_figure(
    band: Band | None,
    lines: Sequence[Line],
    *,
    otherwise: SampledBand | None = None,
    log: bool = False,
    height: int = 300,
) -> go.Figure:
    """The certified band, if there is one, other curves and blind guessing.

    The chart shows type II error against type I error, or with `log` the true-positive against the
    false-positive rate. `otherwise` is the band of batches that are not Poisson; all else becomes
    faint. The band alone has its words beside it instead of a key. An empty band is said in words.
    """
    regions: list[Trace] = []
    curves: list[Trace] = []
    styles = []
    for each in lines:
        if each.region:
            each = each._replace(style=Style(*ATTACK_LOOK, each.style.label))
            regions += _region(each, log)
        else:
            curves.append(_line(each, log))
        styles.append(each.style)
    certified: list[Trace] = []
    if band is not None and not band.empty:
        style = style_of(CERTIFIED)._replace(label="Certified")
        certified = _band(band, style, log)
        styles.insert(0, style._replace(label=BEST))
    traces = [*regions, *certified, *curves]
    if otherwise:
        in_front = _band(otherwise.band, otherwise.style, log, between(otherwise.sampler))
        traces = [*map(faint, traces), *in_front]
        poisson = [each._replace(label=f"{each.label}, Poisson") for each in styles]
        styles = [otherwise.style, *poisson]
    alone = band is not None and not lines and not otherwise and not log
    if band is not None and alone:
        notes = _in_place(band)
    else:
        notes = _key_of(styles, log)
    if band is not None and band.empty and not otherwise:
        notes.append(_no_promise(log))
    return _figure([_blind(log), *traces], log, height, notes)


def attack_figure(mechanism: Mechanism) -> go.Figure:
    """The errors of attackers on a whole mechanism: the certified band, and G_mu of the CLT.

    >>> figure = attack_figure(Mechanism.constant(q=0.01, sigma=4.0, steps=100))
    >>> figure.layout.xaxis.title.text
    'innocent people accused →'
    """
    return tradeoff_figure(tradeoff_bounds(mechanism), [gaussian_line(mu_of(mechanism))])


def _in_place(band: Band) -> list[Note]:
    """The words at blind guessing and at the band, on linear axes."""
    look = {"xref": "x", "yref": "y", "showarrow": False, "font": FONT}
    notes = [look | {"text": COIN, "x": 0.62, "y": 0.4, "xanchor": "left", "yanchor": "bottom"}]
    if not band.empty:
        at = {"x": 0.38, "y": float(band.lower.beta(0.4)), "xanchor": "right", "yanchor": "top"}
        notes.append(look | at | {"text": BEST})
    return notes


def _no_promise(log: bool) -> Note:
    """The words of a plot without a band: below blind guessing, or above it where that is worse."""
    look = {"xref": "paper", "yref": "paper", "showarrow": False, "font": FONT}
    at = {"x": 0.03, "xanchor": "left", "y": 0.06, "yanchor": "bottom", "align": "left"}
    if log:
        at |= {"y": 0.94, "yanchor": "top"}
    return look | at | {"text": NO_PROMISE}


def growth_figure(
    bands: Mapping[int, Band],
    mu: float,
    beside: Sequence[Line] = (),
    *,
    log: bool = False,
    height: int = 430,
) -> go.Figure:
    """Certified bands for growing T with a fixed q sqrt(T).

    So mu of the central limit theorem is fixed too.

    Source: Bu et al. 2020, arXiv 1911.11607, section 3.1, and the figure that ends its appendix.
    """
    traces = [_blind(log)]
    styles = []
    for steps, band in bands.items():
        if not band.empty:
            style = Style(*look_at(RUNS, len(styles)), f"Certified, T = {steps:,}")
            traces += _band(band, style, log)
            styles.append(style)
    limit = gaussian_line(mu)
    solid = limit.style._replace(dash="solid", glyph="━━")
    traces.append(_curve(limit.f, solid, log, width=3.5))
    styles.append(solid)
    for each in beside:
        traces.append(_line(each, log))
        styles.append(each.style)
    return _figure(traces, log, height, _key_of(styles, log))


def _rates(f: Tradeoff, log: bool) -> FloatArray:
    """The points of a curve: even ones, and its corners if it has few."""
    rates = RATES if log else ALPHA
    if f.closed_mu is not None:  # a Gaussian one is smooth
        return rates
    alpha, power = f.corners(MIN_FALSE_POSITIVES)
    if not 0 < alpha.size <= FEW:
        return rates
    corners = np.concatenate([alpha, 1 - power])  # and mirrored: f is symmetric
    return np.union1d(rates, corners[corners >= rates[0]])


def _curve(
    f: Tradeoff, style: Style, log: bool, towards: Towards | None = None, **more: Any
) -> Trace:
    """A curve; the hover of a bound is rounded `towards` the safe side, others to the nearest."""
    x = _rates(f, log)
    y = f.power(x) if log else f.beta(x)
    hover = {"hovertemplate": HOVER[log]}
    if towards and log:
        hover = hover_text(y, lambda height: outward(height, towards))
    elif towards:
        hover = hover_text(y, lambda height: placed(height, towards, DECIMALS))
    return line(x, y, style, **more) | hover


def _line(each: Line, log: bool, **more: Any) -> Trace:
    towards = SAFE[log] if each.kind.is_bound else None
    return _curve(each.f, each.style, log, towards, **more)


def _band(band: Band, style: Style, log: bool, filling: Trace = FILLED) -> list[Trace]:
    low = band.lower
    high = band.upper
    if log:  # the power is 1 less the error
        low, high = high, low
    below = style._replace(label=f"{style.label}, at least")
    above = style._replace(label=f"{style.label}, at most")
    most = _curve(high, above, log, math.ceil, fill="tonexty")
    return [_curve(low, below, log, math.floor), most | filling]


def _region(each: Line, log: bool) -> list[Trace]:
    """A curve, filled up to blind guessing, which is drawn once more for that."""
    edge = _blind(log) | {"hoverinfo": "skip", "hovertemplate": None, "line": {"width": 0}}
    color = faded(each.style.color, 0.1)
    return [edge, _line(each, log, width=1.3, fill="tonexty", fillcolor=color)]


def _blind(log: bool) -> Trace:
    x = RATES if log else ALPHA
    y = RATES if log else 1 - ALPHA
    return line(x, y, BLIND, width=1.2, hovertemplate=HOVER[log])


def _key_of(styles: Sequence[Style], log: bool) -> list[Note]:
    """The names of curves in the corner beyond blind guessing."""
    return key([*styles, BLIND._replace(label=COIN)], top=not log)


def _figure(traces: list[Trace], log: bool, height: int, notes: list[Note]) -> go.Figure:
    if not log:
        x = axis("innocent people accused →", range=[0, 1.02])
        y = axis("members missed →", range=[0, 1.02])
        return figure_of(traces, x, y, notes=notes, height=height)
    ticks = power_ticks(LOWEST, 0, 7 if height >= ROOMY else 4) | {"range": [LOWEST, 0.05]}
    x = axis("false-positive rate", **ticks)
    y = axis("true-positive rate", **ticks)
    return figure_of(traces, x, y, notes=notes, height=height)
