"""`python -m dpcore train`: train a model, print its events and record them in the run store."""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dpcore import check
from dpcore.commands import Parser, number, option, parser_of, whole
from dpcore.data.catalogue import available
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import nearest, outward, percent, plain, raised
from dpcore.privacy.report.statement import NOT_COVERED, seed_warning
from dpcore.runs.in_process import recorded, with_first_event
from dpcore.runs.kinds import event_to_json
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import StoreError, checkpoint_path, worker_name
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig, idle
from dpcore.training.defaults import defaults
from dpcore.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    Finished,
    Preparing,
    Started,
    Stepped,
    Unsaved,
)
from dpcore.training.models import models_for
from dpcore.training.plan import Plan, plan
from dpcore.training.randomness.streams import new_secret
from dpcore.training.seed_summary import in_words, summary, with_seeds
from dpcore.training.settings import SETTINGS, Choice, Count, Number, Setting, either

# 130: as a shell reports Ctrl-C.
STATUS = {Status.FINISHED: 0, Status.FAILED: 1, Status.CANCELLED: 130}
# Type and metavar of the option.
ARGUMENTS: dict[type[Setting], tuple[Callable[[str], Any], str]] = {
    Number: (number, "NUMBER"),
    Count: (whole, "COUNT"),
    Choice: (str, "ID"),
}
MAX_SEEDS = 1000
PLAIN = RunConfig()


def parser() -> Parser:
    made = parser_of("train", "Train a model. The defaults suit data set, model and optimizer.")
    add_settings(made)
    seeds = "train this many seeds, secret or counted from --seed, and print mean and spread"
    made.add_argument("--seeds", type=whole, default=1, metavar="COUNT", help=seeds)
    made.add_argument("--json", action="store_true", help="print one JSON object per event")
    return made


def add_settings(parser: Parser) -> None:
    """Add an option for each setting of a run, and --non-private; `config_of` reads them."""
    for name, setting in SETTINGS.items():
        if name == "private":
            continue
        kind, metavar = ARGUMENTS[type(setting)]
        metavar = setting.unit.upper() or metavar
        words = setting.help
        if isinstance(setting, Choice):
            words = f"{words} ({either(map(str, setting.choices))})"
        words = words.replace("%", "%%")  # argparse formats this text
        parser.add_argument(option(name), type=kind, metavar=metavar, help=words)
    parser.add_argument(
        "--non-private", action="store_true", help="train the baseline, without clipping and noise"
    )


def run(arguments: argparse.Namespace) -> int:
    """Train; exit status 1 for a failed run, 130 for a cancelled one."""
    check.whole(1, MAX_SEEDS, seeds=arguments.seeds)
    configs = with_seeds(config_of(arguments), arguments.seeds)
    finals: list[Finished] = []
    with open_store() as store:
        for config in configs:
            status = _trained(store, config, arguments.json, finals)
            if status:
                return status
    if arguments.json:
        if arguments.seeds > 1:
            print(json.dumps(summed_up(configs, finals)))
    else:
        if arguments.seeds > 1:
            print(in_words(finals))
        print("\n".join(closing(configs, finals)))
    return 0


@contextmanager
def open_store() -> Iterator[Store]:
    """Open the run store. Errors: ValueError with the reason why it cannot be used."""
    try:
        with Store() as store:
            yield store
    except StoreError as error:
        raise ValueError(str(error)) from error


def _trained(store: Store, config: RunConfig, as_json: bool, finals: list[Finished]) -> int:
    """Train one configuration, add its last event to `finals`, and return the exit status."""
    from dpcore.training.loop import train  # late: loading torch takes seconds

    show = printer(as_json, finals)

    def say(event: Event) -> None:
        note_idle(config, event)
        show(event)

    run = store.new_id()
    secret = new_secret() if config.seed is None else None
    file = checkpoint_path(store.home, run)
    # bad data or a bad device raises ValueError before anything is recorded
    events = with_first_event(train(config, file=file, planned=plan(config), secret=secret))
    store.submit(config, worker=worker_name(os.getpid()), run=run, secret=secret)
    print(f"Recorded as run {run}.", file=sys.stderr)
    return follow(store, run, events, say)


def note_idle(config: RunConfig, event: Event) -> None:
    """Warn of an option that changes nothing on the device found."""
    if isinstance(event, Started) and event.device == "cpu" and config.noise_generator == "secure":
        print(
            "--noise-generator secure changes nothing: noise on a CPU comes from AES anyway.",
            file=sys.stderr,
        )


def summed_up(configs: Sequence[RunConfig], finals: Sequence[Finished]) -> dict[str, Any]:
    """Return the accuracies of several seeds as one JSON object."""
    accuracy = summary([final.accuracy for final in finals])._asdict()
    averaged = [final.averaged_accuracy for final in finals if final.averaged_accuracy is not None]
    values = {
        "event": "summary",
        "seeds": [config.seed for config in configs],
        "accuracy": accuracy,
    }
    if averaged:
        values["averaged_accuracy"] = summary(averaged)._asdict()
    return values


