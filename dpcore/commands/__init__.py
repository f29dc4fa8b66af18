"""The sub-commands of `python -m dpcore`: one module each, with `parser()` and `run(arguments) -> exit status`."""

import argparse
import math
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from dpcore import check as argument_checks  # a command of this room has the name check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import CONSTANT, SCHEDULES, Recipe
from dpcore.written_number import read_number, read_whole

T = TypeVar("T")
MAX_POINTS = 10_000  # of a curve that is printed


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ValueErrors, so that the dispatcher reports all bad input alike."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print and exit with."""
        raise ValueError(f"{message[:1].upper()}{message[1:]}")


def number(text: str) -> float:
    """A finite number from the command line.

    >>> number("1e-5"), number("10^-5")
    (1e-05, 1e-05)
    """
    return float(_read(read_number, text))


def whole(text: str) -> int:
    """A whole number from the command line; 1e4 is one.

    >>> whole("1e4"), whole("60,000")
    (10000, 60000)
    """
    return _read(read_whole, text)


def _read(reader: Callable[[str], T], text: str) -> T:
    try:
        return reader(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"e{str(error)[1:].rstrip('.')}") from None


def finite(value: float) -> float | None:
    """The value as JSON has it: null stands for infinity.

    >>> finite(0.5), finite(math.inf)
    (0.5, None)
    """
    return value if math.isfinite(value) else None


def add_mechanism(parser: Parser) -> None:
    """Add --q, --sigma, --steps and the schedule's options."""
    parser.add_argument("--q", type=number, required=True, help="Poisson sampling rate, in (0, 1]")
    parser.add_argument("--sigma", type=number, required=True, help="noise multiplier: noise std / L2 sensitivity")
    parser.add_argument("--steps", type=whole, required=True, help="T, the number of steps")
    add_schedule(parser)


def add_schedule(parser: Parser) -> None:
    """Add --schedule, --rate and --level-steps."""
    parser.add_argument("--schedule", default="constant", metavar="NAME", help=f"one of {', '.join(SCHEDULES)}")
    parser.add_argument("--rate", type=number, help="the schedule's rate, which every schedule but the constant needs")
    parser.add_argument("--level-steps", type=whole, help="steps between changes of sigma (default: an epoch)")


def refuse_idle(arguments: argparse.Namespace, names: Iterable[str], needed: str) -> None:
    """Raise ValueError if one of the options was given, which would change nothing for want of what is `needed`."""
    for name in names:
        if getattr(arguments, name) is not None:
            raise ValueError(f"Expected no --{name.replace('_', '-')} without {needed}: it would change nothing.")


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """How sigma changes, as the arguments say; ValueError says which of them is wrong, or would change nothing."""
    argument_checks.one_of(SCHEDULES, schedule=arguments.schedule)
    if SCHEDULES[arguments.schedule].rate is None:
        refuse_idle(arguments, ("rate", "level_steps"), "a schedule that changes sigma")
    elif arguments.rate is None:
        raise ValueError(f"Expected --rate to be given with --schedule {arguments.schedule}.")
    recipe = Recipe(arguments.schedule, arguments.rate or 0.0, arguments.level_steps or 0)
    if recipe.name != CONSTANT.name and not SCHEDULES[recipe.name].changes_sigma(recipe.rate):
        raise ValueError(f"Expected no --schedule {recipe.name} with --rate {recipe.rate:g}: it would change nothing.")
    return recipe


def mechanism_of(arguments: argparse.Namespace) -> Mechanism:
    """The mechanism that the arguments name; ValueError says which of them is wrong."""
    argument_checks.whole(1, MAX_STEPS, steps=arguments.steps)
    return recipe_of(arguments).mechanism(arguments.q, arguments.sigma, arguments.steps)


def mechanism_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """q, sigma and the schedule, as JSON shows them."""
    found: dict[str, Any] = {"q": arguments.q, "sigma": arguments.sigma}
    recipe = recipe_of(arguments)
    if recipe != CONSTANT:
        found |= {"schedule": recipe.name, "rate": recipe.rate, "level_steps": recipe.level_steps}
    return found
