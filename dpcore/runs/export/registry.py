"""A run as an entry of the OpenDP Deployments Registry, which our reader of claims reads back.

The phrases that state a number are those of `dpcore.claims`: the entry claims what the run proves.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from textwrap import indent
from typing import NamedTuple

from dpcore.claims import Claim, printed_epsilon, read
from dpcore.claims.claim import MEANT, own_adjacency
from dpcore.claims.dp_event import Event, claim_of, event_of
from dpcore.claims.setup import setup_of
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.report.statement import NOT_COVERED, delta_warning, seed_warning
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.export.base import TextForm, filled
from dpcore.runs.export.model_card import BEFORE
from dpcore.runs.export.scripts import where_trained
from dpcore.runs.history import RunRecord
from dpcore.runs.plain_text import escaped
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import sensitivity_of, unbounded

# Our reader asks back about numbers beyond these, or takes no longer event from a text.
LEAST_EPSILON = 1e-3
MOST_SIGMA = 100.0
MAX_EVENT_CHARS = 9_000
KIND_OF_EVENT = ("module_name", "class_name")
CERTIFIED_IN_WORDS = "a privacy loss distribution with certified bounds"
LEFT_OUT = "Name, note and machine are left out, because they read like values of a training."
ONE_RUN = "Epsilon covers this run alone: it does not count a choice among several."


class Words(NamedTuple):
    """What people named or noted, and their machine; it decides nothing."""

    name: str = ""
    data: str = "a data set of their own"
    note: str = ""
    machine: str = ""


def registry_entry(records: Sequence[RunRecord]) -> str:
    """The entry of one run, of tier 3, in YAML.

    Words of people are left out if they change what our reader finds: a name is no value. Errors:
    ValueError for a run without a proven epsilon.
    """
    (record,) = records
    claim = _claim(record)
    without = _entry(record, claim, Words(note=LEFT_OUT))
    entry = _entry(record, claim, _words(record))
    return entry if _claims_in(entry) == _claims_in(without) else without


def _claim(record: RunRecord) -> Claim:
    """All that the entry claims; epsilon is certified and rounded up."""
    config = record.config
    released = _released(record)
    poisson = config.sampler == Poisson.name
    claim = replace(
        claim_of(list(released.releases)),
        delta=config.delta,
        examples=config.examples,
        sampler=config.sampler,
        adjacency=own_adjacency(config.sampler),
        accountant=CERTIFIED if poisson else None,
    )
    # Of the claim: for both lengths of an epoch, where 1/q is no whole number.
    bounds = setup_of(claim).proven_bounds()
    if math.isinf(bounds.upper):
        raise ValueError(f"Run {record.run.id} has no epsilon to register. {bounds.note}")
    upper = max(float(outward(bounds.upper, math.ceil)), LEAST_EPSILON)
    said_by_names = claim.sigma is not None and claim.sigma <= MOST_SIGMA
    too_long = len(_as_python(event_of(released))) > MAX_EVENT_CHARS
    if said_by_names or too_long or not poisson:
        claim = replace(claim, mechanism=None)
    return replace(claim, epsilon=printed_epsilon(_number(upper)))


def _released(record: RunRecord) -> Mechanism:
    """The releases of the run. Errors: ValueError if nothing is proven for them."""
    config = record.config
    if config.sampler == Poisson.name or unbounded(config):
        return record.needed_mechanism("to register")
    if record.history.step == 0:
        raise ValueError(f"Run {record.run.id} has no epsilon to register: it has taken no step.")
    sigma = config.sigma / sensitivity_of(config)
    return Mechanism.constant(config.q, sigma, record.history.step)


def _claims_in(entry: str) -> list[Claim] | None:
    """All that our reader finds in the entry; None if it reads no such text."""
    try:
        return [each.claim for each in read(entry).runs]
    except ValueError:
        return None


def _words(record: RunRecord) -> Words:
    # Without the fingerprint of the data, which no epsilon covers.
    machine = [f"{name} {text}" for name, text in where_trained(record).items() if name != "data"]
    return Words(
        record.run.name,
        DATASETS[record.config.dataset].title,
        record.run.note,
        f"Trained with {', '.join(machine)}." if machine else "",
    )


def _entry(record: RunRecord, claim: Claim, words: Words) -> str:
    config = record.config
    data = _plain(words.data)
    assert claim.epsilon is not None
    assert claim.delta is not None
    assert claim.adjacency is not None
    seeds = [] if config.seed is None else [config.seed]
    warnings = [delta_warning(claim.delta, claim.examples), seed_warning(seeds)]
    about = DATASETS[config.dataset].note
    return filled(
        "registry.yaml",
        run=record.run.id,
        slug=_quoted(f"run-{record.run.id}"),
        product=_quoted(_plain(words.name)),
        description=_quoted(
            f"The weights of a network ({config.model}), trained on {data} with DP-SGD."
        ),
        domain=_quoted(f"All sets of labelled training examples of the form of {data}."),
        not_covered=NOT_COVERED,
        adjacency=MEANT[claim.adjacency],
        epsilon=claim.epsilon.text,
        delta=_number(claim.delta),
        warning="".join(f"\n      {each}" for each in warnings if each),
        optimizer=OPTIMIZERS[config.optimizer].title,
        composition=_listed(_composition(record, claim)),
        preprocessing=_quoted(f"{about} {ONE_RUN}".strip()),
        mechanisms=_listed(_mechanisms(record, claim)),
        notes=_quoted(_notes(record, words)),
    )


def _composition(record: RunRecord, claim: Claim) -> list[str]:
    lines = []
    if claim.steps is not None:
        lines.append(f"Number of steps: {claim.steps}")
    if claim.accountant is not None:
        lines.append(f"Accountant: {claim.accountant}, {CERTIFIED_IN_WORDS}")
    else:
        lines.append("Epsilon is proven for these batches as a whole, by a bound of their own.")
    if claim.mechanism is not None:
        lines.append(
            f"All releases, as dp-accounting writes them: {_as_python(event_of(claim.mechanism))}"
        )
    elif claim.steps is None:
        lines.append("The noise changes from step to step. The DpEvent of the run lists all of it.")
    if record.plan.spent:
        lines.append(BEFORE.format(count=record.plan.repeated))
    return lines


def _mechanisms(record: RunRecord, claim: Claim) -> list[str]:
    config = record.config
    lines = []
    if claim.mechanism is None and claim.sigma is not None and claim.q is not None:
        lines += [
            f"Noise multiplier: {_number(claim.sigma)}",
            f"Sampling rate: {_number(claim.q)}",
        ]
    return [
        *lines,
        f"Batches: {SAMPLERS[config.sampler].phrase}",
        f"Number of training examples: {config.examples}",
        f"Clipping norm: {_number(config.clip_norm)} ({CLIPPINGS[config.clipping].title})",
    ]


def _notes(record: RunRecord, words: Words) -> str:
    texts = [
        f"Run {record.run.id}, {record.run.status.value}.",
        _plain(record.not_measured),
        _plain(words.machine),
        _plain(words.note),
    ]
    return " ".join(each for each in texts if each)


def _number(value: float) -> str:
    """A number as YAML and our reader read it, with all its digits.

    >>> _number(1e-5), _number(0.25), _number(1e22)
    ('1.0e-05', '0.25', '1.0e+22')
    """
    digits, exponent, power = repr(float(value)).partition("e")
    if "." not in digits:
        digits = f"{digits}.0"
    return f"{digits}{exponent}{power}"


def _plain(words: str) -> str:
    """The words on one line, escaped for Markdown, without two backslashes in a row."""
    return escaped(words).replace("\\\\", "&#92;")


def _quoted(text: str) -> str:
    """A text as YAML, whatever it holds.

    >>> print(_quoted('a: "b" # c'))
    "a: \\"b\\" # c"
    """
    return json.dumps(text, ensure_ascii=False)


def _listed(lines: Sequence[str]) -> str:
    return indent("\n".join(f"- {each}" for each in lines), " " * 6)


def _as_python(event: Event) -> str:
    """An event as Python prints it."""
    given = []
    for name, value in event.items():
        if name == "event":
            given.append(f"{name}={_as_python(value)}")
        elif name == "events":
            given.append(f"{name}=[{', '.join(map(_as_python, value))}]")
        elif name not in KIND_OF_EVENT:
            given.append(f"{name}={value!r}")
    return f"{event['class_name']}({', '.join(given)})"


REGISTRY = TextForm(
    "registry",
    "An OpenDP Deployments Registry entry",
    ".yaml",
    "application/yaml",
    registry_entry,
)
