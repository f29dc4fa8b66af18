"""Read the number of repeats from the command line of a benchmark."""

import argparse

from dpcore.commands import whole


def repeats(text: str) -> int:
    """Read a whole number of at least 1, since there is no median of nothing."""
    count = whole(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, not {count}")
    return count
