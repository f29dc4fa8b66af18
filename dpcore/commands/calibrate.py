"""`python -m dpcore calibrate`: the sigma, steps, sampling rate or batch that keeps a budget."""

import argparse
import json
from typing import Any

from dpcore import check
from dpcore.commands import Parser, add_schedule, number, recipe_of, refuse_idle, whole
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import NEEDED, SOLVABLE, Answer, solve, verdict_on
from dpcore.privacy.calibration.targets import AdvantageTarget, EpsilonTarget, MuTarget, Target
from dpcore.privacy.report.numbers import raised
from dpcore.privacy.report.verdict import Verdict


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        prog="python -m dpcore calibrate", description="The sigma, steps, sampling rate or batch that keeps a budget."
    )
    made.add_argument("--solve", required=True, metavar="WHAT", help=f"one of {', '.join(SOLVABLE)}")
    made.add_argument("--target-epsilon", type=number, metavar="E", help="at most this epsilon at --delta")
    made.add_argument("--target-advantage", type=number, metavar="A", help="at most this max(TPR - FPR), in (0, 1)")
    made.add_argument("--target-mu", type=number, metavar="MU", help="at most this mu, at error rates from --delta up")
    made.add_argument("--delta", type=number, help="delta, in (0, 1); an advantage needs none")
    made.add_argument("--q", type=number, help="Poisson sampling rate, in (0, 1]")
    made.add_argument("--sigma", type=number, help="noise multiplier: noise std / L2 sensitivity; a schedule's first")
    made.add_argument("--steps", type=whole, help="T, the number of steps")
    made.add_argument("--examples", type=whole, help="n: needed for a batch, otherwise to warn of delta >= 1/n")
    made.add_argument("--accountant", default=CERTIFIED, metavar="ID", help=f"one of {', '.join(ACCOUNTANTS)}")
    add_schedule(made)
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; exit status 0."""
    check.one_of(SOLVABLE, solve=arguments.solve)
    target = _target(arguments)
    for name in NEEDED[arguments.solve]:
        _needed(arguments, name, f"to solve {arguments.solve}")
    _refuse_idle(arguments, target)
    known = {name: getattr(arguments, name) for name in ("q", "sigma", "steps", "examples", "accountant")}
    answer = solve(arguments.solve, target, recipe=recipe_of(arguments), **known)
    judged = verdict_on(answer)
    if arguments.json:
        print(json.dumps(_object(answer, judged), allow_nan=False))
    else:
        print("\n".join(_lines(answer, judged)))
    return 0


def _target(arguments: argparse.Namespace) -> Target:
    given = [name for name in ("epsilon", "advantage", "mu") if getattr(arguments, f"target_{name}") is not None]
    if len(given) != 1:
        found = " and ".join(f"--target-{name}" for name in given) or "none"
        raise ValueError(f"Expected one of --target-epsilon, --target-advantage and --target-mu, found {found}.")
    if given == ["advantage"]:
        return AdvantageTarget(arguments.target_advantage)
    _needed(arguments, "delta", f"with --target-{given[0]}")
    if given == ["mu"]:
        return MuTarget(arguments.target_mu, arguments.delta)
    return EpsilonTarget(arguments.target_epsilon, arguments.delta)


def _needed(arguments: argparse.Namespace, name: str, why: str) -> None:
    if getattr(arguments, name) is None:
        raise ValueError(f"Expected --{name} to be given {why}.")


def _refuse_idle(arguments: argparse.Namespace, target: Target) -> None:
    """Raise ValueError for an option that the question does not ask for, or that is its answer."""
    solved = "q" if arguments.solve == "batch" else arguments.solve
    if getattr(arguments, solved) is not None:
        raise ValueError(f"Expected no --{solved} with --solve {arguments.solve}: it is what is solved.")
    if target.at is None:
        refuse_idle(arguments, ("delta",), "a target epsilon or mu")
    if arguments.solve != "batch" and not isinstance(target, EpsilonTarget):
        refuse_idle(arguments, ("examples",), "a target epsilon, or --solve batch")


def _object(answer: Answer, judged: Verdict) -> dict[str, Any]:
    target, reading, first = answer.target, answer.reading, answer.mechanism.releases[0]
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
    if reading.lower is not None:
        values["lower"] = reading.lower
    values |= {"q": first.q, "sigma": first.sigma, "steps": answer.mechanism.steps}
    values["verdict"] = {"status": str(judged.worth), "text": judged.text}
    values["note"] = " ".join(answer.notes)
    return values


def _lines(answer: Answer, judged: Verdict) -> list[str]:
    """The answer, what it spends and what kind of number that is, its verdict, its notes."""
    target, reading = answer.target, answer.reading
    delta = "" if target.at is None else f" at delta={raised(target.at):g}"
    beyond = "" if answer.beyond is None else f"; {answer.solved}={answer.beyond:.10g} overshoots"
    return [
        f"{answer.solved} = {answer.value:.10g}",
        f"{target.word}={answer.spent:.10g} of {target.size:.10g}{delta} ({answer.accountant}, {reading.kind}){beyond}",
        judged.text,
        *answer.notes,
    ]
