"""Direct labels of curves: at their right end, pushed apart until they can be read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpcore.figures.style import NORMAL, Size, Style

LINE = 19  # pixels of a line of normal text


class End(NamedTuple):
    """The end of a curve: how it is drawn, how high it is, what is written there, and below that its name."""

    style: Style
    y: float
    text: str
    name: str = ""


def moved_apart(positions: list[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved as little as a sweep can so that neighbours are `gap` apart and all lie in [low, high].

    Where they cannot all fit, the lowest stay at `gap` and the rest run out at the top.

    >>> moved_apart([3.0, 3.5, 5.0], 1.0, 0.0, 5.0)
    [2.5, 3.5, 5.0]
    >>> moved_apart([4.9, 5.0], 1.0, 0.0, 5.0)
    [4.0, 5.0]
    """
    order = np.argsort(positions, kind="stable")
    placed = [min(max(positions[i], low), high) for i in order]
    for i in range(len(placed) - 2, -1, -1):  # downwards from the top
        placed[i] = min(placed[i], placed[i + 1] - gap)
    for i in range(len(placed)):  # and up again from the bottom
        placed[i] = max(placed[i], placed[i - 1] + gap if i else low)
    moved = [0.0] * len(placed)
    for value, i in zip(placed, order, strict=True):
        moved[i] = float(value)
    return moved


def end_labels(
    ends: Sequence[End], bounds: tuple[float, float], height: int, *, log: bool = False, size: Size = NORMAL
) -> list[dict[str, Any]]:
    """Annotations right of the plot, one for each end; bounds of the y axis, in its own (log) units.

    `height` is that of the plot between its margins. All ends have a name, or none.
    """
    low, high = bounds
    lines = 2 if ends and ends[0].name else 1
    gap = (high - low) * lines * size.scaled(LINE) / max(height, 1)
    below = gap * (lines - 1) / (2 * lines)  # what a second line reaches further down than a line alone
    values = [float(np.log10(each.y)) if log else each.y for each in ends]
    return [
        written(each.style, _joined(each, "<br>"), size)
        | {"x": 1, "xanchor": "left", "xshift": 6, "y": y, "yanchor": "middle"}
        for each, y in zip(ends, moved_apart(values, gap, low + below, high), strict=True)
    ]


def labelled(
    shape: dict[str, Any], ends: Sequence[End], bounds: tuple[float, float], size: Size, *, log: bool = False
) -> dict[str, Any]:
    """The layout of one plot with its curves' labels beside the plot."""
    height = shape["height"] - shape["margin"]["t"] - shape["margin"]["b"]
    return shape | {"annotations": end_labels(ends, bounds, height, log=log, size=size)}


def written(style: Style, text: str, size: Size) -> dict[str, Any]:
    """An annotation of a piece of a line and a text, called as its line; where it stands is still to be said."""
    return {
        "name": style.label,
        "xref": "paper",
        "showarrow": False,
        "align": "left",
        "font": {"size": size.text},
        "text": f'<span style="color:{style.color}">{style.glyph}</span> {text}',
    }


def _joined(end: End, between: str) -> str:
    return f"{end.text}{between}{end.name}" if end.name else end.text
