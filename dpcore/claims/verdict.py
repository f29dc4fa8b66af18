"""The verdict on a claim: it holds, is unproven, refuted, contradictory or insufficient."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dpcore.claims import review
from dpcore.claims.accountant_variants import Recount, giving, recounts
from dpcore.claims.cases import clashes
from dpcore.claims.claim import MEANT, Claim, values_of
from dpcore.claims.dp_event import event_beside, event_of
from dpcore.claims.facts import completeness
from dpcore.claims.setup import Bounds, ClaimedSetup, missing, setup_of
from dpcore.privacy.beside import Laplace
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import finite, nearest, outward
from dpcore.privacy.report.statement import delta_warning
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.sampling.orders import Shuffle


class Standing(StrEnum):
    """The worth of a claim, in one word."""

    HOLDS = "holds"  # the certified upper bound is at most the claimed epsilon
    # The claimed epsilon lies between the proven bounds, or is rounded from there.
    UNPROVEN = "unproven"
    # The proven lower bound exceeds every number that rounds to the claimed epsilon.
    REFUTED = "refuted"
    # Its numbers contradict one another, or its accountant gives another number.
    CONTRADICTORY = "contradictory"
    INSUFFICIENT = "insufficient"  # a number is missing


@dataclass(frozen=True)
class Certificate:
    """The proven bounds of epsilon, and their setup."""

    setup: ClaimedSetup
    bounds: Bounds


@dataclass(frozen=True)
class ClaimVerdict:
    """The standing of a claim, with reasons and a sentence for a review."""

    claim: Claim
    standing: Standing
    sentence: str
    review: str
    certificate: Certificate | None = None  # None for a claim without a mechanism
    counted: tuple[Recount, ...] = ()  # by all accountants, in all known ways
    given_by: tuple[Recount, ...] = ()  # those that give the claimed number
    notes: tuple[str, ...] = ()  # assumptions and remarks
    complete: str = ""  # how many of the facts of facts.py are stated, and which are missing

    @property
    def room(self) -> float | None:
        """The claimed epsilon less the proven one; None unless the claim holds."""
        if self.standing is not Standing.HOLDS:
            return None
        if self.certificate is None or self.claim.epsilon is None:
            return None
        return self.claim.epsilon.value - self.certificate.bounds.upper


def judge(claim: Claim, told: Collection[str] = ()) -> ClaimVerdict:
    """Judge a claim; every claim gets a verdict. `told` names the facts that words state.

    >>> from dpcore.claims import Printed
    >>> claim = Claim(
    ...     Printed("1.26"), delta=1e-5, q=0.01, sigma=4.0, steps=10_000, accountant="moments"
    ... )
    >>> verdict = judge(claim)
    >>> verdict.standing.value, round(verdict.certificate.bounds.upper, 2)
    ('holds', 0.95)
    """
    return replace(_verdict(claim), complete=completeness(claim, told))


def _verdict(claim: Claim) -> ClaimVerdict:
    lacking = missing(claim)
    wrong = clashes(claim)
    if wrong:
        return _without(claim, Standing.CONTRADICTORY, " ".join(wrong))
    if lacking:
        if claim.epsilon is None:
            lacking = (*lacking, "epsilon")
        return _without(claim, Standing.INSUFFICIENT, review.insufficient(lacking))
    try:
        setup = setup_of(claim)
        certificate = Certificate(setup, setup.proven_bounds())
    except (ValueError, RuntimeError) as error:
        return _without(claim, Standing.INSUFFICIENT, str(error))
    return _judged(claim, certificate)


def _judged(claim: Claim, certificate: Certificate) -> ClaimVerdict:
    setup, bounds = certificate.setup, certificate.bounds
    counted = () if setup.beside else recounts(setup)  # they know Gaussian steps alone
    notes = _notes(claim, certificate)
    condition = _condition(claim, setup)
    if claim.epsilon is None:
        words = _without_epsilon(bounds, condition)
        return ClaimVerdict(claim, Standing.INSUFFICIENT, *words, certificate, counted, (), notes)
    given_by = giving(counted, claim.epsilon)
    name, sentence = review.compared(claim.epsilon, bounds)
    standing, sentence = Standing(name), review.given(condition, sentence)
    own = _differing(claim.accountant, counted, given_by)
    gives_more = bool(own) and min(each.least for each in own) > claim.epsilon.value
    gives_less = bool(own) and max(each.most for each in own) < claim.epsilon.value
    differs_in_a_digit = any(each.nearly(claim.epsilon) for each in own)
    if gives_more and differs_in_a_digit and standing is Standing.HOLDS:
        notes = (review.of_accountant("digit", own, claim.epsilon), *notes)
    elif gives_more and standing is not Standing.REFUTED:
        sentence = f"{review.of_accountant('other', own, claim.epsilon)} {sentence}"
        standing = Standing.CONTRADICTORY
    elif gives_less:
        notes = (review.of_accountant("looser", own, claim.epsilon), *notes)
    written = review.sentence_for(
        standing.value, claim.epsilon, str(setup), sentence, bounds, condition
    )
    return ClaimVerdict(claim, standing, sentence, written, certificate, counted, given_by, notes)


def _without_epsilon(bounds: Bounds, condition: str) -> tuple[str, str]:
    """Return the sentence on a claim that lacks epsilon alone, and the one for a review."""
    text = review.insufficient(("epsilon",))
    known = review.given(condition, review.proven(bounds))
    return f"{text} {known}", review.of_insufficient(text)


def _differing(
    accountant: str | None, counted: Collection[Recount], given_by: Collection[Recount]
) -> list[Recount]:
    """Return the numbers of the claim's accountant; none if one of them is the claimed number."""
    for each in given_by:
        if each.accountant == accountant:
            return []
    return [each for each in counted if each.accountant == accountant]


