"""The kinds of jobs that the store keeps and workers do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpcore.audit import events as audit
from dpcore.audit.request import AuditRequest
from dpcore.runs.followed import events as followed
from dpcore.runs.followed.request import Followed
from dpcore.training import events
from dpcore.training.config import RunConfig
from dpcore.training.perturbation import events as perturbation
from dpcore.training.perturbation.request import Request


@dataclass(frozen=True)
class JobKind:
    """One kind of job: its request, its events, and the function that does it.

    The function takes the request and `secret`, the seed of its noise unless the request fixes one,
    and yields events. A training run's function takes the further arguments of `Train` in
    `resume.py`.
    """

    name: str
    request: Any  # the type of its requests: frozen, with `to_json` and `from_json`
    work: str  # "module:name"; only workers import it
    events: Mapping[str, type]  # name in the store, the class in small letters -> flat dataclass


AnyEvent = events.Event | perturbation.Event | audit.Event | followed.Event

TRAINING = JobKind("training", RunConfig, "dpcore.training.loop:train", events.KINDS)
PERTURBATION = JobKind(
    "perturbation", Request, "dpcore.training.perturbation.comparison:compare", perturbation.KINDS
)
AUDIT = JobKind("audit", AuditRequest, "dpcore.audit.run_audit:audit", audit.KINDS)
# A program of somebody else does it, and no worker.
FOLLOWED = JobKind(Followed.kind, Followed, "", followed.KINDS)
KINDS = {kind.name: kind for kind in (TRAINING, PERTURBATION, AUDIT, FOLLOWED)}


def kind_named(name: str) -> JobKind:
    """The kind of this name; ValueError where this version has none."""
    if name not in KINDS:
        raise ValueError(f"This version knows no jobs of kind {name!r}, only {', '.join(KINDS)}.")
    return KINDS[name]


def kind_of(request: object) -> JobKind:
    """The kind of job of a request; TypeError for anything else."""
    for kind in KINDS.values():
        if isinstance(request, kind.request):
            return kind
    raise TypeError(
        f"Expected {type(request).__name__} to be a request of one of these kinds:"
        f" {', '.join(KINDS)}."
    )


def event_to_json(event: Any) -> dict[str, Any]:
    """An event as {"event": name, ...}."""
    return {"event": type(event).__name__.lower(), **asdict(event)}


def event_from_json(kind: str, values: Mapping[str, Any]) -> Any:
    """Read an event of a job of this kind, as `event_to_json` wrote it.

    >>> event_from_json("training", {"event": "checkpointed", "step": 7})
    Checkpointed(step=7)
    """
    rest = {key: _tuples(value) for key, value in values.items()}
    name = rest.pop("event")
    return kind_named(kind).events[name](**rest)


def _tuples(value: Any) -> Any:
    """Turn the lists of JSON into tuples."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return value
