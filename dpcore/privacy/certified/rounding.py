"""The floating-point budget: by how much each stage of the certified accountant may err, all in one place.

README.md, "Floating point", derives every number here. UNIT is the unit roundoff: a sum, a product or a function of the
standard library errs by one or a few of it, relative to its result.
"""

from math import log2

import numpy as np

from dpcore.privacy.mechanism import FloatArray

UNIT = 2.0**-53
POSITION = 2.0**-44  # of how far losses reach: where the loss of one step lies
MASS = 2.0**-44  # of delta, for each step; without a tilt of what `step_error` says: the masses of one step
ALLOWANCE = 1e-6  # of delta, once: the final evaluation of ln delta, and what is reserved
RESERVED = 1e-15  # of delta, part of that and of every other margin: for noise that no generator returns
LEVEL = 8  # units, of each level of a fast transform
ANGLE = 8  # units, of each kind of steps, in the angle of a factor: more than 2 pi
ANGLES = 4  # kinds that all else in a factor counts as
SIZE = 64  # units, of each kind of steps, in the size of a product: more than where frequencies are cut
SIZES = 2  # kinds that all else in a product counts as
TERM = 5  # units, of each term of a tail's two sums
CHUNK = 512  # terms added by one product of matrices, whose order of additions is not known


def factor_error(kinds: int, period: int) -> float:
    """Error of one factor of the transform, relative to the mass outside its fullest node.

    The fast transform errs on each of log2(period) levels; the power of a factor is taken of its logarithm, whose
    imaginary part is a sum over the kinds of steps.
    """
    return (LEVEL * log2(period) + ANGLE * (kinds + ANGLES)) * UNIT


def step_error(q: FloatArray, rest: FloatArray) -> FloatArray:
    """Error of any divergence of one step without a tilt, of (L,) rates and masses outside the fullest node; (L,).

    A step tells q U, and U errs by some units. The fullest node takes what the others leave, and their errors with it.
    """
    return MASS * np.maximum(q, rest)


def product_error(kinds: int, frequencies: int) -> float:
    """Error of the product of all factors times the hockey stick, and of its sum over frequencies, relative to it."""
    return (SIZE * (kinds + SIZES) + CHUNK + frequencies / CHUNK) * UNIT


def inverse_error(period: int) -> float:
    """Error of an inverse transform in the 2-norm, relative to its result."""
    return LEVEL * log2(period) * UNIT


def tail_error(terms: int) -> float:
    """Error of the mass beyond a node less what it has under the other law, relative to that mass; and of either."""
    return TERM * terms * UNIT
