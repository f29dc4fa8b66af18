"""A map of epsilon over sigma and epochs, with contours."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.layout import (
    FONT,
    Axis,
    Note,
    Trace,
    axis,
    figure_of,
    log_axis,
    points,
    round_numbers,
)
from dpcore.figures.style import BLACK, HEIGHTS, WHITE, faded
from dpcore.privacy.accountants.base import Curve, FloatArray
from dpcore.privacy.report.numbers import rounded

LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
CLOSE = 1.25  # a level within this factor of the target gives way to it
ENDS = (0.05, 200.0)  # epsilons at the ends of the colours, the same on every map
HOVER = "sigma %{y:.3g}, %{x:.4g} epochs (%{customdata:,} steps)<br>epsilon %{text}<extra></extra>"
MAP_FONT = {"color": WHITE, **FONT}
SHADE = faded(BLACK, 0.6)  # under words on a map
ASIDE = 0.85  # of the width: where the target's label stands
# From a mark, in shares of the width and the height: the place of its word.
WORD = (0.12, 0.1)  # of a mark, in shares of the width and the height
BESIDE = ((-0.05, 0.16), (-0.09, 0.09))


class Mark(NamedTuple):
    """A named point on the map."""

    epochs: float
    sigma: float
    word: str
    symbol: str = "circle"


class Path(NamedTuple):
    """The contour of a level; that of the target is thick."""

    level: float
    sigmas: FloatArray
    thick: bool


def contour(sigmas: FloatArray, epsilon: FloatArray, level: float) -> FloatArray:
    """The smallest sigma at which epsilon (S, T) falls to a level, at each step count (T,).

    NaN if there is none. It interpolates log epsilon in log sigma (S,); beside an infinite epsilon
    it takes the finite end.

    >>> epsilon = np.array([[2.2, 9.0], [0.9, 3.0], [0.4, 1.4]])
    >>> contour(np.array([2.0, 4.0, 8.0]), epsilon, 1.0).round(1).tolist()
    [3.7, nan]
    """
    columns = np.arange(epsilon.shape[1])
    falls = (epsilon[:-1] > level) & (epsilon[1:] <= level)  # (S - 1, T)
    if not falls.size:
        return np.full(columns.shape, np.nan)
    row = np.argmax(falls, axis=0)
    above, below = epsilon[row, columns], epsilon[row + 1, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (np.log(above) - np.log(level)) / (np.log(above) - np.log(below))
    share = np.where(np.isfinite(share), share, 1.0)
    low, high = np.log(sigmas[row]), np.log(sigmas[row + 1])
    return np.where(falls.any(axis=0), np.exp(low + share * (high - low)), np.nan)


def heatmap_figure(
    sigmas: FloatArray,
    rows: Sequence[Curve],
    epochs: FloatArray,
    *,
    target: float | None = None,
    marks: Sequence[Mark] = (),
) -> go.Figure:
    """The map over epochs (T,) and sigma (S,), both logarithmic; the target has the thick contour.

    A cell without an epsilon is empty. The hover of each cell, which may be clicked, names its
    sigma and epochs.
    """
    epsilon = np.stack([each.epsilon for each in rows])
    levels = [level for level in LEVELS if not _gives_way(level, target)]
    if target:
        levels.append(target)
    strokes = []
    labels = []
    thick = np.full(epochs.shape, np.inf)  # (T,), the contour of the target
    for level in levels:
        path = Path(level, contour(sigmas, epsilon, level), level == target)
        if np.isfinite(path.sigmas).any():
            strokes += _stroke(epochs, path)
            labels.append(_label(epochs, path, sigmas, marks))
            if path.thick:
                thick = path.sigmas
    known = ~np.isnan(thick)
    named = []
    for place, mark in enumerate(marks):
        crossed = np.interp(mark.epochs, epochs[known], thick[known])
        upright = "top" if mark.sigma > 1.01 * crossed else "bottom"
        crowded = any(_near(mark, other, epochs, sigmas) for other in marks[:place])
        side = "left" if crowded else "right"
        named.append(_mark(mark, f"{upright} {side}"))
    return figure_of(
        [_cells(sigmas, rows, epsilon, epochs), *strokes, *named],
        axis("epochs", **log_cells(epochs)),
        axis("sigma", **log_cells(sigmas)),
        notes=labels,
        height=460,
        hovermode="closest",
    )


def _gives_way(level: float, target: float | None) -> bool:
    """True for a level so close to the target that its line would hide it."""
    return bool(target) and 1 / CLOSE < level / target < CLOSE


def cells_of(
    x: Any,
    y: Any,
    heights: Any,
    ends: tuple[float, float],
    colors: Sequence[tuple[float, str]] = HEIGHTS,
    **more: Any,
) -> Trace:
    """The trace of a map whose colours reach over these ends; it has no colour bar."""
    low, high = ends
    return {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": heights,
        "zmin": low,
        "zmax": high,
        "colorscale": colors,
        "showscale": False,
        **more,
    }


def _cells(
    sigmas: FloatArray, rows: Sequence[Curve], epsilon: FloatArray, epochs: FloatArray
) -> Trace:
    with np.errstate(divide="ignore"):
        height = np.log10(np.where(np.isfinite(epsilon), epsilon, np.nan))
    low, high = np.log10(ENDS)
    heights = np.clip(height, low, high)
    return cells_of(
        epochs,
        sigmas,
        heights,
        (low, high),
        text=list(map(_said, rows)),
        customdata=[rows[0].steps.tolist()] * len(rows),
        hovertemplate=HOVER,
        name="epsilon",
    )


def _said(row: Curve) -> list[str]:
    """The text of each cell of a row."""
    texts = []
    for epsilon in row.epsilon.tolist():
        known = math.isfinite(epsilon)
        texts.append(rounded(epsilon, row.kind) if known else "no number")
    return texts


def _stroke(epochs: FloatArray, path: Path) -> list[Trace]:
    """A white line; the target has a dark edge."""
    common = {
        "type": "scatter",
        "mode": "lines",
        "x": epochs,
        "y": path.sigmas,
        "hoverinfo": "skip",
    }
    if not path.thick:
        return [common | {"line": {"color": WHITE, "width": 1.2, "dash": "dot"}, "name": "contour"}]
    edge = {"line": {"color": BLACK, "width": 7}, "name": "edge"}
    return [common | edge, common | {"line": {"color": WHITE, "width": 3.5}, "name": "target"}]


def _near(mark: Mark, other: Mark, epochs: FloatArray, sigmas: FloatArray) -> bool:
    """True if the words of two marks, on the same side of them, would touch."""
    ends = np.log10(epochs[[0, -1]])
    heights = np.log10(sigmas[[0, -1]])
    across = _share(np.log10(mark.epochs), ends) - _share(np.log10(other.epochs), ends)
    up = _share(np.log10(mark.sigma), heights) - _share(np.log10(other.sigma), heights)
    return bool(abs(across) < WORD[0] and abs(up) < WORD[1])


def _mark(mark: Mark, place: str) -> Trace:
    """A named point, its word at this place."""
    edge = {"color": BLACK, "width": 2}
    return points(
        [mark.epochs],
        [mark.sigma],
        {"size": 13, "color": WHITE, "symbol": mark.symbol, "line": edge},
        hoverinfo="skip",
        name=mark.word,
        mode="markers+text",
        text=[f"<b>{mark.word}</b>"],
        textposition=place,
        textfont=MAP_FONT,
    )


def _label(epochs: FloatArray, path: Path, rows: FloatArray, marks: Sequence[Mark]) -> Note:
    """The level on its line.

    It stands near the diagonal, so that labels keep apart, and away from the words of marks.
    """
    seen = np.isfinite(path.sigmas)
    x = np.log10(epochs)
    y = np.log10(np.where(seen, path.sigmas, rows[0]))
    heights = np.log10(rows)
    across = _share(x, x)  # (T,)
    up = _share(y, heights)  # (T,)
    if path.thick:
        distance = np.abs(across - ASIDE)
        text = f"<b>epsilon {path.level:g}</b>"
    else:
        distance = np.abs(across + up - 1)
        text = f"{path.level:g}"
    (left, end), (low, high) = BESIDE
    for mark in marks:
        right = across - _share(np.log10(mark.epochs), x)
        above = up - _share(np.log10(mark.sigma), heights)
        distance += 10 * ((left < right) & (right < end) & (low < above) & (above < high))
    place = int(np.argmin(np.where(seen, distance, np.inf)))
    return map_note(x[place], y[place], text)


def map_note(x: float, y: float, text: str) -> Note:
    """A text on a map, in the units of its axes."""
    look = {"font": MAP_FONT, "showarrow": False, "bgcolor": SHADE, "borderpad": 2}
    return {"x": x, "y": y, "text": text, **look}


def _share(values: Any, ends: FloatArray) -> FloatArray:
    """The place of values between the ends of rising numbers, from 0 to 1."""
    return (values - ends[0]) / max(ends[-1] - ends[0], 1e-9)


def log_cells(values: FloatArray) -> Axis:
    """A logarithmic axis with ticks at 1, 2 and 5 that ends half a cell outside the values."""
    low, high = np.log10(values[[0, -1]])
    half = (high - low) / max(values.size - 1, 1) / 2 or 0.1
    start = 10 ** (low - half)
    end = 10 ** (high + half)
    found = log_axis(start, end, round_numbers(start, end), "{:g}".format)
    return found | {"range": [low - half, high + half], "showgrid": False}
