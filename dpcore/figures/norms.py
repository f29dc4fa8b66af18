"""How long the gradients of single examples were before clipping, beside the norm that they were clipped to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.style import NORMAL, RUNS, Size, Style, drawn, layout, line
from dpcore.training.events import NORM_QUANTILES

WORDS = ("5 % are below", "25 % are below", "half are below", "75 % are below", "95 % are below")
FAN = RUNS[0]
SPREAD = {0.05: "rgba(36,105,166,0.18)", 0.25: "rgba(36,105,166,0.32)"}  # from this quantile to the one opposite
CLIPPED = Style(RUNS[1], "dash", "╌╌", "C")
HEIGHT = 210
RIGHT = 92  # pixels: a dash and "C = 0.025"


def norms_figure(
    epochs: Sequence[float],
    norms: Sequence[Sequence[float]],
    clip_norm: float,
    *,
    end: float = 0.0,
    height: int = HEIGHT,
    size: Size = NORMAL,
) -> go.Figure:
    """The `NORM_QUANTILES` of the norms at n epochs, (n, 5), as a fan, and the line of the clipping norm C through it.

    What lies above the line was cut down to it; where the whole fan lies below it, nothing was clipped. The vertical
    axis is logarithmic, and so leaves out what is 0. x runs to `end` or more.

    >>> figure = norms_figure([1.0, 2.0], [[0.1, 0.2, 0.3, 0.4, 0.5]] * 2, 0.25)
    >>> [trace.name for trace in figure.data][2], figure.data[-1].name, list(figure.data[-1].y)
    ('half are below', 'C', [0.25, 0.25])
    """
    check.positive(clip_norm=clip_norm)
    values = np.asarray(norms, dtype=float).reshape(len(epochs), len(NORM_QUANTILES))  # (n, 5)
    values = np.where(values > 0, values, np.nan)
    furthest = max([end, *epochs]) or 1.0
    traces = [_edge(epochs, values[:, place], place) for place in range(len(NORM_QUANTILES))]
    across = line([0.0, furthest], [clip_norm] * 2, CLIPPED, hovertemplate="C = %{y:.3g}<extra></extra>")
    shape = layout("epoch", "gradient norm", height=height, right=RIGHT, size=size)
    shape["yaxis"] |= {"type": "log", "nticks": 4}  # more would run into each other: the plot is low
    shape["xaxis"]["range"] = [0, furthest * 1.02]
    shape["annotations"] = [_named(clip_norm, size)]
    return drawn([*_filled(traces), across], shape, size)


def _edge(epochs: Sequence[float], norms: np.ndarray, place: int) -> dict[str, Any]:
    """One quantile over the epochs; the median is the line that one sees."""
    style = Style(FAN, "solid", "━━", WORDS[place])
    edge = line(list(epochs), norms, style, hovertemplate="%{y:.3g}")
    return edge if NORM_QUANTILES[place] == 0.5 else edge | {"line": {"color": FAN, "width": 0.8}}


def _filled(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines with the fan between them: each area is filled down to the quantile below it."""
    steps = zip(traces[1:], NORM_QUANTILES, NORM_QUANTILES[1:], strict=False)
    inner = [each | {"fill": "tonexty", "fillcolor": SPREAD[min(low, round(1 - high, 2))]} for each, low, high in steps]
    return [traces[0], *inner]


def _named(clip_norm: float, size: Size) -> dict[str, Any]:
    """C's value at the right end of its line."""
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 6,
        "y": float(np.log10(clip_norm)),
        "yanchor": "middle",
        "showarrow": False,
        "font": {"size": size.text},
        "text": f'<span style="color:{CLIPPED.color}">{CLIPPED.glyph}</span> C = {clip_norm:g}',
    }
