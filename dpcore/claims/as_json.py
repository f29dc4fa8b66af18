"""A verdict as JSON has it: null stands for what is not said, and for infinity."""

import math
from typing import Any

from dpcore.claims.claim import said
from dpcore.claims.dp_event import event_of
from dpcore.claims.recounts import Recount
from dpcore.claims.verdict import Certificate, ClaimVerdict


def as_object(verdict: ClaimVerdict) -> dict[str, Any]:
    """The verdict with its certificate, what the accountants give, and the mechanism as a DpEvent of dp-accounting."""
    certificate = verdict.certificate
    return {
        "claim": {name: _plain(value) for name, value in said(verdict.claim).items()},
        "verdict": verdict.standing.value,
        "sentence": verdict.sentence,
        "room": verdict.room,
        "certificate": None if certificate is None else _certificate(certificate),
        "given_by": [_recount(each) for each in verdict.given_by],
        "counted": [_recount(each) for each in verdict.counted],
        "notes": list(verdict.notes),
        "review": verdict.review,
    }


def event_for(certificate: Certificate) -> dict[str, Any] | None:
    """The mechanism as a DpEvent of dp-accounting; None where batches are drawn as none of its events has it."""
    return event_of(certificate.setting.mechanism) if certificate.setting.sampler == "poisson" else None


def _certificate(certificate: Certificate) -> dict[str, Any]:
    setting, bounds = certificate.setting, certificate.bounds
    return {
        "sampler": setting.sampler,
        "adjacency": setting.adjacency,
        "delta": setting.delta,
        "q": list(setting.rates),
        "steps": [setting.fewest, setting.most],
        "steps_an_epoch": list(setting.lengths),
        "kind": str(bounds.kind),
        "lower": _finite(bounds.lower),
        "upper": _finite(bounds.upper),
        "note": bounds.note,
        "dp_event": event_for(certificate),
    }


def _recount(recount: Recount) -> dict[str, Any]:
    epsilon = [_finite(recount.least), _finite(recount.most)]
    return {"accountant": recount.accountant, "how": recount.how, "kind": str(recount.kind), "epsilon": epsilon}


def _plain(value: Any) -> Any:
    text = getattr(value, "text", None)
    if text is not None:
        return text
    return event_of(value) if hasattr(value, "releases") else value


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
