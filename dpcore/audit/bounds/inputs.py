"""What is given to an audit: wrong shapes are errors, and numbers from which nothing follows give a sentence."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.privacy.types import FloatArray


def numbers(name: str, values: ArrayLike, dimensions: int = 1) -> FloatArray:
    """The values as an array of floats.

    Errors: ValueError if it has not so many dimensions.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"Expected {name} of shape {array.shape} to have {dimensions} dimensions.")
    return array


def flags(name: str, values: ArrayLike, dimensions: int = 1) -> NDArray[np.bool_]:
    """The values, which are false, true, 0 or 1, as an array of flags.

    Errors: ValueError if they are anything else, or have not so many dimensions.
    """
    array = np.asarray(values)
    if array.ndim != dimensions:
        raise ValueError(f"Expected {name} of shape {array.shape} to have {dimensions} dimensions.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"Expected {name} to be false or true.")
    return array.astype(np.bool_)


def scored(scores: ArrayLike, included: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The scores of canaries and whether each was in the training data, both (m,).

    Errors: ValueError if they are not as many.
    """
    score, inside = numbers("scores", scores), flags("included", included)
    if score.shape != inside.shape:
        raise ValueError(f"Expected included of shape {inside.shape} to have the shape {score.shape} of scores.")
    return score, inside


def trouble(**arrays: FloatArray) -> str:
    """Why nothing can be shown from the arrays; "" where something can.

    Numbers that are not finite are not left out: whether one is may depend on who took part.

    >>> trouble(scores=np.array([1.0, np.nan])), trouble(losses=np.zeros(0)), trouble(scores=np.ones(2))
    ('Nothing can be shown: 1 of 2 scores is not a finite number.', 'Nothing can be shown: there are no losses.', '')
    """
    for name, array in arrays.items():
        words = name.replace("_", " ")
        if array.size == 0:
            return f"Nothing can be shown: there are no {words}."
        if bad := int(np.count_nonzero(~np.isfinite(array))):
            verb = "is not a finite number" if bad == 1 else "are not finite numbers"
            return f"Nothing can be shown: {bad} of {array.size} {words} {verb}."
    return ""


def constant(words: str, *arrays: FloatArray) -> str:
    """A sentence where all numbers, which are called `words`, are one number; "" otherwise."""
    together = np.concatenate(arrays)
    return f"Nothing can be shown: all {words} are equal." if np.ptp(together) == 0 else ""
