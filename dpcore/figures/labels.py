"""Direct labels at the right end of curves, pushed apart until they can be read."""

import math
from typing import Any

import numpy as np

from dpcore.figures.style import MARKS, Style
from dpcore.privacy.accountants import Kind
from dpcore.privacy.report.verdict import outward

LABEL_HEIGHT = 18  # pixels of a line
LARGE = 1e6  # from here on with a power of ten


def spread(positions: list[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved as little as a sweep can so that neighbours are `gap` apart and all lie in [low, high].

    Where they cannot all fit, the lowest stay at `gap` and the rest run out at the top.

    >>> spread([3.0, 3.5, 5.0], 1.0, 0.0, 5.0)
    [2.5, 3.5, 5.0]
    >>> spread([4.9, 5.0], 1.0, 0.0, 5.0)
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


def short(value: float) -> str:
    """A number in three significant digits, trailing zeros kept.

    >>> short(2.7), short(1234.5), short(0.05), short(3.351e172)
    ('2.70', '1,234', '0.0500', '3.35e172')
    """
    if not np.isfinite(value):
        return "infinite"
    if abs(value) >= LARGE - 0.5:
        return f"{value:.2e}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}".rstrip(".")


def rounded(value: float, kind: Kind) -> str:
    """An epsilon in three significant digits; a bound is rounded up, so that the text is as true as it.

    >>> rounded(1.561, Kind.CERTIFIED), rounded(1.561, Kind.APPROXIMATE)
    ('1.57', '1.56')
    """
    return outward(value, math.ceil, 3) if kind in (Kind.UPPER, Kind.CERTIFIED) else short(value)


def marked(value: float, kind: Kind) -> str:
    """An epsilon that says what kind of number it is.

    >>> marked(2.7, Kind.UPPER), marked(1.561, Kind.CERTIFIED), marked(1.334, Kind.APPROXIMATE), marked(2, Kind.CLAIMED)
    ('≤ 2.70', '≤ 1.57', '≈ 1.33', 'claims 2.00')
    """
    return f"{MARKS[kind]}{rounded(value, kind)}" if np.isfinite(value) else "n/a"


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
        for (style, _, text), y in zip(ends, spread(values, gap, low, high), strict=True)
    ]
