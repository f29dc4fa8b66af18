"""What happened while runs trained: accuracy, loss, clipping, classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.labels import End, labelled
from dpcore.figures.style import NORMAL, RUNS, Size, Style, drawn, layout, line

DASHES = (("solid", "━━"), ("dash", "╌╌"), ("dot", "···"), ("dashdot", "╌·"), ("longdash", "— —"), ("6px,2px", "-··"))
MOST = 400  # points of one line sent to a browser
HEIGHT = 210
RIGHT = 108  # pixels: a dash and "6: 98.7 %"
STRIP = 130
HOVER = "%{customdata:.0%}"
ACCEPTED, REJECTED = RUNS[0], RUNS[1]


class Track(NamedTuple):
    """One run on a chart: equally long x and y; a `level` run has no x and is drawn as its last y throughout."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    level: bool = False
    averaged: Sequence[float] | None = None  # a second y: of the weights' moving average, where one is kept


def run_style(place: int, label: str = "") -> Style:
    """Colour and dash of the run in this place of an overlay."""
    dash, glyph = DASHES[place % len(DASHES)]
    return Style(RUNS[place % len(RUNS)], dash, glyph, label)


def accuracy_figure(
    tracks: Sequence[Track], x: str, *, end: float = 0.0, height: int = 340, size: Size = NORMAL
) -> go.Figure:
    """Test accuracy in percent over epochs or epsilon, one line a run; x runs to `end` or more.

    Lines end with their last value, behind the run's number where there are several: room for a name there would take
    it from the lines on a narrow screen. A run without a value has a line too, which can grow. `accuracy_lines` says
    in which order the lines stand.
    """
    traces, ends = [], []
    furthest = max([end, *(max(track.x, default=0.0) for track in tracks if not track.level)]) or 1.0
    for place, style, values in accuracy_lines(tracks):
        traces.append(_accuracy_line(tracks[place], values, style, furthest))
        if len(values):
            last = 100 * values[-1]
            ends.append(End(style, last, f"{f'{place + 1}: ' if len(tracks) > 1 else ''}{last:.1f} %"))
    bounds = (0.0, 102.0)
    shape = labelled(layout(x, "test accuracy, %", height=height, right=RIGHT, size=size), ends, bounds, size)
    shape["yaxis"]["range"] = list(bounds)
    shape["xaxis"]["range"] = [0, furthest * 1.02]
    return drawn(traces, shape, size)


def accuracy_lines(tracks: Sequence[Track]) -> list[tuple[int, Style, Sequence[float]]]:
    """Of each line of `accuracy_figure` the place of its run, how it is drawn, and its accuracies."""
    lines: list[tuple[int, Style, Sequence[float]]] = []
    for place, track in enumerate(tracks):
        style = run_style(place, track.label)
        lines.append((place, style, track.y))
        if track.averaged is not None:
            averaged = style._replace(dash="2px,2px", glyph="····", label=f"{track.label}, averaged")
            lines.append((place, averaged, track.averaged))
    return lines


def _accuracy_line(track: Track, values: Sequence[float], style: Style, furthest: float) -> dict[str, Any]:
    across = [0.0, furthest] if track.level else track.x
    heights = [100 * each for each in (list(values[-1:]) * 2 if track.level else values)]
    return line(across, heights, style, mode="lines+markers", marker={"size": 5}, hovertemplate="%{y:.1f} %")


def track_figure(
    tracks: Sequence[Track], x: str, y: str, *, end: float = 0.0, percent: bool = False, size: Size = NORMAL
) -> go.Figure:
    """A small chart of one quantity over epochs, one line a run; percent fixes the axis to 0 to 100."""
    scale = 100.0 if percent else 1.0
    traces = []
    for place, track in enumerate(tracks):
        across, heights = thinned(track.x, track.y)
        traces.append(line(across, heights * scale, run_style(place, track.label), hovertemplate="%{y:.4g}"))
    shape = layout(x, y, height=HEIGHT, size=size)
    shape["yaxis"] |= {"range": [0, 102]} if percent else {"rangemode": "tozero"}
    furthest = max([end, *(max(track.x, default=0.0) for track in tracks)]) or 1.0
    shape["xaxis"]["range"] = [0, furthest * 1.02]
    return drawn(traces, shape, size)


def classes_figure(classes: Sequence[str], accuracy: Sequence[float], *, size: Size = NORMAL) -> go.Figure:
    """Test accuracy of each class in percent, as bars."""
    percents = [100 * each for each in accuracy]
    bar: dict[str, Any] = {
        "type": "bar",
        "x": list(classes),
        "y": percents,
        "marker": {"color": RUNS[0]},
        "text": [f"{each:.0f}" for each in percents],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{y:.1f} %<extra></extra>",
    }
    shape = layout("class", "test accuracy, %", height=HEIGHT, size=size)
    shape["hovermode"] = "closest"
    shape["xaxis"]["type"] = "category"
    shape["yaxis"]["range"] = [0, 112]
    return drawn([bar], shape, size)


def decisions_figure(decisions: str, q: float, steps: int, *, size: Size = NORMAL) -> go.Figure:
    """The proposals of simulated annealing in their order: up where accepted ("a"), down where rejected ("r").

    `q` is the epochs of one step, `steps` where the axis ends. Where there are more proposals than a screen shows, each
    bar is the share of its few neighbours.

    >>> decisions_figure("aar", 0.5, 4).data[0].y
    (1.0, 1.0, 0.0)
    """
    accepted = np.frombuffer(decisions.encode(), np.uint8) == ord("a")  # (n,)
    width = max(1, -(-len(accepted) // MOST))  # steps of one bar
    starts = np.arange(0, len(accepted), width)
    counts = np.minimum(width, len(accepted) - starts)
    kept = np.add.reduceat(accepted, starts, dtype=float) / counts if len(starts) else starts.astype(float)
    middles = (starts + counts / 2) * q
    bars = [
        _strip(middles, kept, counts * q, ("accepted", ACCEPTED)),
        _strip(middles, kept - 1, counts * q, ("rejected", REJECTED)),
    ]
    shape = layout("epoch", "", height=STRIP, size=size, barmode="relative", bargap=0)
    shape["xaxis"]["range"] = [0, max(steps, len(accepted), 1) * q * 1.02]
    shape["yaxis"] |= {"range": [-1.05, 1.05], "tickvals": [-0.5, 0.5], "ticktext": ["rejected", "accepted"]}
    shape["margin"] |= {"l": size.scaled(72), "t": 8}
    return drawn(bars, shape, size)


def _strip(x: np.ndarray, y: np.ndarray, widths: np.ndarray, look: tuple[str, str]) -> dict[str, Any]:
    name, color = look
    bar = {"type": "bar", "x": x.tolist(), "y": y.tolist(), "width": widths.tolist(), "name": name}
    return bar | {"marker": {"color": color, "line": {"width": 0}}, "customdata": np.abs(y), "hovertemplate": HOVER}


def thinned(x: Sequence[float], y: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """At most MOST of the points, evenly spaced, the last one kept.

    >>> [each.tolist() for each in thinned([1, 2], [3.0, 4.0])]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    keep = np.unique(np.linspace(0, max(len(x) - 1, 0), MOST).round().astype(int))[: len(x)]
    return np.asarray(x, dtype=float)[keep], np.asarray(y, dtype=float)[keep]
