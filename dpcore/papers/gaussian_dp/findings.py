"""Numbers in the answers to paper 004's claims, and its remarks."""

import math
from dataclasses import replace

from dpcore.papers.comparison import certified, certified_lower
from dpcore.papers.gaussian_dp import numbers
from dpcore.papers.gaussian_dp.numbers import TOP, TOP_LESS, WORDS, claim_of
from dpcore.papers.gaussian_dp.runs import COUNTED, ID, SWEEPS, counted_run
from dpcore.papers.records import recorded
from dpcore.papers.words import UNKNOWN, Numbers, findings, remarks
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.report.numbers import outward

SIGMAS: dict[str, object] = {"usual": TOP.sigma, "less": TOP_LESS.sigma}
SETTINGS = [each.setting for each in numbers.EXPERIMENTS]
LENGTHS = sorted(math.floor(each.steps) for each in SETTINGS)


def _accuracy_of_the_limit() -> Numbers:
    below, above = [], []
    for each in SETTINGS:
        claim, epsilon = claim_of(each), numbers.central_epsilon(each)
        lower, upper = certified_lower(claim), certified(claim).value
        below += [1 - epsilon / lower] if epsilon < lower else []
        above += [epsilon / upper - 1] if epsilon > upper else []
    return {
        "count": len(below),
        "all": len(SETTINGS),
        "below": math.floor(100 * max(below)),
        "above": math.floor(100 * max(above)),
    }


def _less_noise() -> Numbers:
    spent = outward(certified_lower(claim_of(TOP_LESS)), math.floor)
    steps, target = (
        claim_of(TOP).mechanism.steps,
        EpsilonTarget(numbers.moments_epsilon(TOP), TOP.delta),
    )
    sigma = solve("sigma", target, q=TOP.q, steps=steps).value
    return SIGMAS | {"spent": spent, "sigma": outward(sigma, math.ceil)}


def _against_the_moments() -> Numbers:
    gains = [
        1 - certified(claim_of(each)).value / numbers.moments_epsilon(each) for each in SETTINGS
    ]
    too_far = sum(
        numbers.central_epsilon(each) < certified_lower(claim_of(each)) for each in SETTINGS
    )
    least, most = (math.floor(100 * gain) for gain in (min(gains), max(gains)))
    return {"least": least, "most": most, "too_far": too_far, "all": len(SETTINGS)}


def _before_the_end() -> Numbers:
    """Find the epoch after which less noise provably costs more than the promise for the usual
    noise.
    """
    epochs = range(1, math.floor(TOP.epochs) + 1)
    steps = [math.floor(epoch / TOP.q) for epoch in epochs]
    least = ACCOUNTANTS[CERTIFIED].curve(claim_of(TOP_LESS).mechanism, steps, TOP.delta).lower
    promised = [numbers.moments_epsilon(replace(TOP, epochs=float(epoch))) for epoch in epochs]
    assert least is not None
    crossed = next(
        i for i, (ours, theirs) in enumerate(zip(least, promised, strict=True)) if ours > theirs
    )
    spent, promise = (
        outward(float(least[crossed]), math.floor, 4),
        outward(promised[crossed], math.ceil, 4),
    )
    return SIGMAS | {
        "before": epochs[crossed] - 1,
        "epoch": epochs[crossed],
        "spent": spent,
        "promised": promise,
    }


def _higher() -> str:
    """Compare accuracies at the end of the upper panel."""
    ends = {config.sigma: recorded(ID, config) for config in SWEEPS[0].configs}
    more, less = ends[TOP.sigma], ends[TOP_LESS.sigma]
    if not (more and less):
        return UNKNOWN
    verdict = "Yes" if less.mean > more.mean else "Not here"
    return (
        f"{verdict}, at the end: {less.mean:.2f} % with sigma {TOP_LESS.sigma:g}, {more.mean:.2f}"
        f" with {TOP.sigma:g} after {TOP.epochs:g} epochs, one run each. But the smaller sigma"
        " spends more."
    )


def _faster() -> str:
    """Name accuracies at the epochs that the paper counts until 95, 96 and 97 %."""
    told: dict[float, list[str]] = {}
    reached = []
    for setting, epochs, printed in COUNTED:
        record = recorded(ID, counted_run(setting, epochs))
        if record is None:
            return UNKNOWN
        told.setdefault(setting.sigma, []).append(f"{record.mean:.2f} after {epochs}")
        reached.append(record.mean >= float(printed))
    verdict = "Yes" if all(reached) else "Not to the epoch"
    said = "; ".join(
        f"with sigma {sigma:g} accuracy is {', '.join(each)}" for sigma, each in told.items()
    )
    return f"{verdict}: {said}, in %, one run each."


FINDINGS = findings(
    WORDS,
    limit=_accuracy_of_the_limit,
    less_noise=_less_noise,
    moments=_against_the_moments,
    before_the_end=_before_the_end,
    higher=_higher,
    faster=_faster,
)
REMARKS = remarks(WORDS, shortest=LENGTHS[0], longest=LENGTHS[-1])
