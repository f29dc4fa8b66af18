"""The sub-commands of `python -m dpcore`: one module each, with `parser()` and `run(arguments) -> exit status`."""

import argparse
import math
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ValueErrors, so that the dispatcher reports all bad input alike."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print and exit with."""
        raise ValueError(f"{message[:1].upper()}{message[1:]}")


def number(text: str) -> float:
    """A finite number from the command line.

    >>> number("1e-5")
    1e-05
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected {text!r} to be a finite number")
    return value


def whole(text: str) -> int:
    """A whole number from the command line; 1e4 is one.

    >>> whole("1e4")
    10000
    """
    value = number(text)
    if value != math.floor(value):
        raise argparse.ArgumentTypeError(f"expected {text!r} to be a whole number")
    return int(value)
