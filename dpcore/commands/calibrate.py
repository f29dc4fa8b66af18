"""`python -m dpcore calibrate`: find the sigma, steps, sampling rate or batch for a budget."""

import argparse
from typing import Any

from dpcore import check, commands
from dpcore.commands import (
    DELTA,
    NOISE,
    RATE,
    Parser,
    add_schedule,
    number,
    parser_of,
    recipe_of,
    refuse_idle,
    whole,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import NEEDED, SOLVABLE, Answer, solve, verdict_on
from dpcore.privacy.calibration.targets import EpsilonTarget, Target, target_of
from dpcore.privacy.report.numbers import plain, raised
from dpcore.privacy.report.verdict import Verdict


def parser() -> Parser:
    made = parser_of("calibrate", "Find the sigma, steps, sampling rate or batch for a budget.")
    made.add_argument(
        "--solve", required=True, metavar="WHAT", help=f"what to find: {', '.join(SOLVABLE)}"
    )
    made.add_argument(
        "--target-epsilon", type=number, metavar="E", help="largest epsilon at --delta"
    )
    made.add_argument(
        "--target-advantage",
        type=number,
        metavar="A",
        help="largest max(TPR - FPR), between 0 and 1",
    )
    made.add_argument(
        "--target-mu",
        type=number,
        metavar="MU",
        help="largest mu, for error rates of at least --delta",
    )
    made.add_argument("--delta", type=number, help=f"{DELTA}; not with --target-advantage")
    made.add_argument("--q", type=number, help=RATE)
    made.add_argument("--sigma", type=number, help=f"{NOISE}; the first of a schedule")
    made.add_argument("--steps", type=whole, help="number of steps T")
    made.add_argument(
        "--examples",
        type=whole,
        help="number of examples n, for a batch or for a warning if delta >= 1/n",
    )
    made.add_argument(
        "--accountant",
        default=CERTIFIED,
        metavar="ID",
        help=f"{', '.join(ACCOUNTANTS)} (default {CERTIFIED})",
    )
    commands.add_best_of(made)
    add_schedule(made)
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    check.one_of(SOLVABLE, solve=arguments.solve)
    sizes = {
        "epsilon": arguments.target_epsilon,
        "advantage": arguments.target_advantage,
        "mu": arguments.target_mu,
    }
    target = target_of(sizes, arguments.delta, arguments.runs, commands.option)
    for name in NEEDED[arguments.solve]:
        if getattr(arguments, name) is None:
            raise ValueError(f"Expected {commands.option(name)} with --solve {arguments.solve}.")
    _refuse_idle(arguments, target)
    answer = solve(
        arguments.solve,
        target,
        recipe=recipe_of(arguments),
        q=arguments.q,
        sigma=arguments.sigma,
        steps=arguments.steps,
        examples=arguments.examples,
        accountant=arguments.accountant,
    )
    judged = verdict_on(answer)
    if arguments.json:
        commands.print_json(_object(answer, judged))
    else:
        print("\n".join(_lines(answer, judged)))
    return 0


def _refuse_idle(arguments: argparse.Namespace, target: Target) -> None:
    """Raise ValueError for an option that the question does not need, or that is its answer."""
    solved = "q" if arguments.solve == "batch" else arguments.solve
    if getattr(arguments, solved) is not None:
        raise ValueError(f"Expected no --{solved} with --solve {arguments.solve}, which finds it.")
    if target.at is None:
        refuse_idle(arguments, ("delta",), "a target epsilon or mu")
    if not isinstance(target, EpsilonTarget) and arguments.runs is not None:
        raise ValueError("Expected no --best-of without --target-epsilon: it would change nothing.")
    if arguments.solve != "batch" and not isinstance(target, EpsilonTarget):
        refuse_idle(arguments, ("examples",), "a target epsilon, or --solve batch")


def _object(answer: Answer, judged: Verdict) -> dict[str, Any]:
    target = answer.target
    reading = answer.reading
    first = answer.mechanism.releases[0]
    values: dict[str, Any] = {
        "solve": answer.solved,
        "answer": answer.value,
        "beyond": answer.beyond,
        "target": {target.word: target.size},
        "accountant": answer.accountant,
        "kind": str(reading.kind),
        target.word: reading.value,
    }
    if target.at is not None:
        values["delta"] = target.at
    runs = getattr(target, "runs", None)
    if runs:
        values["best_of"] = runs.text
    if reading.lower is not None:
        values["lower"] = reading.lower
    values |= {"q": first.q, "sigma": first.sigma, "steps": answer.mechanism.steps}
    values["verdict"] = {"status": str(judged.worth), "text": judged.text}
    values["note"] = " ".join(answer.notes)
    return values


def _lines(answer: Answer, judged: Verdict) -> list[str]:
    target = answer.target
    spent = f"{target.word} = {answer.spent:.10g}"
    if target.at is not None:
        spent += f" at delta = {plain(raised(target.at))}"
    spent += f", within the target of {target.size:.10g}"
    how = f"({answer.accountant}, {answer.reading.kind})"
    if answer.beyond is not None:
        how += f"; {answer.solved} = {answer.beyond:.10g} overshoots"
    return [
        f"{answer.solved} = {answer.value:.10g}",
        f"{spent} {how}.",
        judged.text,
        *answer.notes,
    ]
