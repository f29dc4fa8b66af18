"""Exchange of mechanisms with dp-accounting, as a DpEvent in JSON.

dp-accounting has no JSON of its own: `json` writes its named tuples (`DpEvent.to_named_tuple`) as
lists, or as objects. Both are read, and so is Python's print of an event; objects are written.
"""

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from dpcore.claims.claim import Claim
from dpcore.privacy.beside import Laplace, Other
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS

MODULE = "dp_accounting.dp_event"
EVENTS = {name: each.event for name, each in SAMPLERS.items() if each.event}
SAMPLED = {event.name: sampler for sampler, event in EVENTS.items()}
FIELDS = {  # of known events, in order
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    **{event.name: (*event.fields, "event") for event in EVENTS.values()},
    "SelfComposedDpEvent": ("event", "count"),
    "ComposedDpEvent": ("events",),
    "NoOpDpEvent": (),
}
MAX_DEPTH = 40  # events in events
MAX_RELEASES = 1000  # kinds of steps, one after another
Event = dict[str, Any]


def event_of(mechanism: Mechanism, others: Sequence[Other] = ()) -> Event:
    """Return the mechanism, and Laplace releases beside it, as a DpEvent of fields, with
    `module_name` and `class_name`.

    >>> event = event_of(Mechanism.constant(1.0, 2.0, 1))
    >>> event["module_name"], event["class_name"]
    ('dp_accounting.dp_event', 'GaussianDpEvent')
    >>> event["noise_multiplier"]
    2.0
    """
    events = [_released(each) for each in mechanism.releases]
    for each in others:
        if isinstance(each, Laplace):
            events.append(event_beside(each))
    if len(events) == 1:
        return events[0]
    return _event("ComposedDpEvent", events=events)


def event_beside(release: Laplace) -> Event:
    """Return a release beside the steps as a DpEvent."""
    return _repetition(_event("LaplaceDpEvent", noise_multiplier=release.scale), release.count)


def read_beside(found: Any) -> Laplace:
    """Read what `event_beside` wrote. Errors: ValueError for another event."""
    drawn = [release for _, release in _releases(_object(found), "")]
    if len(drawn) != 1 or not isinstance(drawn[0], Laplace):
        raise ValueError("Expected a LaplaceDpEvent beside the steps.")
    return drawn[0]


def read_event(found: Any) -> Claim:
    """Read q, sigma, steps and sampler of an event, and Laplace releases beside its steps.

    Errors: ValueError for an event of another kind.

    >>> read_event(event_of(Mechanism.constant(0.01, 2.0, 50))).steps
    50
    """
    samplers: set[str] = set()
    steps: list[Release] = []
    others: list[Laplace] = []
    for sampler, release in _releases(_object(found), ""):
        if sampler:
            samplers.add(sampler)
        if isinstance(release, Release):
            steps.append(release)
        else:
            others.append(release)
    if not steps or len(samplers) > 1:
        raise ValueError("Expected the event to hold Gaussian steps of one kind of sampling.")
    sampler_of_all = next(iter(samplers), None)
    return replace(claim_of(steps), sampler=sampler_of_all, beside=tuple(others) or None)


def claim_of(releases: list[Release]) -> Claim:
    """Return a claim about releases; join equal neighbours."""
    joined = []
    for (q, sigma), alike in groupby(releases, key=attrgetter("q", "sigma")):
        count = sum(each.count for each in alike)
        joined.append(Release(q, sigma, count))
    mechanism = Mechanism(tuple(joined))
    if len(joined) > 1:
        return Claim(mechanism=mechanism)
    only = joined[0]
    return Claim(q=only.q, sigma=only.sigma, steps=only.count, mechanism=mechanism)


