"""What a claim is worth: it holds, is unproven or refuted, contradicts itself, or does not say enough."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from dpcore.claims import review
from dpcore.claims.claim import Claim
from dpcore.claims.clashes import clashes
from dpcore.claims.printed import Printed
from dpcore.claims.recounts import Recount, giving, recounts
from dpcore.claims.samplers import ADJACENCIES, BATCHES, MEANT, Bounds
from dpcore.claims.setting import Setting, missing, setting_of
from dpcore.privacy.report.numbers import nearest
from dpcore.privacy.report.statement import delta_warning


class Standing(StrEnum):
    """What a claim is worth, in one word."""

    HOLDS = "holds"  # the certified upper bound is at most what is claimed
    UNPROVEN = "unproven"  # what is claimed lies between the proven bounds, or is rounded from there
    REFUTED = "refuted"  # the proven lower bound exceeds whatever rounds to what is claimed
    CONTRADICTORY = "contradictory"  # its numbers do not fit one another, or its accountant gives another number
    INSUFFICIENT = "insufficient"  # a number is missing


@dataclass(frozen=True)
class Certificate:
    """What is proven of epsilon, and of which setting."""

    setting: Setting
    bounds: Bounds


@dataclass(frozen=True)
class ClaimVerdict:
    """What a claim is worth, why, and what a reviewer may write."""

    claim: Claim
    standing: Standing
    sentence: str
    review: str
    certificate: Certificate | None = None  # None where the claim is about no mechanism
    counted: tuple[Recount, ...] = ()  # by every accountant, in all the ways that are known
    given_by: tuple[Recount, ...] = ()  # which of those give the claimed number
    notes: tuple[str, ...] = ()  # what is assumed, and what else to know

    @property
    def room(self) -> float | None:
        """How much more than what is proven is claimed; None unless the claim holds."""
        if self.standing is not Standing.HOLDS or self.certificate is None or self.claim.epsilon is None:
            return None
        return self.claim.epsilon.value - self.certificate.bounds.upper


def checked(claim: Claim) -> ClaimVerdict:
    """The verdict on a claim; whatever it says, there is one.

    >>> verdict = checked(Claim(Printed("1.26"), delta=1e-5, q=0.01, sigma=4.0, steps=10_000, accountant="moments"))
    >>> verdict.standing.value, round(verdict.certificate.bounds.upper, 2)
    ('holds', 0.95)
    """
    lacking, wrong = missing(claim), clashes(claim)
    if wrong:
        return _without(claim, Standing.CONTRADICTORY, review.contradictory(wrong))
    if lacking:
        named = (*lacking, *(("epsilon",) if claim.epsilon is None else ()))
        return _without(claim, Standing.INSUFFICIENT, review.insufficient(named))
    try:
        setting = setting_of(claim)
        certificate = Certificate(setting, setting.bounds)
    except (ValueError, RuntimeError) as error:
        return _without(claim, Standing.INSUFFICIENT, str(error))
    return _judged(claim, certificate)


def _judged(claim: Claim, certificate: Certificate) -> ClaimVerdict:
    """The verdict where the claim is about a mechanism."""
    setting, bounds = certificate.setting, certificate.bounds
    counted = recounts(setting)
    notes, condition = _notes(claim, certificate), _condition(claim, setting)
    if claim.epsilon is None:
        text = review.insufficient(("epsilon",))
        words = f"{text} {review.given(condition, review.proven(bounds))}", review.of_insufficient(text)
        return ClaimVerdict(claim, Standing.INSUFFICIENT, *words, certificate, counted, (), notes)
    given_by = giving(counted, claim.epsilon)
    standing, sentence = _compared(claim.epsilon, bounds)
    sentence = review.given(condition, sentence)
    own = () if claim.accountant in [each.accountant for each in given_by] else _by(claim.accountant, counted)
    if own and standing is not Standing.REFUTED and all(each.least > claim.epsilon.value for each in own):
        sentence = f"{review.other_number(own, claim.epsilon)} {sentence}"
        standing = Standing.CONTRADICTORY
    elif own and all(each.most < claim.epsilon.value for each in own):
        notes = (review.looser(own, claim.epsilon), *notes)
    written = review.sentence_for(standing.value, claim.epsilon, str(setting), sentence, bounds, condition)
    return ClaimVerdict(claim, standing, sentence, written, certificate, counted, given_by, notes)


def _by(accountant: str | None, counted: tuple[Recount, ...]) -> tuple[Recount, ...]:
    return tuple(each for each in counted if each.accountant == accountant)


def _condition(claim: Claim, setting: Setting) -> str:
    """What the verdict is true for, where the claim does not say it, as a sentence begins."""
    if claim.sampler is None:
        return f"If its batches are {BATCHES[setting.sampler].removesuffix(' batches')}'s"
    if claim.adjacency is None and setting.sampler != "poisson":
        return f"Under {ADJACENCIES[setting.adjacency]} adjacency"
    return ""


def _compared(printed: Printed, bounds: Bounds) -> tuple[Standing, str]:
    """What the certified bounds say of a printed epsilon, which may be rounded."""
    if bounds.lower > printed.high:
        return Standing.REFUTED, review.refuted(printed, bounds)
    if bounds.upper <= printed.value:
        return Standing.HOLDS, review.holds(printed, bounds)
    return Standing.UNPROVEN, review.unproven(printed, bounds)


def _without(claim: Claim, standing: Standing, sentence: str) -> ClaimVerdict:
    return ClaimVerdict(claim, standing, sentence, review.of_insufficient(sentence), notes=_of_delta(claim))


def _notes(claim: Claim, certificate: Certificate) -> tuple[str, ...]:
    """What is assumed, what would be so otherwise, and the bounds' own note."""
    setting, note = certificate.setting, certificate.bounds.note
    notes = [note] if note else []
    if claim.sampler is None:
        notes.append(f"{review.ASSUMED} {_if_shuffled(claim, certificate)}".strip())
    elif setting.sampler != "poisson":
        notes.append(review.COUNT_POISSON)
    if claim.adjacency is None:
        notes.append(f"The claim names no adjacency: judged under {MEANT[setting.adjacency]}.")
    if setting.fewest < setting.most:
        notes.append(review.OPEN_STEPS.format(f"{setting.fewest:,}", f"{setting.most:,}"))
    if len(setting.lengths) > 1:
        notes.append(review.OPEN_EPOCH.format(" or ".join(f"{each:,}" for each in setting.lengths)))
    low, high = setting.rates
    if low < high and len(setting.mechanism.releases) == 1:
        notes.append(review.OPEN_RATE.format(nearest(low, 6), nearest(high, 6)))
    return (*notes, *_of_delta(claim))


def _if_shuffled(claim: Claim, certificate: Certificate) -> str:
    """What is proven if the batches were shuffled instead, as most programs do; "" where that is no more."""
    try:
        lower = setting_of(replace(claim, sampler="shuffle")).bounds.lower
    except (ValueError, RuntimeError):
        return ""
    return review.if_shuffled(lower) if certificate.bounds.upper < lower < math.inf else ""


def _of_delta(claim: Claim) -> tuple[str, ...]:
    warning = delta_warning(claim.delta, claim.examples) if claim.delta is not None else ""
    return (warning,) if warning else ()
