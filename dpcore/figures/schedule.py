"""Sigma against epoch: the noise schedule of a mechanism."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.style import layout
from dpcore.privacy.mechanism import Mechanism

COLOR = "#2b7bd3"


def schedule_figure(mechanism: Mechanism, *, height: int = 170) -> go.Figure:
    """The noise multiplier over the epochs, one step of the line for each release."""
    counts = np.array([release.count * release.q for release in mechanism.releases])
    starts = np.cumsum(counts) - counts
    sigmas = [release.sigma for release in mechanism.releases]
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": [*starts, float(counts.sum())],
        "y": [*sigmas, sigmas[-1]],
        "line": {"shape": "hv", "color": COLOR, "width": 2},
        "hovertemplate": "sigma %{y:.4g}<extra></extra>",
    }
    shape = layout("epoch", "sigma", height=height)
    shape["yaxis"]["rangemode"] = "tozero"
    return go.Figure({"data": [trace], "layout": shape})
