"""python -m dpcore audit: a run is trained again with eyes on every step, and what it claims is put to the test."""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dpcore.audit.broken_trainers import TRAINERS
from dpcore.audit.events import Event, Judged, Measured, Prepared, Stopped, Watched
from dpcore.audit.request import AuditRequest
from dpcore.commands import Parser, number, whole
from dpcore.commands.runs.action import in_columns
from dpcore.commands.train import STATUS, add_settings, config_of, option
from dpcore.privacy.report.numbers import nearest, outward, raised, short
from dpcore.runs.in_process import recorded, with_first_event
from dpcore.runs.kinds import AUDIT, TRAINING
from dpcore.runs.record import Run, Status, StoreError, worker_name
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.randomness.streams import new_secret
from dpcore.training.settings import SETTINGS

SINGLE = AuditRequest()
REFUTED = 1  # exit status where an audit fails
NOTES = (
    "Each epsilon that an audit shows holds at the confidence on its own; it is the failures that hold together.",
    "The model is the audit's own: a finished run keeps no checkpoint that could be put to the test.",
    "The findings are exact figures of the training data: no epsilon covers showing them.",
)


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        prog="python -m dpcore audit",
        description="Train a run again with eyes on every step, and test what it claims. Exit status 1 if that fails.",
    )
    made.add_argument("run", nargs="?", metavar="RUN", help="a recorded run; else say the settings; or an audit, shown")
    made.add_argument(
        "--trainer", default=SINGLE.trainer, metavar="ID", help=f"who trains: one of {', '.join(TRAINERS)}"
    )
    made.add_argument(
        "--confidence", type=number, default=SINGLE.confidence, help=f"of all together ({SINGLE.confidence:g})"
    )
    made.add_argument(
        "--canaries", type=whole, metavar="COUNT", help=f"examples in by the flip of a coin ({SINGLE.canaries})"
    )
    add_settings(made)
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Audit and print; exit status 0, 1 where an audit fails or could not be done, 130 where it was cancelled."""
    try:
        store = Store()
    except StoreError as error:
        raise ValueError(str(error)) from error
    with store:
        found = store.run(arguments.run) if arguments.run else None
        if found and found.kind == AUDIT.name:
            return _shown(store, found, as_json=arguments.json)
        return _audited(store, _asked(arguments, found), as_json=arguments.json)


def _asked(arguments: argparse.Namespace, found: Run | None) -> AuditRequest:
    """The audit that the arguments ask for; ValueError says which of them is wrong."""
    given = [option(name) for name in SETTINGS if getattr(arguments, name, None) is not None]
    given += ["--non-private"] if arguments.non_private else []
    if found and given:
        raise ValueError(f"Expected no {given[0]} beside a recorded run, which has settings of its own.")
    if found and found.kind != TRAINING.name:
        raise ValueError(f"Expected run={found.id!r} to be a training run or an audit, but it is a {found.kind}.")
    config = found.config if found else config_of(arguments)
    canaries = _canaries(config) if arguments.canaries is None else arguments.canaries
    return AuditRequest(config, arguments.trainer, arguments.confidence, canaries)


def _canaries(config: RunConfig) -> int:
    """As many as usual, or as many as a small data set has room for."""
    return min(SINGLE.canaries, config.examples // 4)


def _audited(store: Store, request: AuditRequest, *, as_json: bool) -> int:
    from dpcore.audit.run_audit import audit  # late: loading torch takes seconds, and the request may be bad

    said: list[Event] = []
    secret = new_secret() if request.seed is None else None
    try:
        events = with_first_event(audit(request, secret))  # type: ignore[arg-type]
        name = store.submit(request, worker=worker_name(os.getpid()), secret=secret)
        print(f"Recorded as {name}.", file=sys.stderr)
        status, error = recorded(store, name, events, _sayer(said, as_json))  # type: ignore[arg-type]
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return STATUS[Status.CANCELLED]
    if error:
        print(f"dpcore: {error}", file=sys.stderr)
    if status is not Status.FINISHED:
        return STATUS[status]
    return _printed(name, request, said, as_json=as_json)


def _shown(store: Store, found: Run, *, as_json: bool) -> int:
    """What a recorded audit has said."""
    said: list[Event] = [event for _, event in store.tail(found.id)]
    if not any(isinstance(event, Judged) for event in said):
        raise ValueError(f"Expected run={found.id!r} to be an audit that is over, but it is {found.status}.")
    return _printed(found.id, found.request, said, as_json=as_json)


def _sayer(said: list[Event], as_json: bool) -> Callable[[Any], None]:
    """What keeps an event, and says on a terminal how far the audit is."""

    def say(event: Event) -> None:
        said.append(event)
        if isinstance(event, Watched) and not as_json and sys.stderr.isatty():
            print(f"\rstep {event.step} of {event.steps}", end="", file=sys.stderr, flush=True)

    return say


def _printed(name: str, request: AuditRequest, said: Sequence[Event], *, as_json: bool) -> int:
    values = audit_summary(name, request, said)
    print(json.dumps(values, allow_nan=False) if as_json else "\n".join(audit_lines(request, said)))
    return REFUTED if values["failed"] else 0


def audit_summary(name: str, request: AuditRequest, said: Sequence[Event]) -> dict[str, Any]:
    """All that an audit said as one JSON object, but for its progress and the canaries' scores."""
    judged = next(event for event in said if isinstance(event, Judged))
    corrected = dict(judged.p_values)
    audits = [
        asdict(event)
        | {
            "figures": dict(event.figures),
            "p_corrected": corrected.get(event.audit),
            "failed": event.audit in judged.failed,
        }
        for event in said
        if isinstance(event, Measured)
    ]
    return {
        "run": name,
        "request": request.to_json(),
        "prepared": next(asdict(event) for event in said if isinstance(event, Prepared)),
        "stopped": next((event.reason for event in said if isinstance(event, Stopped)), None),
        "audits": audits,
        "failed": list(judged.failed),
        "epsilon": {"claimed": judged.claimed_upper, "lower": judged.claimed_lower},
        "notes": list(NOTES),
    }


