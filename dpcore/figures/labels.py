"""Direct labels at the right end of curves, pushed apart until they can be read."""

from typing import Any

import numpy as np

from dpcore.figures.style import Style

LABEL_HEIGHT = 18  # pixels of a line


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
    ends: list[tuple[Style, float, str]], bounds: tuple[float, float], height: int, *, log: bool = False
) -> list[dict[str, Any]]:
    """Annotations right of the plot, one for each (style, y, text); bounds of the y axis, in its own (log) units.

    All texts have as many lines as the first.
    """
    low, high = bounds
    lines = 1 + ends[0][2].count("<br>") if ends else 1
    gap = (high - low) * (LABEL_HEIGHT * lines - 2 * (lines - 1)) / max(height - 64, 1)
    values = [float(np.log10(y)) if log else y for _, y, _ in ends]
    return [
        {
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 6,
            "y": y,
            "yanchor": "middle",
            "showarrow": False,
            "align": "left",
            "font": {"size": 13},
            "text": f'<span style="color:{style.color}">{style.glyph}</span> {text}',
        }
        for (style, _, text), y in zip(ends, moved_apart(values, gap, low, high), strict=True)
    ]
