"""python -m dpcore perturb: private learning of two classes, with noise at one place of learning or at several."""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

from dpcore import check
from dpcore.commands import Parser, number, whole
from dpcore.data.tabular import TABLES
from dpcore.privacy.report.numbers import percent, plain
from dpcore.runs.kinds import event_to_json
from dpcore.training.perturbation.comparison import compare
from dpcore.training.perturbation.events import Event, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS, Protection
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import ADJACENCY, NEIGHBOURS

SINGLE = Request()
PUBLISHED = "Each fit of each method spends its epsilon anew; accuracies and gaps are exact figures that none covers."


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        prog="python -m dpcore perturb",
        description="Learn two classes with noise in output, objective, gradients or inputs; accuracy and gap to L*.",
    )
    made.add_argument("--dataset", default=SINGLE.dataset, metavar="ID", help=f"one of {', '.join(TABLES)}")
    made.add_argument("--classes", metavar="A,B", help="two classes of the data set, or one and 'rest'")
    made.add_argument("--model", default=SINGLE.model, metavar="ID", help=f"one of {', '.join(MODELS)}")
    made.add_argument("--method", action="append", metavar="ID", help=f"one of {', '.join(METHODS)}; repeatable")
    made.add_argument("--epsilon", action="append", type=number, help="of each fit; repeatable")
    made.add_argument("--delta", type=number, default=SINGLE.delta, help=f"delta (default {SINGLE.delta:g})")
    made.add_argument("--seeds", type=whole, default=SINGLE.seeds, metavar="COUNT", help="fits of each method")
    made.add_argument("--seed", type=whole, help="a fixed seed: noise that anybody who knows it can draw again")
    made.add_argument("--steps", type=whole, default=SINGLE.steps, metavar="T", help="steps of gradient descent")
    made.add_argument("--rate", type=number, help="step size (default: 2 / (smoothness + strong convexity))")
    made.add_argument("--regulariser", type=number, default=SINGLE.regulariser, help="of (regulariser/2) |theta|^2")
    made.add_argument("--clip-norm", type=number, default=SINGLE.clip_norm, help="G of a model that must be clipped")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Fit and print; exit status 0."""
    request = request_of(arguments)
    events = compare(request)
    if arguments.json:
        print(json.dumps(summary(request, events), allow_nan=False))
        return 0
    said: set[str] = set()
    for event in events:
        for line in lines_of(request, event, said):
            print(line, flush=True)
    print(PUBLISHED)
    return 0


def request_of(arguments: argparse.Namespace) -> Request:
    """The comparison that the arguments name; ValueError says which of them is wrong."""
    for name in arguments.method or ():
        check.one_of(METHODS, method=name)
    names = ("dataset", "model", "delta", "seeds", "seed", "steps", "rate", "regulariser", "clip_norm")
    return Request(
        classes=() if arguments.classes is None else tuple(arguments.classes.split(",")),
        methods=tuple(arguments.method or METHODS),
        epsilons=tuple(SINGLE.epsilons if arguments.epsilon is None else arguments.epsilon),
        **{name: getattr(arguments, name) for name in names},
    )


def summary(request: Request, events: Iterable[Event]) -> dict[str, Any]:
    """All events as one JSON object: what was asked for, the data, and a result for each method and epsilon."""
    prepared: dict[str, Any] = {}
    results = []
    for event in events:
        if isinstance(event, Prepared):
            prepared = event_to_json(event)
            del prepared["event"]
        elif isinstance(event, Measured):
            results.append(_result(event))
        elif isinstance(event, Skipped):
            results.append({"method": event.method, "epsilon": None, "asked": event.epsilon, "reason": event.reason})
    asked = {"request": request.to_json(), "adjacency": ADJACENCY}
    return {**asked, "data": prepared, "results": results, "note": PUBLISHED}


def _result(event: Measured) -> dict[str, Any]:
    method = METHODS[event.method]
    return {
        "method": event.method,
        "kind": str(method.kind),
        "epsilon": event.epsilon if event.private else None,  # null: nothing keeps it
        "asked": event.epsilon,
        "noise": event.noise,
        "unit": method.unit,
        "accuracy": fmean(event.accuracies),
        "accuracies": event.accuracies,
        "gap": fmean(event.gaps),
        "gaps": event.gaps,
        "obstacles": event.obstacles,
    }


def lines_of(request: Request, event: Event, said: set[str]) -> list[str]:
    """What is printed of an event; sentences that were said are not said again, and those that are now are added."""
    if isinstance(event, Prepared):
        known = (
            f"{event.examples} rows to learn from, {event.tests} to test on, {event.parameters} parameters; "
            f"without noise accuracy {percent(event.best_accuracy)}, L* = {event.best_loss:.4f}; "
            f"blind guessing {percent(event.majority)}."
        )
        promise = f"delta = {request.delta:g}; {NEIGHBOURS}."
        return [known, promise, *event.notes, f"{'method':<12}{'epsilon':>9}{'noise':>10}{'accuracy':>18}{'gap':>21}"]
    if isinstance(event, Skipped):
        at = "" if event.epsilon is None else f"at epsilon {event.epsilon:g}: "
        return [f"{event.method:<12}{'n/a':>9}  {at}{event.reason}"]
    if not isinstance(event, Measured):
        return []
    new = [each for each in event.obstacles if each not in said]
    said.update(new)
    return [_measured(event), *(f"{'':<12}{each}" for each in new)]


def _measured(event: Measured) -> str:
    asked = event.epsilon is not None
    kept = plain(event.epsilon) if event.epsilon is not None and event.private else "none"
    end = f"not private at the epsilon asked for, {event.epsilon:g}" if asked and not event.private else ""
    end = "local" if METHODS[event.method].kind is Protection.LOCAL and event.private else end
    figures = f"{event.noise:>10.3g}{_spread(event.accuracies, percent):>18}{_spread(event.gaps, _short):>21}"
    return f"{event.method:<12}{kept:>9}{figures}  {end}".rstrip()


def _spread(values: Sequence[float], told: Callable[[float], str]) -> str:
    """Mean and standard deviation over the seeds."""
    spread = stdev(values) if len(values) > 1 else 0.0
    return f"{told(fmean(values))} +- {told(spread)}"


def _short(value: float) -> str:
    return f"{value:.3g}"
