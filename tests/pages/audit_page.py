"""The audit page in a test: opened and read; an audit's events are written as a worker would."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from dpcore.audit.bounds.roc import roc_of
from dpcore.audit.events import Counted, Event, Finished, Measured, Prepared, Scored, Watched
from dpcore.audit.request import AuditRequest
from dpcore.audit.run_audit import traced
from dpcore.audit.verdict import judge
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[2] / "pages" / "audit.py"
CONFIG = RunConfig(model="mlp", sigma=1.0, batch=500, epochs=0.5)
REQUEST = AuditRequest(CONFIG, "half_noise", canaries=200, torch_draws=1000)
CLAIM = Mechanism.constant(0.05, 1.0, 10)
opened = partial(opened_at, PAGE)


GENERATOR = Measured(
    audit="generator",
    title="Generator",
    tests="Normal.",
    untested="Gaps.",
    shows="1,000 draws.",
    p_value=0.5,
    epsilon=None,
    unbounded=False,
    evidence="bound",
    figures=(("draws", 1000.0), ("largest", 3.1), ("expected_beyond", 1.9)),
)
ONE_RUN = Measured(
    audit="one_run",
    title="One run",
    tests="All of it.",
    untested="Nothing.",
    shows="60 of 100.",
    p_value=1.0,
    epsilon=0.25,
    unbounded=False,
    evidence="bound",
)
IN_OUT = Measured(
    audit="in_out",
    title="In and out",
    tests="All of it.",
    untested="Runs.",
    shows="A threshold.",
    p_value=None,
    epsilon=0.4,
    unbounded=False,
    evidence="estimate",
)
LOSSES = Measured(
    audit="losses",
    title="Losses of a trained model",
    tests="The model.",
    untested="Others.",
    shows="2 %.",
    p_value=None,
    epsilon=0.0,
    unbounded=False,
    evidence="estimate",
    figures=(
        ("tpr_at_0.01_fpr", 0.02),
        ("tpr_at_0.01_fpr_above", 0.01),
        ("tpr_at_0.01_fpr_below", 0.1),
    ),
)


def found_noise(epsilon: float | None = 9.0, p_value: float = 0.0) -> Measured:
    """What a noise audit says."""
    return Measured(
        audit="noise",
        title="Noise",
        tests="As noisy as charged.",
        untested="All else.",
        shows="10 projections: sigma is at most 0.5.",
        p_value=p_value,
        epsilon=epsilon,
        unbounded=False,
        evidence="conditional",
    )


def prepared(claim: Mechanism | None) -> Prepared:
    """The event before the first step of an audit of this claim."""
    claimed = []
    unaccounted = "Nothing is charged: there is no noise."
    if claim:
        claimed = [(each.q, each.sigma, each.count) for each in claim.releases]
        unaccounted = ""
    return Prepared(
        examples=10_000,
        steps=10,
        q=0.05,
        parameters=1000,
        canaries=200,
        inside=100,
        device="cpu",
        claimed=tuple(claimed),
        delta=1e-5,
        unaccounted=unaccounted,
    )


def events_of(noise: Measured | None = None, claim: Mechanism | None = CLAIM) -> list[Event]:
    """What an audit says: of its noise, of one run, of an estimate, of a generator, and of what it
    could not tell.
    """
    generator = np.random.default_rng(0)
    inside = generator.normal(0.1, 0.4, 100)
    outside = generator.normal(-0.1, 0.4, 100)
    roc = roc_of(inside, outside)
    found = [noise or found_noise(), GENERATOR, ONE_RUN, IN_OUT, LOSSES]
    return [
        prepared(claim),
        Watched(5, 10, 0.5),
        Watched(10, 10, 0.5),
        *found,
        Counted(1000, 3.5, 0.47),
        Scored(tuple(inside.tolist()), tuple(outside.tolist())),
        *traced("one_run", roc),
        *traced("losses", roc),
        judge(found, claim, 1e-5, 0.95),
        Finished(10, 4.0),
    ]


def recorded(
    store: Store,
    said: Sequence[Event] | None = None,
    status: Status | None = Status.FINISHED,
    error: str | None = None,
    request: AuditRequest = REQUEST,
) -> str:
    """An audit that has said this; still running where the status is None."""
    run = store.submit(request, worker="test:1")
    for event in events_of() if said is None else said:
        store.append(run, event)
    if status:
        store.end(run, status, error)
    return run


def of_config(**settings: object) -> AuditRequest:
    """The audit of these settings by our own trainer."""
    return replace(REQUEST, config=replace(CONFIG, **settings), trainer="own")  # type: ignore[arg-type]


def without(said: Sequence[Event], *kinds: type) -> list[Event]:
    """The events but for some kinds of them."""
    return [each for each in said if not isinstance(each, kinds)]
