"""`python -m dpcore epsilon`: compute epsilon against steps, by every accountant."""

import argparse
import math
from typing import Any

from dpcore import check, commands
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve, Kind
from dpcore.privacy.mechanism import IntArray, Mechanism, horizons
from dpcore.privacy.report.numbers import outward, plain, raised
from dpcore.privacy.report.statement import proven_range
from dpcore.privacy.report.verdict import unavailable, verdict
from dpcore.privacy.sampling import FORMS, NOT_PROVEN, sampler_of
from dpcore.privacy.sampling.base import Poisson, banded, rounds_of
from dpcore.privacy.schedule import CONSTANT


def parser() -> commands.Parser:
    made = commands.parser_of("epsilon", "Compute epsilon by every accountant.")
    commands.add_mechanism(made)
    made.add_argument("--delta", type=commands.number, required=True, help=commands.DELTA)
    made.add_argument(
        "--points",
        type=commands.whole,
        help="number of steps at which --json gives epsilon (default 100)",
    )
    ids = f"{', '.join(ACCOUNTANTS)} (default: all); repeatable"
    made.add_argument("--accountant", action="append", metavar="ID", help=ids)
    made.add_argument(
        "--bands",
        type=commands.whole,
        help="bands b of a banded matrix mechanism, whose noise lasts b steps",
    )
    made.add_argument(
        "--sampler", metavar="NAME", help=f"how batches are drawn: {FORMS}. {NOT_PROVEN}"
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    names = list(dict.fromkeys(arguments.accountant or ACCOUNTANTS))
    for name in names:
        check.one_of(ACCOUNTANTS, accountant=name)
    mechanism = _charged(arguments)
    points = 100 if arguments.points is None else arguments.points
    check.whole(1, commands.MAX_POINTS, points=points)
    if not arguments.json:  # the table has the last point alone
        commands.refuse_idle(arguments, ("points",), "--json")
    steps = horizons(arguments.steps, points)
    rounds = rounds_of(steps, arguments.bands or 1)
    curves = {name: ACCOUNTANTS[name].curve(mechanism, rounds, arguments.delta) for name in names}
    drawn = _drawn(arguments, mechanism, steps)
    if arguments.json:
        values = _object(arguments, steps, curves)
        if drawn:
            adjacency = sampler_of(arguments.sampler).adjacency
            values["sampler"] = {"name": arguments.sampler, "adjacency": adjacency, **_curve(drawn)}
        commands.print_json(values)
    else:
        delta = plain(raised(arguments.delta))
        print(f"Epsilon after {arguments.steps:,} steps at delta = {delta}")
        print(_table(curves))
        if drawn:
            print(_line(arguments.sampler, drawn))
    return 0


def _charged(arguments: argparse.Namespace) -> Mechanism:
    """Return the mechanism; with --bands that of a DP-SGD with the same cost."""
    mechanism = commands.mechanism_of(arguments)
    if arguments.bands is None:
        return mechanism
    if arguments.sampler or commands.recipe_of(arguments) != CONSTANT:
        raise ValueError(
            f"Expected no --sampler and no --schedule with --bands {arguments.bands}: nothing is"
            " proven."
        )
    return banded(arguments.q, arguments.sigma, arguments.steps, arguments.bands)


def _drawn(arguments: argparse.Namespace, mechanism: Mechanism, steps: IntArray) -> Curve | None:
    """Return the bounds for the batches of --sampler, if it is given."""
    if arguments.sampler is None:
        return None
    sampler = sampler_of(arguments.sampler)
    if arguments.sampler == Poisson.name:
        return ACCOUNTANTS[CERTIFIED].curve(mechanism, steps, arguments.delta)
    if commands.recipe_of(arguments) != CONSTANT:
        raise ValueError(
            f"Expected no --schedule with --sampler {arguments.sampler}: only constant noise is"
            " proven."
        )
    return sampler.curve(arguments.q, arguments.sigma, steps, arguments.delta)


def _line(name: str, drawn: Curve) -> str:
    """Return the proven range after the last step, with its sampler and adjacency."""
    other = ""
    if name != Poisson.name:
        other = "The numbers above do not hold: they are for Poisson batches, add/remove. "
    proven = proven_range(sampler_of(name), drawn.last).replace("*", "")
    return f"\n{other}{proven} {drawn.last.note}".rstrip()


def _object(
    arguments: argparse.Namespace, steps: IntArray, curves: dict[str, Curve]
) -> dict[str, Any]:
    values = commands.mechanism_given(arguments)
    if arguments.bands is not None:
        values["bands"] = arguments.bands
    values["delta"] = arguments.delta
    values["steps"] = steps.tolist()
    values["accountants"] = {name: _curve(curve) for name, curve in curves.items()}
    return values


def _curve(curve: Curve) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": str(curve.kind), "epsilon": curve.epsilon.tolist()}
    if curve.lower is not None:
        values["lower"] = curve.lower.tolist()
    if curve.note or math.inf in values["epsilon"]:
        values["note"] = curve.note or "null: no finite epsilon"
    return values


def _table(curves: dict[str, Curve]) -> str:
    """Return a line for each accountant: epsilon after the last step, its kind, and the verdict.

    The verdict needs a certified band.
    """
    band = next((curve for curve in curves.values() if curve.kind is Kind.CERTIFIED), None)
    lines = []
    for name, curve in curves.items():
        last = float(curve.epsilon[-1])
        words = curve.note
        if band:
            words = verdict(curve, band).text
        elif not math.isfinite(last):
            words = unavailable(curve.note)
        number = outward(last, math.ceil)
        if math.isinf(last) and curve.last.lower:
            number = f"≥ {outward(curve.last.lower, math.floor)}"
        lines.append(f"{name:<8} {number:>12}  {curve.kind:<11} {words}".rstrip())
    return "\n".join(lines)
