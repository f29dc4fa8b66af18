"""The floating-point budget: bounds of the error of each stage of the certified accountant.

README.md, "Floating point", derives every number here. UNIT is the unit roundoff: the relative
error of a sum, a product or a function of the standard library is one or a few units.
"""

from math import log2

import numpy as np

from dpcore.privacy.mechanism import FloatArray

UNIT = 2.0**-53
POSITION = 2.0**-44  # of the reach of losses: error of the place of one step's loss
# Of delta for each step, or without a tilt of `step_error`: error of one step's masses.
MASS = 2.0**-44
ALLOWANCE = 1e-6  # of delta, once: error of the final evaluation of ln delta, RESERVED included
# Of delta, part of ALLOWANCE and of every other margin: for noise that no generator returns.
RESERVED = 1e-15
LEVEL = 8  # units for each level of a fast transform
ANGLE = 8  # units for each kind of steps in the angle of a factor, more than 2 pi
ANGLES = 4  # kinds of steps that all else in a factor counts as
# Units for each kind of steps in the size of a product, more than at the cut of frequencies.
SIZE = 64
SIZES = 2  # kinds of steps that all else in a product counts as
TERM = 5  # units for each term of a tail's two sums
CHUNK = 512  # terms added by one product of matrices, in an unknown order


def factor_error(kinds: int, period: int) -> float:
    """Error of one factor of the transform, relative to the mass outside its fullest node.

    The fast transform errs on each of log2(period) levels. The power of a factor comes from its
    logarithm, whose imaginary part is a sum over the kinds of steps.
    """
    return (LEVEL * log2(period) + ANGLE * (kinds + ANGLES)) * UNIT


def step_error(q: FloatArray, rest: FloatArray) -> FloatArray:
    """Error of any divergence of one step without a tilt, for (L,) rates and masses outside the
    fullest node; (L,).

    A step shows q U, and U errs by some units. The fullest node takes the rest of the others, and
    so their errors.
    """
    return MASS * np.maximum(q, rest)


def product_error(kinds: int, frequencies: int) -> float:
    """Error of the product of all factors times the hockey stick, and of its sum over frequencies,
    relative to it.
    """
    return (SIZE * (kinds + SIZES) + CHUNK + frequencies / CHUNK) * UNIT


def inverse_error(period: int) -> float:
    """Error of an inverse transform in the 2-norm, relative to its result."""
    return LEVEL * log2(period) * UNIT


def tail_error(terms: int) -> float:
    """Error of the mass beyond a node, and of its difference to that under the other law, relative
    to that mass.
    """
    return TERM * terms * UNIT
