"""A verdict as a file that can be cited, and judged again by whoever has it.

The file has a SHA-256 of what was judged: the claim, and which of its fields a person set by hand.
It shows that a file was changed by accident; it is no signature.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from dpcore.claims.claim import NAMES, Claim
from dpcore.claims.dp_event import read_beside, read_event
from dpcore.claims.facts import NAMES as FACT_NAMES
from dpcore.claims.printed import printed_epsilon
from dpcore.claims.verdict import ClaimVerdict, Standing, as_object, judge
from dpcore.privacy.selection.best_of import read_runs

FORMAT = "dpcore claim certificate 1"
NOT_ONE = "Expected a certificate as this program writes it, a JSON object with a claim."
OTHER_INPUTS = "The certificate does not belong to its inputs: they were changed after it was made."
SAME = "The certificate is that of its inputs, and its verdict stands: {}."
CHANGED = "The certificate says something else than its inputs. Judged again: {}"
DIFFERS = "The certificate is that of its inputs. It says {}; this program says {}."


def certificate_of(
    verdict: ClaimVerdict, by_hand: Collection[str] = (), told: Collection[str] = ()
) -> dict[str, Any]:
    """A verdict for JSON, with the hash of its inputs.

    `by_hand` names the fields that a person set, `told` the facts that only words of a text state.
    """
    inputs = {
        "claim": as_object(verdict)["claim"],
        "by_hand": sorted(by_hand),
        "told": sorted(told),
    }
    return {
        "format": FORMAT,
        "inputs": inputs,
        "sha256": _hash_of(inputs),
        **as_object(verdict),
    }


def check_again(found: Any) -> str:
    """Judge the inputs of a certificate, and say whether its verdict stands.

    Errors: ValueError for what is no certificate.
    """
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise ValueError(NOT_ONE)
    inputs = found.get("inputs")
    if not isinstance(inputs, Mapping) or not isinstance(inputs.get("claim"), Mapping):
        raise ValueError(NOT_ONE)
    if _hash_of(inputs) != found.get("sha256"):
        return OTHER_INPUTS
    told = inputs.get("told")
    said = found.get("verdict")
    standings = [each.value for each in Standing]
    if not isinstance(told, list) or said not in standings:
        raise ValueError(NOT_ONE)
    known_facts = [each for each in told if each in FACT_NAMES]
    verdict = judge(claim_in(inputs["claim"]), known_facts)
    fresh = as_object(verdict)
    if said != verdict.standing.value:
        return DIFFERS.format(said, verdict.standing.value)
    same_claim = found.get("claim") == fresh["claim"]
    same_sentence = found.get("sentence") == fresh["sentence"]
    if not (same_claim and same_sentence):
        return CHANGED.format(verdict.sentence)
    return SAME.format(f"{said}. {verdict.sentence}".rstrip("."))


def claim_in(found: Mapping[str, Any]) -> Claim:
    """The claim in a verdict for JSON. Errors: ValueError for a field that is none, or its value.

    >>> claim_in({"epsilon": "3.0", "delta": 1e-5}).epsilon.text
    '3.0'
    """
    values: dict[str, Any] = {}
    for name, value in found.items():
        if name not in NAMES:
            raise ValueError(f"Expected the claim to have no field {str(name)[:40]!r}.")
        values[name] = value
    if "epsilon" in values:
        values["epsilon"] = printed_epsilon(str(values["epsilon"]))
    if "mechanism" in values:
        values["mechanism"] = read_event(values["mechanism"]).mechanism
    if "beside" in values:
        values["beside"] = tuple(map(read_beside, values["beside"]))
    if "runs" in values:
        values["runs"] = read_runs(str(values["runs"]))
    try:
        return Claim(**values)
    except (TypeError, AttributeError):
        raise ValueError(NOT_ONE) from None


def _hash_of(inputs: Mapping[str, Any]) -> str:
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
