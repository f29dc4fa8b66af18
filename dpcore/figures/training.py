"""Charts of training runs: accuracy, loss, norms, decisions, classes, and the noise schedule."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import (
    Axis,
    End,
    Numbers,
    Trace,
    axis,
    figure_of,
    line,
    marked_line,
    percents,
)
from dpcore.figures.style import GREY, PRIVATE, RUNS, Style, faded, run_styles
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.events import NORM_QUANTILES

MAX_POINTS = 400  # of one line sent to a browser
HEIGHT = 210
RIGHT = 108  # pixels: a dash and "6: 98.7 %"
STRIP = 130
HOVER = "%{customdata:.0%}"
ACCEPTED = PRIVATE
REJECTED = GREY
NORM_WORDS = (
    "5 % are below",
    "25 % are below",
    "half are below",
    "75 % are below",
    "95 % are below",
)
MEDIAN = NORM_WORDS.index("half are below")
FIRST = Style(*RUNS[0], "")  # a run alone
FAN_FILLS = (0.18, 0.32, 0.32, 0.18)  # from each quantile to the next, shares of the colour
CLIPPED = Style(GREY, "dash", "╌╌", "C")
NORM_LEFT = 80  # pixels: the axis's name and a power of ten
NORM_STANDOFF = 18  # pixels between both
NORM_RIGHT = 92  # pixels: a dash and "C = 0.025"


class Track(NamedTuple):
    """One run on a chart: x and y of the same length; the last y of a `level` run goes across."""

    label: str
    x: Numbers
    y: Numbers
    level: bool = False
    # A second y: of the weights' moving average, where one is kept.
    averaged: Numbers | None = None
    private: bool = True


def track_styles(tracks: Sequence[Track]) -> list[Style]:
    """The style of each run, named after it."""
    styles = run_styles(track.private for track in tracks)
    return [style._replace(label=track.label) for style, track in zip(styles, tracks, strict=True)]


def accuracy_figure(tracks: Sequence[Track], x: str, *, end: float = 0.0) -> go.Figure:
    """Test accuracy in percent over epochs or epsilon, one line for each run; x reaches `end` or
    more.

    Lines end with their last value, after the run's number if there are several; names would leave
    no room on a narrow screen. A run without values has a line that can grow. `accuracy_lines`
    gives the order of the lines.
    """
    furthest = _furthest([track for track in tracks if not track.level], end)
    traces = []
    ends = []
    for place, style, values in accuracy_lines(tracks):
        across = tracks[place].x
        heights = percents(values)
        if tracks[place].level:
            across = [0.0, furthest]
            heights = heights[-1:] * 2
        traces.append(marked_line(across, heights, style, hovertemplate="%{y:.1f} %"))
        if heights:
            number = f"{place + 1}: " if len(tracks) > 1 else ""
            ends.append(End(style, heights[-1], f"{number}{heights[-1]:.1f} %"))
    accuracy = axis("test accuracy, %", range=[0.0, 102.0])
    return figure_of(traces, _up_to(furthest, x), accuracy, ends=ends, height=340, right=RIGHT)


def _furthest(tracks: Sequence[Track], end: float) -> float:
    """The largest x of all runs, at least `end`; 1 for an empty axis."""
    for track in tracks:
        end = max(end, max(track.x, default=0.0))
    return end or 1.0


def _up_to(end: float, title: str = "epoch") -> Axis:
    """An x axis with some room after its last value."""
    return axis(title, range=[0, end * 1.02])


def accuracy_lines(tracks: Sequence[Track]) -> list[tuple[int, Style, Numbers]]:
    """The lines of `accuracy_figure`: place of the run, style and accuracies."""
    lines: list[tuple[int, Style, Numbers]] = []
    for place, (track, style) in enumerate(zip(tracks, track_styles(tracks), strict=True)):
        lines.append((place, style, track.y))
        if track.averaged is not None:
            averaged = style._replace(
                dash="2px,2px", glyph="····", label=f"{track.label}, averaged"
            )
            lines.append((place, averaged, track.averaged))
    return lines


def track_figure(
    tracks: Sequence[Track], x: str, y: str, *, end: float = 0.0, percent: bool = False
) -> go.Figure:
    """A small chart of one quantity over epochs; `percent` fixes the axis to 0 to 100."""
    scale = 100.0 if percent else 1.0
    traces = []
    for track, style in zip(tracks, track_styles(tracks), strict=True):
        across, heights = thinned(track.x, track.y)
        traces.append(line(across, heights * scale, style, hovertemplate="%{y:.4g}"))
    up = axis(y, range=[0, 102]) if percent else axis(y, rangemode="tozero")
    return figure_of(traces, _up_to(_furthest(tracks, end), x), up, height=HEIGHT)


def classes_figure(classes: Sequence[str], accuracy: Numbers, style: Style = FIRST) -> go.Figure:
    """Bars of the test accuracy of each class in percent, in the colour of the run's line."""
    heights = percents(accuracy)
    bar = {
        "type": "bar",
        "x": list(classes),
        "y": heights,
        "marker": {"color": style.color},
        "text": [f"{each:.0f}" for each in heights],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{y:.1f} %<extra></extra>",
    }
    x = axis("class", type="category")
    y = axis("test accuracy, %", range=[0, 112])
    return figure_of([bar], x, y, height=HEIGHT, hovermode="closest")


