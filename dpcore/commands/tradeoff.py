"""`python -m dpcore tradeoff`: compute the certified trade-off function and the attack risks."""

import argparse
import math
from typing import Any

import numpy as np

from dpcore import check, commands
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.report.attack_risk import Risks, risks_of
from dpcore.privacy.report.numbers import placed
from dpcore.privacy.report.statement import statement
from dpcore.privacy.tradeoff import Gaussian


def parser() -> commands.Parser:
    made = commands.parser_of(
        "tradeoff", "Compute the certified trade-off function and the attack risks."
    )
    commands.add_mechanism(made)
    made.add_argument(
        "--delta", type=commands.number, default=1e-5, help=f"{commands.DELTA} (default 1e-5)"
    )
    made.add_argument(
        "--examples",
        type=commands.whole,
        help="number of examples n, for a warning if delta >= 1/n",
    )
    made.add_argument(
        "--points",
        type=commands.whole,
        help="number of alphas at which --json gives beta (default 101)",
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    mechanism = commands.mechanism_of(arguments)
    check.delta(delta=arguments.delta)
    if arguments.examples is not None:
        check.whole(1, examples=arguments.examples)
    points = 101 if arguments.points is None else arguments.points
    check.whole(2, commands.MAX_POINTS, points=points)
    if arguments.json:
        commands.refuse_idle(arguments, ("examples",), "the statement, which --json leaves out")
    else:
        commands.refuse_idle(arguments, ("points",), "--json")
    band = tradeoff_bounds(mechanism)
    found = risks_of(band, arguments.delta)
    if arguments.json:
        commands.print_json(_object(arguments, points, band, found))
        return 0
    accountant = ACCOUNTANTS[CERTIFIED]
    curve = accountant.curve(mechanism, [mechanism.steps], arguments.delta)
    made = statement(mechanism, curve, accountant, found, arguments.examples)
    print(_table(band), made.text(), sep="\n\n", end="")
    return 0


def _object(arguments: argparse.Namespace, points: int, band: Band, found: Risks) -> dict[str, Any]:
    alpha = np.linspace(0, 1, points)
    mu = mu_of(commands.mechanism_of(arguments))
    certified = {
        "kind": "certified",
        "lower": band.lower.beta(alpha).tolist(),
        "upper": band.upper.beta(alpha).tolist(),
    }
    if band.note:
        certified["note"] = band.note
    rates = found.true_positives.items()
    return commands.mechanism_given(arguments) | {
        "steps": arguments.steps,
        "delta": arguments.delta,
        "alpha": alpha.tolist(),
        "certified": certified,
        "gdp": {"kind": "approximate", "mu": mu, "beta": Gaussian(mu).beta(alpha).tolist()},
        "risks": {
            "advantage": found.advantage._asdict(),
            "error": found.error._asdict(),
            "true_positives": {f"{rate:g}": bounds._asdict() for rate, bounds in rates},
            "mu": {**found.mu._asdict(), "least": found.least},
            "posterior": found.sure,
        },
    }


def _table(band: Band) -> str:
    """Return the band at a few alphas."""
    alpha = np.array([1e-4, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9])
    lines = [f"{'alpha':>8} {'beta, at least':>16} {'at most':>10}"]
    for a, low, high in zip(alpha, band.lower.beta(alpha), band.upper.beta(alpha), strict=True):
        lines.append(f"{a:>8g} {placed(low, math.floor, 6):>16} {placed(high, math.ceil, 6):>10}")
    return "\n".join(lines)
