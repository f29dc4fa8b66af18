"""Sums of squares in float32, and bounds of their rounding errors, which clipping allows for."""

import math
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

# Half the distance from 1 to the next float32, the largest relative error of one operation.
UNIT = 2.0**-24
# Too small to matter in a squared norm, and above the loss by underflow divided by UNIT.
TINY = 2.0**-80
WHOLE = 1024  # terms that are added up at once; longer rows are added up in blocks
TERMS_AT_ONCE = 4096  # terms of a product of rows at once; shorter pieces take a third more time


def row_sums(rows: Tensor) -> Tensor:
    """The sum of each row, (B, n) -> (B,), with about 2 sqrt(n) additions at most for a number."""
    size = block(rows.shape[1])
    if size == rows.shape[1]:
        return rows.sum(1)
    whole = rows.shape[1] // size * size
    sums = rows[:, :whole].unflatten(1, (-1, size)).sum(2)
    return torch.cat([sums, rows[:, whole:].sum(1, keepdim=True)], 1).sum(1)


def squared_norms(rows: Tensor, weights: Tensor | None = None) -> Tensor:
    """The squared L2 norm of each row, every square times its weight: (B, ...) -> (B,)."""
    rows = rows.flatten(1)
    if weights is not None:
        return row_sums(rows.square().mul_(weights.flatten()))
    size = block(rows.shape[1])
    if size == rows.shape[1]:
        return torch.linalg.vector_norm(rows, dim=1).square()
    missing = -rows.shape[1] % size
    if missing:
        rows = F.pad(rows, (0, missing))
    parts = rows.unflatten(1, (-1, size))
    return row_sums(torch.linalg.vector_norm(parts, dim=2).square())


def gram(rows: Tensor) -> Tensor:
    """The products of the rows of each matrix with one another: (B, K, n) -> (B, K, K)."""
    first, *others = rows.split(TERMS_AT_ONCE, 2)
    products = torch.bmm(first, first.mT)
    for part in others:
        products.baddbmm_(part, part.mT)
    return products


def raised(products: Tensor, lengths: Tensor, operations: int) -> Tensor:
    """The squared norm of a sum of K vectors, raised by the most that rounding can take: (B, K, K),
    (B, K) -> (B,).

    `products` are those of the vectors with one another, each after at most `operations`
    operations; `lengths` are the vectors' lengths. **Guarantees:** the root is at least the norm of
    the sum of real numbers, and of the sum that float32 makes of its terms times a factor (the
    theorem of README.md). Edge cases: overflow is infinite.
    """
    views = lengths.shape[1]
    error = relative_error(operations + 4 * views + 14)
    squares = products.sum(2).sum(1) + lengths.sum(1).square_().mul_(error / (1 - error))
    return squares.nan_to_num_(math.inf, math.inf, math.inf)  # inf - inf


def longest_norms(rows: Tensor) -> Tensor:
    """The L2 norm of each row (B, n), raised by the most that rounding can lower it: (B,)."""
    return (squared_norms(rows) / (1 - relative_error(operations(rows.shape[1])))).sqrt()


@lru_cache
def block(terms: int) -> int:
    """The block size for a sum of `terms` numbers: all of them, or about the root of their number.

    A block that divides the row leaves no rest, so that rows need no padding.

    >>> block(784), block(8192), block(795_010)
    (784, 128, 1070)
    """
    if terms <= WHOLE:
        return terms
    root = math.ceil(math.sqrt(terms))
    return next((size for size in range(root, 2 * root) if terms % size == 0), root)


def operations(terms: int) -> int:
    """The most rounded operations between a number and a sum of `terms` by `row_sums` or
    `squared_norms`.

    Two are for a square and its weight, three for the root in `vector_norm` and its square.

    >>> operations(784), operations(795_010)
    (789, 1819)
    """
    size = block(terms)
    if size == terms:
        return 5 + size
    return 5 + size + math.ceil(terms / size) + 1


def most_operations(terms: int) -> int:
    """The maximum of `operations`, which is not monotone, over all numbers of terms up to `terms`.

    >>> most_operations(30), most_operations(40_000), most_operations(999_999)
    (35, 1029, 3006)
    """
    if terms <= WHOLE:
        return operations(terms)
    root = math.ceil(math.sqrt(terms))
    # Blocks have from root to 2 root terms.
    return max(operations(WHOLE), 5 + 2 * root + root + 1)


def gram_operations(terms: int) -> int:
    """The most rounded operations between a number and a product of two rows of `terms` by `gram`.

    >>> gram_operations(784), gram_operations(40_000)
    (784, 4105)
    """
    return min(terms, TERMS_AT_ONCE) + math.ceil(terms / TERMS_AT_ONCE) - 1


def relative_error(operations: int) -> float:
    """The largest relative error of a sum of positive numbers.

    Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", Lemma 3.1: gamma_n = n u
    / (1 - n u), for every order of the sum, with or without fused operations.

    >>> relative_error(1000) < 6e-5
    True
    """
    return operations * UNIT / (1 - operations * UNIT)
