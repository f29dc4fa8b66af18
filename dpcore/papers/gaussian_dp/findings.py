"""Numbers in the answers to paper 004's claims, and in the remarks on it."""

import math
from collections.abc import Iterator
from dataclasses import replace

from dpcore.papers.comparison import certified, certified_lower
from dpcore.papers.gaussian_dp.rows import (
    COUNTED,
    EXPERIMENTS,
    GRIDS,
    TOP,
    TOP_LESS,
    central_epsilon,
    claim_of,
    moments_epsilon,
)
from dpcore.papers.records import record_of
from dpcore.papers.words import Numbers, rounded_down, rounded_up
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget

ID = "004"


def _epsilons() -> Iterator[tuple[float, float, float]]:
    """Yield of each experiment epsilon by the CLT, and its proven lower and upper bound."""
    for each in EXPERIMENTS:
        proven = certified(claim_of(each.setting))
        yield central_epsilon(each.setting), proven.lower or 0.0, proven.value


def _limit() -> Numbers:
    """Find the shares by which the CLT lies outside the proven bounds, at most."""
    below = [1 - central / lower for central, lower, _ in _epsilons() if central < lower]
    above = [central / upper - 1 for central, _, upper in _epsilons() if central > upper]
    return {
        "count": len(below),
        "all": len(EXPERIMENTS),
        "below": math.floor(100 * max(below)),
        "above": math.floor(100 * max(above)),
    }


def _less_noise() -> Numbers:
    """Find what less noise spends, and the sigma that keeps the epsilon of the usual noise."""
    spent = certified_lower(claim_of(TOP_LESS))
    target = EpsilonTarget(moments_epsilon(TOP), TOP.delta)
    sigma = solve("sigma", target, q=TOP.q, steps=claim_of(TOP).mechanism.steps).value
    return {"spent": rounded_down(spent), "sigma": rounded_up(sigma)}


def _moments() -> Numbers:
    """Compare the certified epsilon with the moments accountant's, in every experiment."""
    gains = []
    for each, (_, _, upper) in zip(EXPERIMENTS, _epsilons(), strict=True):
        gains.append(1 - upper / moments_epsilon(each.setting))
    return {
        "least": math.floor(100 * min(gains)),
        "most": math.floor(100 * max(gains)),
        "too_far": _limit()["count"],
        "all": len(EXPERIMENTS),
    }


def _before_the_end() -> Numbers:
    """Find the epoch after which less noise provably costs more than the usual noise is said to."""
    epochs = range(1, math.floor(TOP.epochs) + 1)
    steps = [math.floor(epoch / TOP.q) for epoch in epochs]
    mechanism = claim_of(TOP_LESS).mechanism
    least = ACCOUNTANTS[CERTIFIED].curve(mechanism, steps, TOP.delta).lower  # (epochs,)
    assert least is not None
    for epoch, lower in zip(epochs, least, strict=True):
        promised = moments_epsilon(replace(TOP, epochs=float(epoch)))
        if lower > promised:
            return {
                "before": epoch - 1,
                "epoch": epoch,
                "spent": rounded_down(float(lower), 4),
                "promised": rounded_up(promised, 4),
            }
    raise RuntimeError("Less noise costs no more than the promise in any epoch.")


def _higher() -> Numbers:
    """Compare accuracies at the end of the upper panel."""
    less, more = [record_of(ID, config) for config in GRIDS[0].curves[0].configs]
    return {"less": less, "more": more, "verdict": "Yes" if less.mean > more.mean else "Not here"}


def _faster() -> Numbers:
    """Name accuracies at the epochs that the paper counts until 95, 96 and 97 %."""
    reached = []
    verdict = "Yes"
    for row in COUNTED:
        accuracy = record_of(ID, row.config).mean
        reached.append(accuracy)
        if accuracy < row.theirs:
            verdict = "Not to the epoch"
    return {"verdict": verdict, "reached": reached}


ANSWERS = {
    "limit": _limit,
    "less_noise": _less_noise,
    "moments": _moments,
    "before_the_end": _before_the_end,
    "higher": _higher,
    "faster": _faster,
}
LENGTHS = [math.floor(each.setting.steps) for each in EXPERIMENTS]
REMARKED = {"shortest": min(LENGTHS), "longest": max(LENGTHS)}
