"""Warnings that hold whatever the accountant: what epsilon does not cover, and a delta that is too large."""

from collections.abc import Sequence

from dpcore.privacy.report.numbers import plain

NOT_COVERED = (
    "The losses and clipped shares shown are exact figures of the training data, and on a GPU what a run says of a "
    "recorded step depends on them, too: epsilon does not cover publishing either, it is the price of releasing the "
    "model."
)


def seed_warning(seeds: Sequence[int]) -> str:
    """What a fixed seed takes from epsilon, or fixed seeds do; "" where there is none.

    >>> seed_warning([3])[:58], seed_warning([])
    ('The seed is fixed (3): epsilon holds only for those who do', '')
    """
    if not seeds:
        return ""
    listed = ", ".join(map(str, seeds[:4])) + (", ..." if len(seeds) > 4 else "")
    fixed, it = ("seed is", "it") if len(seeds) == 1 else ("seeds are", "them")
    return (
        f"The {fixed} fixed ({listed}): epsilon holds only for those who do not know {it}, for whoever does can draw "
        "the noise again and subtract it."
    )


def delta_warning(delta: float, n: float | None) -> str:
    """Why a delta of 1/n or more protects nobody; "" where delta is smaller, or the number n of examples unknown.

    >>> delta_warning(0.001, 1000)[:61], delta_warning(1e-5, 1000), delta_warning(0.1, None)
    ('delta = 0.001 is not below 1/n = 0.001: publishing one record', '', '')
    """
    if n is None or delta * n < 1:
        return ""
    return (
        f"delta = {plain(delta)} is not below 1/n = {plain(1 / n)}: publishing one record outright would pass as "
        "private. Choose a smaller delta."
    )