def closing(
    configs: Sequence[RunConfig], finals: Sequence[Finished], planned: Plan | None = None
) -> list[str]:
    """Return sentences on the privacy cost of runs that differ in their seeds.

    `planned` is their stored plan.
    """
    planned = planned or plan(configs[0])
    lines = [spent(configs[0], len(configs), planned)]
    for place, (config, final) in enumerate(zip(configs, finals, strict=True), 1):
        claim = claimed(config, final, planned)
        if claim and len(configs) > 1:
            claim = f"Run {place}: {claim}"
        if claim:
            lines.append(claim)
    if planned.unaccounted:
        return lines
    warning = seed_warning([config.seed for config in configs if config.seed is not None])
    if warning:
        lines.append(warning)
    lines.append(NOT_COVERED)
    return lines


def spent(config: RunConfig, runs: int = 1, planned: Plan | None = None) -> str:
    """Return the privacy cost of some runs as a sentence.

    >>> spent(RunConfig(sigma=0))
    'Not private: without noise (sigma = 0) epsilon is infinite.'
    """
    planned = planned or plan(config)
    mechanism = planned.mechanism
    if mechanism is None:
        return planned.unaccounted
    epsilon = ACCOUNTANTS[CERTIFIED].spent(mechanism, config.delta).value
    delta = plain(raised(config.delta))
    bound = f"epsilon <= {outward(epsilon, math.ceil)} at delta = {delta}, certified ({CERTIFIED})"
    if runs == 1:
        return bound
    return (
        f"each run alone: {bound}; releasing several of the {runs}, or the best, costs more: each"
        " used the data"
    )


def claimed(config: RunConfig, final: Finished, planned: Plan) -> str:
    """Return the SA-DPSGD paper's claim for the run as a sentence; empty for other methods."""
    mechanism = planned.claimed(final.accepted)
    if mechanism is None:
        return ""
    epsilon = ACCOUNTANTS["moments"].spent(mechanism, config.delta).value
    return (
        f"The paper would charge only the {final.accepted} accepted of {final.step} steps, epsilon"
        f" = {nearest(epsilon)} (moments): invalid, because rejections depend on the data too."
    )


def config_of(arguments: argparse.Namespace) -> RunConfig:
    """Return the requested configuration. Errors: ValueError for a wrong setting."""
    asked = {name: getattr(arguments, name, None) for name in SETTINGS}
    given = {name: value for name, value in asked.items() if value is not None}
    dataset = given.get("dataset", PLAIN.dataset)
    features = given.get("features", PLAIN.features)
    base = defaults(
        dataset,
        given.get("model") or models_for(dataset, features)[-1],
        given.get("optimizer", PLAIN.optimizer),
        given.get("source", next(iter(available(dataset)), "full")),
        private=not arguments.non_private,
        reading=given.get("reading", PLAIN.reading),
        features=features,
    )
    config = replace(base, **given)
    plan(config)  # raises ValueError for wrong schedules
    for name, needed in idle(config).items():
        if name in given:
            raise ValueError(
                f"Expected no {option(name)} without {needed}: it would change nothing."
            )
    return config


def follow(store: Store, run: str, events: Iterator[Event], say: Callable[[Event], None]) -> int:
    """Record and print the events of a run; return the exit status."""
    status, error = recorded(store, run, events, say)
    if error:
        print(f"dpcore: {error}", file=sys.stderr)
    return STATUS[status]


def printer(as_json: bool, finals: list[Finished] | None = None) -> Callable[[Event], None]:
    """Return a function that prints an event, and adds the last one of a run to `finals`."""

    def show(event: Event) -> None:
        if isinstance(event, Finished) and finals is not None:
            finals.append(event)
        values = event_to_json(event)
        print(json.dumps(values, allow_nan=False) if as_json else _line(event), flush=True)

    return show


def _line(event: Event) -> str:
    match event:
        case Preparing():
            return f"features: {event.done} of {event.total} images"
        case Started():
            return (
                f"{event.examples} examples, {event.steps} steps of q = {nearest(event.q)}, "
                # May end with a note.
                f"{event.parameters} parameters on {event.device}, {event.engine}"
            )
        case Stepped():
            kept = ""
            if event.decisions:
                kept = f"  accepted {event.decisions.count('a')} of {len(event.decisions)}"
            return (
                f"step {event.step:>6}  epoch {event.epoch:7.2f}  loss {event.loss:8.4f}  "
                f"clipped {event.clipped:6.1%}  {event.steps_per_second:.1f} steps/s{kept}"
            )
        case Evaluated():
            accuracy = f"test accuracy {_accuracy(event.accuracy)}{_further(event)}"
            return f"step {event.step:>6}  epoch {event.epoch:7.2f}  {accuracy}"
        case Checkpointed():
            return f"step {event.step:>6}  checkpoint written"
        case Unsaved():
            return f"step {event.step:>6}  no checkpoint yet: {event.reason}"
        case Finished():
            accuracy = f"test accuracy {_accuracy(event.accuracy)}{_further(event)}"
            return f"done: {event.step} steps in {event.seconds:.1f} s, {accuracy}"


def _further(event: Evaluated | Finished) -> str:
    words = ""
    if event.averaged_accuracy is not None:
        words += f", of the averaged weights {_accuracy(event.averaged_accuracy)}"
    if event.rmse is not None:
        words += f", RMSE {nearest(event.rmse, 4)}"
    return words


def _accuracy(share: float) -> str:
    return percent(share, 2, gap="")
