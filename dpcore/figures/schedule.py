"""Sigma against epoch: the noise schedule of a mechanism."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.style import NORMAL, RUNS, Size, drawn, layout
from dpcore.privacy.mechanism import Mechanism


def schedule_figure(mechanism: Mechanism, *, height: int = 170, size: Size = NORMAL) -> go.Figure:
    """The noise multiplier over the epochs, one step of the line for each release."""
    counts = np.array([release.count * release.q for release in mechanism.releases])
    starts = np.cumsum(counts) - counts
    sigmas = [release.sigma for release in mechanism.releases]
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": [*starts, float(counts.sum())],
        "y": [*sigmas, sigmas[-1]],
        "line": {"shape": "hv", "color": RUNS[0], "width": 2},
        "hovertemplate": "sigma %{y:.4g}<extra></extra>",
    }
    shape = layout("epoch", "sigma", height=height, size=size)
    shape["yaxis"]["rangemode"] = "tozero"
    return drawn([trace], shape, size)
