"""`python -m dpcore perturb`: learn two classes with noise at different places, and compare."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from statistics import fmean, stdev
from typing import Any

from dpcore import check
from dpcore.commands import DELTA, Parser, number, parser_of, print_json, refuse_idle, whole
from dpcore.data.tabular import TABLES
from dpcore.privacy.report.numbers import percent, plain
from dpcore.training.perturbation.comparison import compare
from dpcore.training.perturbation.events import Event, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS, Protection
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import ADJACENCY, NEIGHBOURS

SINGLE = Request()
PUBLISHED = (
    "Each fit of each method spends its epsilon. No epsilon covers publishing these accuracies and"
    " gaps."
)


def parser() -> Parser:
    made = parser_of(
        "perturb",
        "Compare noise in output, objective, gradients and inputs, by accuracy and gap to L*.",
    )
    made.add_argument("--dataset", metavar="ID", help=", ".join(TABLES))
    made.add_argument(
        "--classes", metavar="A,B", help="two classes of the data set, or one class and 'rest'"
    )
    made.add_argument("--model", metavar="ID", help=", ".join(MODELS))
    made.add_argument(
        "--method",
        action="append",
        metavar="ID",
        help=f"{', '.join(METHODS)} (default: all); repeatable",
    )
    made.add_argument(
        "--epsilon", action="append", type=number, help="epsilon of each fit; repeatable"
    )
    made.add_argument("--delta", type=number, help=f"{DELTA} (default {plain(SINGLE.delta)})")
    made.add_argument("--seeds", type=whole, metavar="COUNT", help="number of fits of each method")
    made.add_argument(
        "--seed",
        type=whole,
        help="fix the seed: epsilon then holds only for those who do not know it",
    )
    made.add_argument("--steps", type=whole, metavar="T", help="steps of gradient descent")
    made.add_argument(
        "--rate", type=number, help="step size (default: 2 / (smoothness + strong convexity))"
    )
    made.add_argument("--regulariser", type=number, help="factor of |theta|^2 / 2 in the objective")
    made.add_argument(
        "--clip-norm", type=number, help="clipping norm G, for a model without a gradient bound"
    )
    made.set_defaults(
        dataset=SINGLE.dataset,
        model=SINGLE.model,
        delta=SINGLE.delta,
        seeds=SINGLE.seeds,
        seed=SINGLE.seed,
        steps=SINGLE.steps,
        rate=SINGLE.rate,
        regulariser=SINGLE.regulariser,
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    request = request_of(arguments)
    events = compare(request)
    if arguments.json:
        print_json(summary(request, events))
        return 0
    said: set[str] = set()
    for event in events:
        for line in lines_of(request, event, said):
            print(line, flush=True)
    print(PUBLISHED)
    return 0


def request_of(arguments: argparse.Namespace) -> Request:
    """Return the requested comparison. Errors: ValueError for a wrong argument."""
    for name in arguments.method or ():
        check.one_of(METHODS, method=name)
    check.one_of(MODELS, model=arguments.model)
    if MODELS[arguments.model].lipschitz is not None:
        refuse_idle(arguments, ["clip_norm"], "a model whose gradients have no bound")
    clip_norm = arguments.clip_norm
    return Request(
        dataset=arguments.dataset,
        classes=() if arguments.classes is None else tuple(arguments.classes.split(",")),
        model=arguments.model,
        methods=tuple(arguments.method or METHODS),
        epsilons=tuple(arguments.epsilon or SINGLE.epsilons),
        delta=arguments.delta,
        seeds=arguments.seeds,
        seed=arguments.seed,
        steps=arguments.steps,
        rate=arguments.rate,
        regulariser=arguments.regulariser,
        clip_norm=SINGLE.clip_norm if clip_norm is None else clip_norm,
    )


def summary(request: Request, events: Iterable[Event]) -> dict[str, Any]:
    """Return one JSON object: the request, the data, and a result for each method and epsilon."""
    prepared: dict[str, Any] = {}
    results = []
    for event in events:
        if isinstance(event, Prepared):
            prepared = asdict(event)
        elif isinstance(event, Measured):
            results.append(_result(event))
        elif isinstance(event, Skipped):
            results.append(
                {
                    "method": event.method,
                    "epsilon": None,
                    "asked": event.epsilon,
                    "reason": event.reason,
                }
            )
    return {
        "request": request.to_json(),
        "adjacency": ADJACENCY,
        "data": prepared,
        "results": results,
        "note": PUBLISHED,
    }


def _result(event: Measured) -> dict[str, Any]:
    method = METHODS[event.method]
    return {
        "method": event.method,
        "kind": str(method.kind),
        "epsilon": event.epsilon if event.private else None,  # null: not private at any
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
    """Return the lines to print for an event, without sentences in `said`.

    `said` gets the new ones.
    """
    if isinstance(event, Prepared):
        data = (
            f"{event.examples} training rows, {event.tests} test rows, {event.parameters}"
            f" parameters; without noise: accuracy {percent(event.best_accuracy)}, objective L* ="
            f" {event.best_loss:.4f}; guessing the larger class {percent(event.majority)}."
        )
        promise = f"delta = {plain(request.delta)}; {NEIGHBOURS}."
        head = f"{'method':<12}{'epsilon':>9}{'noise':>10}{'accuracy':>18}{'gap':>21}"
        return [data, promise, *event.notes, head]
    if isinstance(event, Skipped):
        at = "" if event.epsilon is None else f"at epsilon {event.epsilon:g}: "
        return [f"{event.method:<12}{'n/a':>9}  {at}{event.reason}"]
    if not isinstance(event, Measured):
        return []
    new = [each for each in event.obstacles if each not in said]
    said.update(new)
    return [_measured(event), *[f"{'':<12}{each}" for each in new]]


def _measured(event: Measured) -> str:
    kept = "none"  # the epsilon
    end = ""
    if event.private:
        if event.epsilon is not None:
            kept = plain(event.epsilon)
        if METHODS[event.method].kind is Protection.LOCAL:
            end = "local"
    elif event.epsilon is not None:
        end = f"not private at the requested epsilon {event.epsilon:g}"
    accuracy = _spread(event.accuracies, percent)
    gap = _spread(event.gaps, "{:.3g}".format)
    figures = f"{event.noise:>10.3g}{accuracy:>18}{gap:>21}"
    return f"{event.method:<12}{kept:>9}{figures}  {end}".rstrip()


def _spread(values: Sequence[float], written: Callable[[float], str]) -> str:
    """Return mean and standard deviation over the seeds."""
    spread = stdev(values) if len(values) > 1 else 0.0
    return f"{written(fmean(values))} +- {written(spread)}"
