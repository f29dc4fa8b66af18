"""Commands of `python -m dpcore`: one module each, with `parser()` and `run(arguments)`.

`run` returns the exit status.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NoReturn, TypeVar

from dpcore import check as argument_checks  # there is a command check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import finite
from dpcore.privacy.schedule import CONSTANT, SCHEDULES, Recipe
from dpcore.privacy.selection.best_of import FORMS, read_runs
from dpcore.written_number import read_number, read_whole

T = TypeVar("T")
RATE = "Poisson sampling rate, above 0 and at most 1"
NOISE = "noise multiplier: standard deviation of the noise / L2 sensitivity"
DELTA = "delta, between 0 and 1"
MAX_POINTS = 10_000  # of a printed curve


class Parser(argparse.ArgumentParser):
    """An argument parser that raises ValueError, so that all bad input is reported alike."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as a sentence, where argparse would print it and exit."""
        raise ValueError(f"{message[:1].upper()}{message[1:].rstrip('.')}.")


def parser_of(command: str, about: str) -> Parser:
    """Make the parser of a command of `python -m dpcore`."""
    return Parser(prog=f"python -m dpcore {command}", description=about)


def number(text: str) -> float:
    """Read a finite number.

    >>> number("1e-5"), number("10^-5")
    (1e-05, 1e-05)
    """
    return float(_read(read_number, text))


def whole(text: str) -> int:
    """Read a whole number, also one such as 1e4.

    >>> whole("1e4"), whole("60,000")
    (10000, 60000)
    """
    return _read(read_whole, text)


def _read(reader: Callable[[str], T], text: str) -> T:
    try:
        return reader(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"e{str(error)[1:]}") from None


def print_json(values: Any) -> None:
    """Print as JSON, with null for NaN and infinity."""
    print(json.dumps(finite(values), allow_nan=False), flush=True)


def add_best_of(parser: Parser) -> None:
    about = f"epsilon is to cover the choice of the best of so many runs: {FORMS}"
    parser.add_argument(
        "--best-of", dest="runs", type=partial(_read, read_runs), metavar="K", help=about
    )


def add_mechanism(parser: Parser) -> None:
    """Add --q, --sigma, --steps and the schedule's options."""
    parser.add_argument("--q", type=number, required=True, help=RATE)
    parser.add_argument("--sigma", type=number, required=True, help=NOISE)
    parser.add_argument("--steps", type=whole, required=True, help="number of steps T")
    add_schedule(parser)


def add_schedule(parser: Parser) -> None:
    """Add --schedule, --rate and --level-steps."""
    names = ", ".join(SCHEDULES)
    parser.add_argument(
        "--schedule", default="constant", metavar="NAME", help=f"noise schedule: {names}"
    )
    parser.add_argument(
        "--rate", type=number, help="rate of the schedule; every schedule but constant needs one"
    )
    parser.add_argument(
        "--level-steps", type=whole, help="steps between changes of sigma (default: an epoch)"
    )


def option(name: str) -> str:
    """Return the option of a setting.

    >>> option("clip_norm")
    '--clip-norm'
    """
    return f"--{name.replace('_', '-')}"


def refuse_idle(arguments: argparse.Namespace, names: Iterable[str], needed: str) -> None:
    """Raise ValueError if one of the options was given, which changes nothing without `needed`."""
    for name in names:
        if getattr(arguments, name) is not None:
            raise ValueError(
                f"Expected no {option(name)} without {needed}: it would change nothing."
            )


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Return the noise schedule.

    Errors: ValueError for an option that is wrong or would change nothing.
    """
    argument_checks.one_of(SCHEDULES, schedule=arguments.schedule)
    if SCHEDULES[arguments.schedule].rate is None:
        refuse_idle(arguments, ("rate", "level_steps"), "a schedule that changes sigma")
    elif arguments.rate is None:
        raise ValueError(f"Expected --rate with --schedule {arguments.schedule}.")
    recipe = Recipe(arguments.schedule, arguments.rate or 0.0, arguments.level_steps or 0)
    if recipe.name != CONSTANT.name and not SCHEDULES[recipe.name].changes_sigma(recipe.rate):
        raise ValueError(
            f"Expected no --schedule {recipe.name} with --rate {recipe.rate:g}: it would change"
            " nothing."
        )
    return recipe


def mechanism_of(arguments: argparse.Namespace) -> Mechanism:
    """Return the mechanism of the arguments. Errors: ValueError for a wrong one."""
    argument_checks.whole(1, MAX_STEPS, steps=arguments.steps)
    return recipe_of(arguments).mechanism(arguments.q, arguments.sigma, arguments.steps)


def mechanism_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return q, sigma and a schedule that changes sigma, for JSON."""
    given = {"q": arguments.q, "sigma": arguments.sigma}
    recipe = recipe_of(arguments)
    if recipe != CONSTANT:
        given["schedule"] = recipe.name
        given["rate"] = recipe.rate
        given["level_steps"] = recipe.level_steps
    return given
