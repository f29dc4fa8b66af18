"""The curve of another setting, such as one that was pinned, beside those of the present one."""

from typing import Any, NamedTuple

import numpy as np

from dpcore.figures.labels import End
from dpcore.figures.style import Style, hover_text, line
from dpcore.privacy.accountants import Curve
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.types import FloatArray

LOOK = ("#825a6e", "8px,3px,2px,3px", "╌╌")  # neither an accountant's nor a run's
SHORT = "Pinned"


class Ghost(NamedTuple):
    """What one accountant says of a setting that is not the present one; epochs (n,) where it goes over those."""

    label: str
    curve: Curve
    epochs: FloatArray | None = None


def ghost_style(label: str) -> Style:
    """The line style of every ghost."""
    return Style(*LOOK, label)


def ghost_trace(ghost: Ghost) -> dict[str, Any]:
    """Epsilon over epochs, or delta over epsilon where there are none; the hover says epsilon with its mark."""
    curve, look = ghost.curve, ghost_style(ghost.label)
    seen = np.where(np.isfinite(curve.epsilon), curve.epsilon, np.nan)
    x, y = (seen, curve.delta) if ghost.epochs is None else (ghost.epochs, seen)
    return line(x, y, look) | hover_text(seen, lambda epsilon: marked(epsilon, curve.kind))


def ghost_end(ghost: Ghost) -> list[End]:
    """Its label at the end of a curve, as the accountants have theirs; none where its last epsilon is infinite."""
    value = float(ghost.curve.epsilon[-1])
    if not (np.isfinite(value) and value > 0):
        return []
    return [End(ghost_style(ghost.label), value, marked(value, ghost.curve.kind), SHORT)]