def _condition(claim: Claim, setup: ClaimedSetup) -> str:
    """Return an unstated condition of the verdict, as the beginning of a sentence."""
    if claim.sampler is None:
        return "If batches are Poisson-sampled"
    if claim.adjacency is None and setup.sampler != Poisson.name:
        return f"Under {setup.neighbours}"
    return ""


def _without(claim: Claim, standing: Standing, sentence: str) -> ClaimVerdict:
    return ClaimVerdict(
        claim, standing, sentence, review.of_insufficient(sentence), notes=_of_delta(claim)
    )


def _notes(claim: Claim, certificate: Certificate) -> tuple[str, ...]:
    setup, note = certificate.setup, certificate.bounds.note
    notes = []
    if note:
        notes.append(note)
    if claim.sampler is None:
        notes.append(f"{review.NOTES['assumed']} {_if_shuffled(claim, certificate)}".strip())
    elif setup.sampler != Poisson.name:
        notes.append(review.NOTES["count_poisson"])
    if claim.adjacency is None and sampler_of(setup.sampler).records == 1:
        notes.append(review.NOTES["adjacency"].format(MEANT[setup.adjacency]))
    if setup.fewest < setup.most:
        notes.append(review.NOTES["steps"].format(setup.fewest, setup.most))
    if len(setup.lengths) > 1:
        lengths = " or ".join(f"{each:,}" for each in setup.lengths)
        notes.append(review.NOTES["epoch"].format(lengths))
    low, high = setup.rates
    if low < high and len(setup.mechanism.releases) == 1:
        notes.append(review.NOTES["rate"].format(nearest(low, 6), nearest(high, 6)))
    return (*notes, *_of_delta(claim))


def _if_shuffled(claim: Claim, certificate: Certificate) -> str:
    """Say the lower bound for shuffled batches; "" unless it exceeds the upper bound."""
    try:
        lower = setup_of(replace(claim, sampler=Shuffle.name)).proven_bounds().lower
    except (ValueError, RuntimeError):
        return ""
    if not certificate.bounds.upper < lower < math.inf:
        return ""
    return review.NOTES["if_shuffled"].format(outward(lower, math.floor))


def _of_delta(claim: Claim) -> tuple[str, ...]:
    if claim.delta is None:
        return ()
    warning = delta_warning(claim.delta, claim.examples)
    if not warning:
        return ()
    return (warning,)


def as_object(verdict: ClaimVerdict) -> dict[str, Any]:
    """Return the verdict for JSON, with its certificate, its recounts, and its mechanism as a
    DpEvent.
    """
    claimed = {name: _value(each) for name, each in values_of(verdict.claim).items()}
    certificate = None
    if verdict.certificate is not None:
        certificate = _certificate(verdict.certificate)
    return {
        "claim": claimed,
        "verdict": verdict.standing.value,
        "sentence": verdict.sentence,
        "room": verdict.room,
        "certificate": certificate,
        "given_by": list(map(_recount, verdict.given_by)),
        "counted": list(map(_recount, verdict.counted)),
        "notes": list(verdict.notes),
        "complete": verdict.complete,
        "review": verdict.review,
    }


def _value(value: Any) -> Any:
    """A value of a claim for JSON."""
    if isinstance(value, Mechanism):
        return event_of(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Laplace):
        return list(map(event_beside, value))
    return getattr(value, "text", value)


def event_for(certificate: Certificate) -> dict[str, Any] | None:
    """Return the mechanism as a DpEvent of dp-accounting; None unless sampling is Poisson."""
    setup = certificate.setup
    if setup.sampler != Poisson.name:
        return None
    return event_of(setup.mechanism, setup.beside)


def _certificate(certificate: Certificate) -> dict[str, Any]:
    setup, bounds = certificate.setup, certificate.bounds
    return {
        "sampler": setup.sampler,
        "adjacency": setup.adjacency,
        "delta": setup.delta,
        "q": list(setup.rates),
        "steps": [setup.fewest, setup.most],
        "steps_an_epoch": list(setup.lengths),
        "kind": str(bounds.kind),
        "lower": finite(bounds.lower),
        "upper": finite(bounds.upper),
        "note": bounds.note,
        "dp_event": event_for(certificate),
    }


def _recount(recount: Recount) -> dict[str, Any]:
    epsilon = finite([recount.least, recount.most])
    return {
        "accountant": recount.accountant,
        "how": recount.how,
        "kind": str(recount.kind),
        "epsilon": epsilon,
    }