def event_in(text: str) -> Any:
    """Parse an event as Python prints it, such as `GaussianDpEvent(noise_multiplier=1.0)`, without
    running it.

    Errors: ValueError for any other text.
    """
    try:
        return _literal(ast.parse(text.strip().replace("\n...", "\n"), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError):
        raise ValueError("Expected the text to be a DpEvent as Python prints it.") from None


def _released(release: Release) -> Event:
    step = _event("GaussianDpEvent", noise_multiplier=float(release.sigma))
    if release.q < 1:
        step = _event("PoissonSampledDpEvent", sampling_probability=float(release.q), event=step)
    return _repetition(step, release.count)


def _repetition(event: Event, count: int) -> Event:
    if count == 1:
        return event
    return _event("SelfComposedDpEvent", event=event, count=count)


def _event(class_name: str, **values: Any) -> Event:
    return {"module_name": MODULE, "class_name": class_name, **values}


def _object(found: Any, depth: int = 0) -> Event:
    """Return an event in any of its forms as an object of its fields."""
    if depth > MAX_DEPTH:
        raise ValueError(f"Expected at most {MAX_DEPTH} events within each other.")
    if isinstance(found, list) and len(found) >= 2 and isinstance(found[1], str):
        fields = FIELDS.get(found[1], ())
        found = {"class_name": found[1], **dict(zip(fields, found[2:], strict=False))}
    if not isinstance(found, Mapping) or not isinstance(found.get("class_name"), str):
        raise ValueError("Expected a DpEvent to name its class_name.")
    name = found["class_name"]
    if name not in FIELDS:
        raise ValueError(f"Expected the event {name[:60]} to be one of: {', '.join(FIELDS)}.")
    values: Event = {}
    for field in FIELDS[name]:
        if field not in found:
            raise ValueError(f"Expected the event {name} to have {field}.")
        values[field] = found[field]
    if "event" in values:
        values["event"] = _object(values["event"], depth + 1)
    if "events" in values:
        if not isinstance(values["events"], list | tuple):
            raise ValueError("Expected the events of a ComposedDpEvent to be a list.")
        values["events"] = [_object(each, depth + 1) for each in values["events"]]
    return {"class_name": name, **values}


Drawn = tuple[str, Release | Laplace]  # a release, and the sampler of its batch


def _releases(event: Event, sampler: str, q: float = 1.0) -> Iterator[Drawn]:
    """Yield the releases of an event, each with its sampler; "" if every batch has all examples."""
    match event["class_name"]:
        case "GaussianDpEvent":
            yield sampler, Release(q, event["noise_multiplier"])
        case "LaplaceDpEvent":
            if sampler:
                raise ValueError(
                    "Expected no LaplaceDpEvent on a sample: only one of all records has a bound"
                    " here."
                )
            yield "", Laplace(event["noise_multiplier"])
        case name if name in SAMPLED:
            if sampler:
                raise ValueError("Expected no sample to be drawn from a sample.")
            yield from _on_one_sample(event["event"], SAMPLED[name], _rate(event))
        case "SelfComposedDpEvent":
            yield from _repeated(list(_releases(event["event"], sampler, q)), event["count"])
        case "ComposedDpEvent":
            for each in event["events"]:
                yield from _releases(each, sampler, q)


def _rate(event: Event) -> float:
    """Return the sampling rate of an event: as it is, or from the sizes of the data and a batch."""
    *sizes, last = [event[name] for name in FIELDS[event["class_name"]] if name != "event"]
    if not sizes:
        return last
    checked = Claim(batch=last, examples=sizes[0])
    assert checked.batch is not None
    assert checked.examples is not None
    return checked.batch / checked.examples


def _on_one_sample(event: Event, sampler: str, q: float) -> Iterator[Drawn]:
    """Join Gaussians on the same sample into one release: their squared ratios of signal to noise
    add up.
    """
    inner = [each for _, each in _releases(event, sampler) if isinstance(each, Release)]
    if len(inner) == 1 and inner[0].count == 1:
        yield sampler, Release(q, inner[0].sigma)
    elif inner:
        ratios = [math.sqrt(each.count) / each.sigma for each in inner]
        yield sampler, Release(q, math.hypot(*ratios) ** -1)


def _repeated(once: list[Drawn], count: Any) -> Iterator[Drawn]:
    if len(once) == 1:
        ((sampler, each),) = once
        times = Claim(steps=count).steps
        yield sampler, replace(each, count=each.count * times)  # type: ignore[operator]
        return
    few_enough = isinstance(count, int) and 1 <= count * max(1, len(once)) <= MAX_RELEASES
    if not few_enough:
        raise ValueError(
            f"Expected the event to be at most {MAX_RELEASES:,} kinds of steps, one after another."
        )
    yield from once * count


def _literal(node: ast.expr, depth: int = 0) -> Any:
    """Convert a call into its event, and keep lists and numbers."""
    if depth > MAX_DEPTH:
        raise ValueError(depth)
    match node:
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=given, keywords=named
        ):
            values = dict(zip(FIELDS.get(name, ()), given, strict=False))
            for keyword in named:
                if keyword.arg:
                    values[keyword.arg] = keyword.value
            event: Event = {"class_name": name}
            for key, value in values.items():
                event[key] = _literal(value, depth + 1)
            return event
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(each, depth + 1) for each in items]
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.BinOp(op=ast.Div(), left=above, right=below):
            return _literal(above, depth + 1) / _literal(below, depth + 1)
    raise ValueError(node)
