"""`python -m dpcore audit`: train a run again, watch every step and test its claim."""

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dpcore.audit.broken_trainers import TRAINERS
from dpcore.audit.events import Event, Judged, Measured, Prepared, Stopped, Watched
from dpcore.audit.request import AuditRequest
from dpcore.commands import Parser, number, option, parser_of, print_json, whole
from dpcore.commands.runs.actions import in_columns
from dpcore.commands.train import add_settings, config_of, follow, open_store
from dpcore.privacy.report.numbers import nearest, outward, p_text, plain, raised
from dpcore.runs.history import all_of, last_of
from dpcore.runs.in_process import with_first_event
from dpcore.runs.kinds import AUDIT, TRAINING
from dpcore.runs.record import Run, worker_name
from dpcore.runs.store import Store
from dpcore.training.randomness.streams import new_secret
from dpcore.training.settings import SETTINGS

SINGLE = AuditRequest()
OWN = ("trainer", "confidence", "canaries")  # options of an audit beside the settings of its run
REFUTED = 1  # exit status of a failed audit
NOTES = (
    (
        "Each epsilon holds at the confidence for its own test; the failures hold for all tests"
        " together."
    ),
    "The audit trained a model of its own, because a finished run keeps no checkpoint to test.",
    "The findings are computed from the training data. No epsilon covers publishing them.",
)


def parser() -> Parser:
    made = parser_of(
        "audit",
        "Train a run again, watch every step and test its claim. Exit status 1 if a test fails.",
    )
    made.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="a run to audit or an audit to show (default: settings)",
    )
    made.add_argument(
        "--trainer", metavar="ID", help=f"trainer: {', '.join(TRAINERS)} (default {SINGLE.trainer})"
    )
    confidence = f"confidence of all tests together (default {SINGLE.confidence:g})"
    made.add_argument("--confidence", type=number, help=confidence)
    canaries = f"canaries, each in the data by the flip of a coin (default {SINGLE.canaries})"
    made.add_argument("--canaries", type=whole, metavar="COUNT", help=canaries)
    add_settings(made)
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Audit and print; exit status 1 for a failed test or audit, 130 for a cancelled one."""
    with open_store() as store:
        found = store.run(arguments.run) if arguments.run else None
        if found:
            _check_alone(arguments, found)
        if found and found.kind == AUDIT.name:
            return _shown(store, found, as_json=arguments.json)
        return _audited(store, _asked(arguments, found), as_json=arguments.json)


def _check_alone(arguments: argparse.Namespace, found: Run) -> None:
    """Raise ValueError for an option that a recorded run or audit answers itself."""
    recorded = "run"
    names = [*SETTINGS]
    if found.kind == AUDIT.name:
        recorded = "audit"
        names += OWN
    given = [option(name) for name in names if getattr(arguments, name, None) is not None]
    if arguments.non_private:
        given.append("--non-private")
    if given:
        raise ValueError(
            f"Expected no {given[0]} beside a recorded {recorded}, which has its own settings."
        )


def _asked(arguments: argparse.Namespace, found: Run | None) -> AuditRequest:
    """Return the requested audit. Errors: ValueError for a wrong argument."""
    if found and found.kind != TRAINING.name:
        raise ValueError(
            f"Expected run={found.id!r} to be a training run or an audit, not a {found.kind}."
        )
    config = found.config if found else config_of(arguments)
    trainer = arguments.trainer
    confidence = arguments.confidence
    canaries = arguments.canaries
    if canaries is None:  # a small data set has room for fewer
        canaries = min(SINGLE.canaries, config.examples // 4)
    return AuditRequest(
        config,
        trainer=SINGLE.trainer if trainer is None else trainer,
        confidence=SINGLE.confidence if confidence is None else confidence,
        canaries=canaries,
    )


def _audited(store: Store, request: AuditRequest, *, as_json: bool) -> int:
    # Late: loading torch takes seconds, and the request may be bad.
    from dpcore.audit.run_audit import audit

    said: list[Event] = []

    terminal = not as_json and sys.stderr.isatty()
    seen = ""  # the last fault that was printed

    def say(event: Any) -> None:
        nonlocal seen
        said.append(event)
        if not isinstance(event, Watched):
            seen = ""
        elif event.caught != seen:
            seen = event.caught
            print(f"\r{seen}" if terminal else seen, file=sys.stderr)
        elif terminal:
            print(f"\rstep {event.step} of {event.steps}", end="", file=sys.stderr, flush=True)

    secret = new_secret() if request.seed is None else None
    events: Iterator[Any] = with_first_event(audit(request, secret))  # type: ignore[arg-type]
    name = store.submit(request, worker=worker_name(os.getpid()), secret=secret)
    print(f"Recorded as {name}.", file=sys.stderr)
    return follow(store, name, events, say) or _printed(name, request, said, as_json=as_json)


def _shown(store: Store, found: Run, *, as_json: bool) -> int:
    """Print the events of a recorded audit."""
    said: list[Event] = store.events(found.id)
    if not all_of(said, Judged):
        raise ValueError(
            f"Expected run={found.id!r} to be a finished audit, but it is {found.status}."
        )
    return _printed(found.id, found.request, said, as_json=as_json)


def _printed(name: str, request: AuditRequest, said: Sequence[Event], *, as_json: bool) -> int:
    (judged,) = all_of(said, Judged)
    (prepared,) = all_of(said, Prepared)
    stopped = last_of(said, Stopped)
    found = all_of(said, Measured)
    if as_json:
        print_json(_summary(name, request, prepared, stopped, found, judged))
    else:
        print(
            f"{prepared.examples:,} examples; {prepared.canaries:,} canaries, {prepared.inside:,}"
            f" of them in the data; {prepared.steps:,} steps of q = {nearest(prepared.q)},"
            f" {prepared.parameters:,} parameters, on {prepared.device}"
        )
        if stopped:
            print(stopped.reason)
        print(*_table(found, judged), *_verdict(request, prepared, judged), *NOTES, sep="\n")
    return REFUTED if judged.failed else 0


def _summary(
    name: str,
    request: AuditRequest,
    prepared: Prepared,
    stopped: Stopped | None,
    found: Sequence[Measured],
    judged: Judged,
) -> dict[str, Any]:
    """Return an audit as one JSON object, without its progress and the canaries' scores."""
    corrected = dict(judged.p_values)
    audits = []
    for each in found:
        values = asdict(each)
        values["figures"] = dict(each.figures)
        values["p_corrected"] = corrected.get(each.audit)
        values["failed"] = each.audit in judged.failed
        audits.append(values)
    return {
        "run": name,
        "request": request.to_json(),
        "prepared": asdict(prepared),
        "stopped": stopped.reason if stopped else None,
        "audits": audits,
        "failed": list(judged.failed),
        "epsilon": {"claimed": judged.claimed_upper, "lower": judged.claimed_lower},
        "notes": list(NOTES),
    }


