"""Words for an epsilon: ranges on a fixed scale, each with its reason.

Source: arXiv 2303.00654 ("How to DP-fy ML"), section 5.2, has three tiers for the epsilon of one
example: up to 1, up to 10, and more. The limit of 100 is this program's own.
"""

from math import inf
from typing import NamedTuple

LEAST, MOST = 0.01, 100.0  # ends of every scale of epsilon; what lies beyond stands at the end


class Range(NamedTuple):
    """A range of epsilon, up to `most` and above the range before."""

    name: str
    most: float
    reason: str


RULER = (
    Range(
        name="strong",
        most=1.0,
        reason=(
            "Strong, up to 1: the odds that you took part grow at most 2.72-fold, say from 50 to 73"
            " of 100. Ponomareva et al. (2023) call this a strong formal guarantee."
        ),
    ),
    Range(
        name="usual",
        most=10.0,
        reason=(
            "Usual, up to 10: the common range for networks. Ponomareva et al. (2023) call this a"
            " reasonable guarantee; the nearer to 10, the less the proof alone promises."
        ),
    ),
    Range(
        name="weak",
        most=100.0,
        reason=(
            "Weak, above 10: the proof alone no longer hides anybody. Ponomareva et al. (2023) ask"
            " for more evidence here, such as an audit."
        ),
    ),
    Range(
        name="none",
        most=inf,
        reason=(
            "None, above 100: the odds may grow by a factor of 44 digits, which promises nothing."
            " (This limit is ours: the paper has none above 10.)"
        ),
    ),
)


def range_of(epsilon: float) -> Range:
    """The range in which an upper bound of epsilon lies.

    **Edge cases:** a limit belongs to the range below it; infinity is "none".

    >>> [range_of(epsilon).name for epsilon in (0.0, 1.0, 1.57, 100.1, inf)]
    ['strong', 'strong', 'usual', 'none', 'none']
    """
    return next(each for each in RULER if epsilon <= each.most)
