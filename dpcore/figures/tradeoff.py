"""What an attacker can do: the errors they must make when guessing whether one example took part."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.style import BAND, Style, layout, line, style_of, told
from dpcore.figures.training import run_style
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.report.numbers import outward, placed, short
from dpcore.privacy.tradeoff import Gaussian, Tradeoff

LEAST = 1e-6  # false-positive rate at the left end of the logarithmic chart
ALPHA = np.concatenate([[0.0], np.logspace(-6, -2, 40), np.linspace(0.01, 1, 100)[1:]])
RATES = np.logspace(-6, 0, 121)
BLIND = Style("rgba(128,128,128,0.9)", "dot", "···", "Blind guessing")
ALLOWED = "rgba(43,123,211,0.12)"
ALLOWED_MARK = "rgba(43,123,211,0.55)"
PLACES = (0, 1, 3, 4, 5)  # styles of growing lengths, without the green that is the CLT's
DECIMALS = 4  # of an error in the hover
HOVER = {False: f"%{{y:.{DECIMALS}f}}", True: "%{y:.3g}"}


class Line(NamedTuple):
    """One trade-off function on a chart; `region` fills what it leaves to an attacker."""

    style: Style  # its label is the line's name
    f: Tradeoff
    region: bool = False


def gaussian_line(mu: float) -> Line:
    """G_mu of the central limit theorem, for mu in [0, inf]."""
    return Line(style_of("gdp")._replace(label=f"G_mu (CLT), mu = {short(mu)}"), Gaussian(mu))


def tradeoff_figure(band: Band | None, lines: Sequence[Line], *, log: bool = False, height: int = 300) -> go.Figure:
    """The certified band (None while it is computed; left out if it is empty), other curves and blind guessing.

    Type II error against type I error; with `log` the attacker's view, true-positive against false-positive rate, both
    logarithmic. The exact curve lies in the band; an attacker can stay between it and blind guessing only.
    """
    traces = [trace for each in lines if each.region for trace in _region(each, log)]
    styles = [each.style._replace(color=ALLOWED_MARK, glyph="■") if each.region else each.style for each in lines]
    if band is not None and not band.empty:
        style = style_of(CERTIFIED)._replace(label="Certified")
        traces += _band(band, style, log)
        styles.insert(0, style)
    traces += [_curve(each.f, each.style, log) for each in lines if not each.region]
    return _figure([_blind(log), *traces], [*styles, BLIND], log, height)


def growth_figure(bands: Mapping[int, Band], mu: float, *, log: bool = False, height: int = 430) -> go.Figure:
    """Certified bands of ever more steps T, with q sqrt(T) and so the mu of the central limit theorem held fixed.

    An empty band is left out.
    Source: Bu et al. 2020, arXiv 1911.11607, section 3.1, and the figure that ends its appendix.
    """
    limit = gaussian_line(mu)
    traces, styles = [], []
    drawn = {steps: band for steps, band in bands.items() if not band.empty}
    for place, (steps, band) in enumerate(drawn.items()):
        style = run_style(PLACES[place % len(PLACES)], f"Certified, T = {steps:,}")
        traces += _band(band, style, log)
        styles.append(style)
    traces.append(_curve(limit.f, limit.style, log) | {"line": {"color": limit.style.color, "width": 3.5}})
    solid = limit.style._replace(glyph="━━")
    return _figure([_blind(log), *traces], [*styles, solid, BLIND], log, height)


def _curve(f: Tradeoff, style: Style, log: bool, **more: Any) -> dict[str, Any]:
    x, y = (RATES, f.power(RATES)) if log else (ALPHA, f.beta(ALPHA))
    return line(x, y, style, hovertemplate=HOVER[log], **more)


def _band(band: Band, style: Style, log: bool) -> list[dict[str, Any]]:
    low, high = (band.upper, band.lower) if log else (band.lower, band.upper)
    least, most = (_edge(f, style._replace(label=f"{style.label}, at {word}"), towards, log)
                   for f, word, towards in ((low, "least", math.floor), (high, "most", math.ceil)))  # fmt: skip
    return [least, most | {"fill": "tonexty", "fillcolor": BAND}]


def _edge(f: Tradeoff, style: Style, towards: Callable[[Any], int], log: bool) -> dict[str, Any]:
    curve = _curve(f, style, log)
    return curve | told(curve["y"], lambda y: outward(y, towards, 3) if log else placed(y, towards, DECIMALS))


def _region(each: Line, log: bool) -> list[dict[str, Any]]:
    """Blind guessing once more, as the edge that the filling ends at."""
    edge = _blind(log) | {"hoverinfo": "skip", "hovertemplate": None, "line": {"width": 0}}
    pen = {"color": each.style.color, "dash": each.style.dash, "width": 1.3}
    return [edge, _curve(each.f, each.style, log, fill="tonexty", fillcolor=ALLOWED) | {"line": pen}]


def _blind(log: bool) -> dict[str, Any]:
    x, y = (RATES, RATES) if log else (ALPHA, 1 - ALPHA)
    pen = {"color": BLIND.color, "dash": BLIND.dash, "width": 1.2}
    return line(x, y, BLIND, hovertemplate=HOVER[log]) | {"line": pen}


def _figure(traces: list[dict[str, Any]], styles: Sequence[Style], log: bool, height: int) -> go.Figure:
    names = ("false-positive rate", "true-positive rate") if log else ("type I error", "type II error")
    shape = layout(*names, height=height)
    for axis in (shape["xaxis"], shape["yaxis"]):
        axis |= {"type": "log", "range": [np.log10(LEAST), 0.05]} if log else {"range": [0, 1.02]}
        if log:
            axis |= {"exponentformat": "power", "dtick": 1}
    shape["annotations"] = [_note(place, each, len(styles), log, height) for place, each in enumerate(styles)]
    return go.Figure({"data": traces, "layout": shape})


def _note(place: int, style: Style, count: int, log: bool, height: int) -> dict[str, Any]:
    """A line of the legend, in the empty corner beyond blind guessing: above it, or below it where rates are shown."""
    step = 19 / (height - 64)  # of the plot's height
    buttons = 1.2 if height > 400 else 0.3  # a large chart has buttons over its upper edge
    y = (count - place - 0.6) * step if log else 1 - (place + buttons) * step
    return {
        "x": 1,
        "xref": "paper",
        "y": y,
        "yref": "paper",
        "yanchor": "middle",
        "text": f'<span style="color:{style.color}">{style.glyph}</span> {style.label}',
        "showarrow": False,
        "xanchor": "right",
        "font": {"size": 12},
    }