def _table(found: Sequence[Measured], judged: Judged) -> Iterator[str]:
    """Yield a line for each test, then its evidence and its scope."""
    rows = [("TEST", "RESULT", "P-VALUE", "EPSILON AT LEAST")]
    rows += [_row(each, judged) for each in found]
    head, *lines = in_columns(rows).splitlines()
    yield head
    for line, each in zip(lines, found, strict=True):
        yield line
        yield f"  {each.shows}"
        yield f"  tests: {each.tests}"
        yield f"  does not test: {each.untested}"


def _row(found: Measured, judged: Judged) -> tuple[str, str, str, str]:
    p_value = "-"
    result = "-"
    if found.p_value is not None:
        p_value = p_text(found.p_value)
        result = "passes"
    if found.audit in judged.failed:
        result = "FAILS"
    least = "-"
    if found.unbounded:
        least = f"infinite ({found.evidence})"
    elif found.epsilon is not None:
        least = f"{outward(found.epsilon, math.floor)} ({found.evidence})"
    return found.audit, result, p_value, least


def _verdict(request: AuditRequest, prepared: Prepared, judged: Judged) -> Iterator[str]:
    at = f"at delta = {plain(raised(request.config.delta))}"
    if judged.claimed_upper is not None:
        claimed = f"epsilon <= {outward(judged.claimed_upper, math.ceil)} {at}"
        yield f"Claimed: {claimed} (trainer: {request.by.title.lower()})."
    elif prepared.unaccounted:
        yield f"Nothing is claimed. {prepared.unaccounted}"
    found = "No test found a fault"
    if judged.failed:
        fault = "Fault found" if prepared.unaccounted else "Claim refuted"
        found = f"{fault}: the tests {', '.join(judged.failed)} failed"
    yield f"{found} (confidence {request.confidence:g} over all tests)."