def audit_lines(request: AuditRequest, said: Sequence[Event]) -> list[str]:
    """The same in words: a line for each audit, and below it what it shows, tests and leaves untested."""
    return [line for event in said for line in _words(event)] + [*_table(said), *_verdict(request, said), *NOTES]


def _words(event: Event) -> Iterator[str]:
    if isinstance(event, Prepared):
        yield (
            f"{event.examples:,} examples, {event.canaries:,} of them canaries and {event.inside:,} of these in; "
            f"{event.steps:,} steps of q = {nearest(event.q)}, {event.parameters:,} parameters, on {event.device}"
        )
    if isinstance(event, Stopped):
        yield event.reason


def _table(said: Sequence[Event]) -> list[str]:
    judged = next(event for event in said if isinstance(event, Judged))
    found = [event for event in said if isinstance(event, Measured)]
    rows = [("AUDIT", "RESULT", "P-VALUE", "EPSILON AT LEAST")]
    rows += [(each.audit, _result(each, judged), _p_value(each), _epsilon(each)) for each in found]
    head, *lines = in_columns(rows).splitlines()
    below = ((each.shows, f"tests: {each.tests}", f"leaves untested: {each.untested}") for each in found)
    return [head, *(line for row, more in zip(lines, below, strict=True) for line in _indented(row, more))]


def _indented(row: str, more: Sequence[str]) -> list[str]:
    return [row, *(f"  {line}" for line in more)]


def _result(found: Measured, judged: Judged) -> str:
    if found.audit in judged.failed:
        return "FAILS"
    return "passes" if found.p_value is not None else "-"


def _p_value(found: Measured) -> str:
    return "-" if found.p_value is None else short(found.p_value) if found.p_value else "0"


def _epsilon(found: Measured) -> str:
    if found.unbounded:
        return f"infinite ({found.evidence})"
    return "-" if found.epsilon is None else f"{outward(found.epsilon, math.floor)} ({found.evidence})"


def _verdict(request: AuditRequest, said: Sequence[Event]) -> Iterator[str]:
    judged = next(event for event in said if isinstance(event, Judged))
    at = f"at delta = {raised(request.config.delta):g}"
    if judged.claimed_upper is not None:
        yield f"Claimed: epsilon <= {outward(judged.claimed_upper, math.ceil)} {at}, by {request.by.title.lower()}."
    elif reason := next((event.unaccounted for event in said if isinstance(event, Prepared)), ""):
        yield f"Nothing is claimed. {reason}"
    together = f"at a confidence of {request.confidence:g} for all audits together"
    if judged.failed:
        yield f"What is claimed does not hold: {', '.join(judged.failed)} failed, {together}."
    else:
        yield f"No audit found anything wrong, {together}."
