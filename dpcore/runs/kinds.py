"""The kinds of jobs that the store keeps and workers do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpcore.audit import events as audit
from dpcore.audit.request import AuditRequest
from dpcore.training import events
from dpcore.training.config import RunConfig
from dpcore.training.perturbation import events as perturbation
from dpcore.training.perturbation.request import Request


@dataclass(frozen=True)
class JobKind:
    """One kind: what it is asked, what it says while it goes, and the function that does it.

    The function takes the request, and `secret`, the seed of its noise where the request fixes none; it yields events.
    That of a training run takes besides what `Train` of `resume.py` says.
    """

    name: str
    request: Any  # the type of what is asked, a frozen value with `to_json` and `from_json`
    work: str  # "module:name"; only workers import it
    events: Mapping[str, type]  # flat dataclasses, by their names in the store: those of their classes in small letters


AnyEvent = events.Event | perturbation.Event | audit.Event

TRAINING = JobKind("training", RunConfig, "dpcore.training.loop:train", events.KINDS)
PERTURBATION = JobKind("perturbation", Request, "dpcore.training.perturbation.comparison:compare", perturbation.KINDS)
AUDIT = JobKind("audit", AuditRequest, "dpcore.audit.run_audit:audit", audit.KINDS)
KINDS = {kind.name: kind for kind in (TRAINING, PERTURBATION, AUDIT)}


def kind_named(name: str) -> JobKind:
    """The kind of this name; ValueError where this version has none."""
    if name not in KINDS:
        raise ValueError(f"Expected kind={name!r} to be one of {', '.join(KINDS)}: another version made this job.")
    return KINDS[name]


def kind_of(request: object) -> JobKind:
    """The kind of job that a request asks for; TypeError for anything else."""
    for kind in KINDS.values():
        if isinstance(request, kind.request):
            return kind
    raise TypeError(f"Expected {type(request).__name__} to be the request of one of {', '.join(KINDS)}.")


def event_to_json(event: Any) -> dict[str, Any]:
    """An event of any kind as {"event": name, ...}."""
    return {"event": type(event).__name__.lower(), **asdict(event)}


def event_from_json(kind: str, values: Mapping[str, Any]) -> Any:
    """The event that `event_to_json` wrote, of a job of this kind.

    >>> event_from_json("training", {"event": "checkpointed", "step": 7})
    Checkpointed(step=7)
    """
    rest = {key: _tuples(value) for key, value in values.items() if key != "event"}
    return kind_named(kind).events[values["event"]](**rest)


def _tuples(value: Any) -> Any:
    """Lists, which JSON has in place of tuples, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
