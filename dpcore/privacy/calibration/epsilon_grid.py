"""Epsilon over a grid of sigma and steps, as one batch: one curve for each sigma gives all its horizons."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Kind
from dpcore.privacy.schedule import CONSTANT, Recipe
from dpcore.privacy.types import FloatArray, IntArray, read_only


@dataclass(frozen=True, eq=False)
class Grid:
    """Epsilon at S sigmas and T numbers of steps; +inf where nothing can be promised. Arrays are copies, read-only."""

    sigmas: FloatArray  # (S,)
    steps: IntArray  # (T,) non-decreasing
    epsilon: FloatArray  # (S, T)
    lower: FloatArray | None  # (S, T) proven lower bounds, only from a certified accountant
    kinds: tuple[Kind, ...]  # (S,) what kind of number each row holds
    notes: tuple[str, ...]  # (S,) why a row cannot be trusted or is infinite; "" where all is well

    def __post_init__(self) -> None:
        for name in ("sigmas", "steps", "epsilon", "lower"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(given))


def epsilon_grid(
    sigmas: ArrayLike,
    steps: ArrayLike,
    q: float,
    delta: float,
    accountant: str = CERTIFIED,
    *,
    recipe: Recipe = CONSTANT,
) -> Grid:
    """Epsilon after each of `steps` (T,), non-decreasing, at each first sigma (S,), one q and one delta.

    Errors: ValueError for bad input.

    >>> epsilon_grid([4.0, 8.0], [5000, 10_000], 0.01, 1e-5, "rdp").epsilon.round(3).tolist()
    [[0.712, 1.035], [0.331, 0.481]]
    """
    check.one_of(ACCOUNTANTS, accountant=accountant)
    rows, horizons = (np.array(each, dtype=np.float64, ndmin=1) for each in (sigmas, steps))
    check.in_range(1, np.inf, ends="[)", steps=float(horizons.max(initial=0.0)))
    last = int(horizons[-1])
    curves = [ACCOUNTANTS[accountant].curve(recipe.mechanism(q, float(sigma), last), horizons, delta) for sigma in rows]
    if not curves:
        raise ValueError("Expected sigmas=[] to hold at least one sigma.")
    lowers = [curve.lower for curve in curves if curve.lower is not None]
    return Grid(
        rows,
        curves[0].steps,
        np.stack([curve.epsilon for curve in curves]),
        np.stack(lowers) if lowers else None,
        tuple(curve.kind for curve in curves),
        tuple(curve.note for curve in curves),
    )
