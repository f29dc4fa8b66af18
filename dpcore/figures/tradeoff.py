"""What an attacker can do: the errors they must make when guessing whether one example took part."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.labels import short
from dpcore.figures.style import Style, layout, line, style_of
from dpcore.privacy.tradeoff import Gaussian, Pairs

ALPHA = np.concatenate([[0.0], np.logspace(-6, -2, 40), np.linspace(0.01, 1, 100)[1:]])
BLIND = "rgba(128,128,128,0.9)"
ALLOWED = "rgba(43,123,211,0.12)"


def tradeoff_figure(mu: float, epsilon: float, delta: float, *, height: int = 300) -> go.Figure:
    """Type II error against type I error: G_mu of the CLT, the region that (epsilon, delta) allows, blind guessing.

    An attacker against the certified pair can stay on or above its boundary only; mu or epsilon may be +inf.
    """
    hover = "%{y:.4f}"
    pair: dict[str, Any] = line(ALPHA, Pairs([epsilon], [delta]).beta(ALPHA), style_of("pld"), hovertemplate=hover)
    pair |= {"name": "Boundary of (epsilon, delta)"}
    gaussian = line(ALPHA, Gaussian(mu).beta(ALPHA), style_of("gdp"), hovertemplate=hover, name="G_mu (CLT)")
    blind = line([0, 1], [1, 0], style_of("pld"), hovertemplate=hover, name="Blind guessing")
    blind |= {"line": {"color": BLIND, "dash": "dot", "width": 1.2}, "fill": "tonexty", "fillcolor": ALLOWED}
    shape = layout("type I error", "type II error", height=height)
    shape["xaxis"]["range"] = shape["yaxis"]["range"] = [0, 1.02]
    shape["annotations"] = [
        _note(0.98, style_of("gdp"), f"G_mu, mu = {short(mu)}"),
        _note(0.88, style_of("pld"), "(epsilon, delta)"),
    ]
    return go.Figure({"data": [pair, blind, gaussian], "layout": shape})


def _note(y: float, style: Style, text: str) -> dict[str, Any]:
    """A line of the legend, in the empty corner above blind guessing."""
    mark = f'<span style="color:{style.color}">{style.glyph}</span>'
    return {"x": 1, "y": y, "text": f"{mark} {text}", "showarrow": False, "xanchor": "right", "font": {"size": 12}}
