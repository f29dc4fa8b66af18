"""python -m dpcore train: one training run, its events as they happen; the run store records it."""

import _thread
import argparse
import contextlib
import itertools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace

from dpcore.commands import Parser, number, whole
from dpcore.data.catalog import available
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.runs.record import Status, StoreError, worker_name
from dpcore.runs.store import Store
from dpcore.runs.worker import Pulse
from dpcore.training.config import ACTIVATIONS, DEVICES, MODELS, RunConfig, mechanism_of
from dpcore.training.defaults import defaults
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped, to_json
from dpcore.training.optimizers import OPTIMIZERS

CANCELLED = 130  # what a shell reports for a program ended by Ctrl-C
NUMBERS = {
    "sigma": "noise multiplier: noise std / clip norm",
    "clip_norm": "C, the bound on each example's gradient norm",
    "lr": "learning rate",
    "momentum": "of sgd",
    "epochs": "how often each example is drawn on average",
    "delta": "what epsilon is shown for; training does not use it",
}


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        prog="python -m dpcore train",
        description="Train a private model. Settings left out take defaults that suit data set, model and optimizer.",
    )
    made.add_argument("--dataset", default="mnist", metavar="ID", help="mnist or fashion_mnist")
    made.add_argument("--source", metavar="ID", help="full or sample (default: full where it is here)")
    made.add_argument("--model", default="cnn", metavar="ID", help=" or ".join(MODELS))
    made.add_argument("--optimizer", default="sgd", metavar="ID", help=" or ".join(OPTIMIZERS))
    made.add_argument("--activation", metavar="ID", help=" or ".join(ACTIVATIONS))
    for name, text in NUMBERS.items():
        made.add_argument(f"--{name.replace('_', '-')}", type=number, metavar="NUMBER", help=text)
    made.add_argument("--batch", type=whole, metavar="COUNT", help="expected batch q n")
    made.add_argument("--seed", type=whole, metavar="COUNT", help="the same seed gives the same run")
    made.add_argument("--device", metavar="ID", help=" or ".join(DEVICES))
    made.add_argument("--non-private", action="store_true", help="the baseline: no clipping, no noise")
    made.add_argument("--json", action="store_true", help="print one JSON object for each event")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Train; exit status 0, 1 for a run that failed, 130 for one that was cancelled."""
    config = config_of(arguments)
    try:
        store = Store()
    except StoreError as error:
        raise ValueError(str(error)) from error
    with store:
        try:
            from dpcore.training.engine import train  # late: loading torch takes seconds, and the settings may be bad

            status = _recorded(store, config, train(config), _object if arguments.json else _line)
        except KeyboardInterrupt:
            print("Cancelled.", file=sys.stderr)
            return CANCELLED
    if status == 0 and not arguments.json:
        print(spent(config))
    return status


def spent(config: RunConfig) -> str:
    """What the run cost in privacy, as a sentence.

    >>> spent(RunConfig(sigma=0))
    'Not private: epsilon is infinite.'
    """
    mechanism = mechanism_of(config)
    if mechanism is None:
        return "Not private: epsilon is infinite."
    epsilon = ACCOUNTANTS["pld"].curve(mechanism, [config.steps], config.delta).epsilon[-1]
    return f"epsilon <= {epsilon:.4g} at delta = {config.delta:g}, certified (pld)"


def config_of(arguments: argparse.Namespace) -> RunConfig:
    """The configuration that the arguments ask for; ValueError names what is wrong with it."""
    source = arguments.source or available(arguments.dataset)[0]
    private = not arguments.non_private
    base = defaults(arguments.dataset, arguments.model, arguments.optimizer, source, private=private)
    names = (*NUMBERS, "activation", "batch", "seed", "device")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return replace(base, **given)


def _recorded(store: Store, config: RunConfig, events: Iterator[Event], words: Callable[[Event], str]) -> int:
    """Print and record the events; the run ends in the store however it ends here."""
    first = next(events)  # data and device are good, or this raises ValueError with nothing recorded
    run = _begun(store, config)
    status, error = Status.CANCELLED, None
    try:
        with Pulse(store, run, _thread.interrupt_main):  # cancelled from elsewhere: as by Ctrl-C
            for event in itertools.chain([first], events):
                stop = store.append(run, event)
                print(words(event), flush=True)
                if stop:
                    return CANCELLED
        status = Status.FINISHED
        return 0
    except RuntimeError as failure:
        status, error = Status.FAILED, traceback.format_exc()
        print(f"dpcore: {failure}", file=sys.stderr)
        return 1
    finally:
        with contextlib.suppress(StoreError):  # said already, if it is the store that fails
            store.end(run, status, error)


def _begun(store: Store, config: RunConfig) -> str:
    try:
        run = store.submit(config, worker=worker_name(os.getpid()))
    except StoreError as error:
        raise ValueError(str(error)) from error
    print(f"Recorded as run {run}.", file=sys.stderr)
    return run


def _object(event: Event) -> str:
    return json.dumps(to_json(event), allow_nan=False)


def _line(event: Event) -> str:
    """The event in words."""
    match event:
        case Started():
            return (
                f"{event.examples} examples, {event.steps} steps of q = {event.q:.4g}, {event.parameters} parameters, "
                f"{event.engine} on {event.device}"
            )
        case Stepped():
            return (
                f"step {event.step:>6}  epoch {event.epoch:7.2f}  loss {event.loss:8.4f}  "
                f"clipped {event.clipped:6.1%}  {event.steps_per_second:.1f} steps/s"
            )
        case Evaluated():
            return f"step {event.step:>6}  epoch {event.epoch:7.2f}  test accuracy {event.accuracy:.2%}"
        case Finished():
            return f"done: {event.step} steps in {event.seconds:.1f} s, test accuracy {event.accuracy:.2%}"