def decisions_figure(decisions: str, q: float, steps: int) -> go.Figure:
    """The proposals of simulated annealing in order: up if accepted ("a"), down if rejected ("r").

    A step takes `q` epochs, and the axis ends at `steps`. Many proposals share a bar with their
    neighbours.

    >>> decisions_figure("aar", 0.5, 4).data[0].y
    (1.0, 1.0, 0.0)
    """
    accepted = np.frombuffer(decisions.encode(), np.uint8) == ord("a")  # (n,)
    width = max(1, -(-len(accepted) // MAX_POINTS))  # steps of one bar
    starts = np.arange(0, len(accepted), width)
    counts = np.minimum(width, len(accepted) - starts)
    kept = np.zeros(len(starts))  # the share of each bar that was accepted
    if len(starts):
        kept = np.add.reduceat(accepted, starts, dtype=float) / counts
    middles = (starts + counts / 2) * q
    bars = [
        _strip(middles, kept, counts * q, "accepted", ACCEPTED),
        _strip(middles, kept - 1, counts * q, "rejected", REJECTED),
    ]
    y = axis("", range=[-1.05, 1.05], tickvals=[-0.5, 0.5], ticktext=["rejected", "accepted"])
    return figure_of(
        bars,
        _up_to(max(steps, len(accepted), 1) * q),
        y,
        height=STRIP,
        left=72,
        top=8,
        barmode="relative",
        bargap=0,
    )


def _strip(x: np.ndarray, y: np.ndarray, widths: np.ndarray, name: str, color: str) -> Trace:
    return {
        "type": "bar",
        "x": x.tolist(),
        "y": y.tolist(),
        "width": widths.tolist(),
        "name": name,
        "marker": {"color": color, "line": {"width": 0}},
        "customdata": np.abs(y),
        "hovertemplate": HOVER,
    }


def thinned(x: Numbers, y: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """At most MAX_POINTS evenly spaced points, the last one included.

    >>> [each.tolist() for each in thinned([1, 2], [3.0, 4.0])]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    even = np.linspace(0, max(len(x) - 1, 0), MAX_POINTS).round().astype(int)
    keep = np.unique(even)[: len(x)]
    return np.asarray(x, dtype=float)[keep], np.asarray(y, dtype=float)[keep]


def norms_figure(
    epochs: Numbers,
    norms: Sequence[Numbers],
    clip_norm: float,
    style: Style = FIRST,
    *,
    end: float = 0.0,
) -> go.Figure:
    """The `NORM_QUANTILES` of the norms at n epochs, (n, 5), as a fan, with a line at C.

    Norms above the line were cut to C, the clipping norm. The vertical axis is logarithmic, without
    zeros. x reaches `end` or more.

    >>> figure = norms_figure([1.0, 2.0], [[0.1, 0.2, 0.3, 0.4, 0.5]] * 2, 0.25)
    >>> [trace.name for trace in figure.data][2], figure.data[-1].name, list(figure.data[-1].y)
    ('half are below', 'C', [0.25, 0.25])
    """
    check.positive(clip_norm=clip_norm)
    values = np.asarray(norms, dtype=float).reshape(len(epochs), len(NORM_QUANTILES))  # (n, 5)
    values = np.where(values > 0, values, np.nan)
    furthest = max([end, *epochs]) or 1.0
    traces = []
    for place, word in enumerate(NORM_WORDS):
        quantile = style._replace(dash="solid", label=word)
        edge = line(list(epochs), values[:, place], quantile, hovertemplate="%{y:.3g}")
        if place != MEDIAN:
            edge["line"] = {"color": style.color, "width": 0.8}
        if place:
            fill = faded(style.color, FAN_FILLS[place - 1])
            edge |= {"fill": "tonexty", "fillcolor": fill}
        traces.append(edge)
    hover = "C = %{y:.3g}<extra></extra>"
    traces.append(line([0.0, furthest], [clip_norm] * 2, CLIPPED, hovertemplate=hover))
    # More ticks have no room: the plot is low.
    y = axis("gradient norm", type="log", nticks=4, exponentformat="power")
    y["title"] |= {"standoff": NORM_STANDOFF}
    label = End(CLIPPED, clip_norm, f"C = {clip_norm:g}")
    return figure_of(
        traces, _up_to(furthest), y, ends=[label], height=HEIGHT, left=NORM_LEFT, right=NORM_RIGHT
    )


def schedule_figure(mechanism: Mechanism) -> go.Figure:
    """The noise multiplier over the epochs, with a step for each release."""
    counts = np.array([release.count * release.q for release in mechanism.releases])
    starts = np.cumsum(counts) - counts
    sigmas = [release.sigma for release in mechanism.releases]
    trace = {
        "type": "scatter",
        "mode": "lines",
        "x": [*starts, float(counts.sum())],
        "y": [*sigmas, sigmas[-1]],
        "line": {"shape": "hv", "color": PRIVATE, "width": 2},
        "hovertemplate": "sigma %{y:.4g}<extra></extra>",
    }
    return figure_of([trace], axis("epoch"), axis("sigma", rangemode="tozero"), height=170)
