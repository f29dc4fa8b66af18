"""Numbers in the answers to paper 004's claims, and its remarks."""

import math
from dataclasses import replace

from dpcore.papers.comparison import certified, certified_lower
from dpcore.papers.gaussian_dp import numbers
from dpcore.papers.gaussian_dp.numbers import TOP, TOP_LESS, WORDS, claim_of
from dpcore.papers.gaussian_dp.runs import COUNTED, ID, SWEEPS, counted_run
from dpcore.papers.records import recorded
from dpcore.papers.words import UNKNOWN, Numbers, findings, remarks, rounded_down, rounded_up
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget

SIGMAS: dict[str, object] = {"usual": TOP.sigma, "less": TOP_LESS.sigma}
SETTINGS = [each.setting for each in numbers.EXPERIMENTS]
LENGTHS = sorted(math.floor(each.steps) for each in SETTINGS)


def _limit() -> Numbers:
    """Compare epsilon by the CLT with the certified bounds, in every experiment."""
    below = []  # shares by which it is less than the proven lower bound
    above = []  # shares by which it is more than the proven upper bound
    for setting in SETTINGS:
        claim = claim_of(setting)
        lower = certified_lower(claim)
        upper = certified(claim).value
        epsilon = numbers.central_epsilon(setting)
        if epsilon < lower:
            below.append(1 - epsilon / lower)
        if epsilon > upper:
            above.append(epsilon / upper - 1)
    return {
        "count": len(below),
        "all": len(SETTINGS),
        "below": math.floor(100 * max(below)),
        "above": math.floor(100 * max(above)),
    }


def _less_noise() -> Numbers:
    """Find what less noise spends, and the sigma that keeps the epsilon of the usual noise."""
    spent = certified_lower(claim_of(TOP_LESS))
    target = EpsilonTarget(numbers.moments_epsilon(TOP), TOP.delta)
    sigma = solve("sigma", target, q=TOP.q, steps=claim_of(TOP).mechanism.steps).value
    return SIGMAS | {"spent": rounded_down(spent), "sigma": rounded_up(sigma)}


def _moments() -> Numbers:
    """Compare the certified epsilon with the moments accountant's, in every experiment."""
    gains = []
    too_far = 0  # experiments in which the CLT claims less than is proven
    for setting in SETTINGS:
        claim = claim_of(setting)
        gains.append(1 - certified(claim).value / numbers.moments_epsilon(setting))
        if numbers.central_epsilon(setting) < certified_lower(claim):
            too_far += 1
    return {
        "least": math.floor(100 * min(gains)),
        "most": math.floor(100 * max(gains)),
        "too_far": too_far,
        "all": len(SETTINGS),
    }


def _before_the_end() -> Numbers:
    """Find the epoch after which less noise provably costs more than the usual noise is said to."""
    epochs = range(1, math.floor(TOP.epochs) + 1)
    steps = [math.floor(epoch / TOP.q) for epoch in epochs]
    mechanism = claim_of(TOP_LESS).mechanism
    least = ACCOUNTANTS[CERTIFIED].curve(mechanism, steps, TOP.delta).lower  # (epochs,)
    assert least is not None
    for epoch, lower in zip(epochs, least, strict=True):
        promised = numbers.moments_epsilon(replace(TOP, epochs=float(epoch)))
        if lower > promised:
            return SIGMAS | {
                "before": epoch - 1,
                "epoch": epoch,
                "spent": rounded_down(float(lower), 4),
                "promised": rounded_up(promised, 4),
            }
    raise RuntimeError("Less noise costs no more than the promise in any epoch.")


def _higher() -> str:
    """Compare accuracies at the end of the upper panel."""
    ends = {config.sigma: recorded(ID, config) for config in SWEEPS[0].configs}
    more = ends[TOP.sigma]
    less = ends[TOP_LESS.sigma]
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
    reached_by_sigma: dict[float, list[str]] = {}
    all_reached = True
    for setting, epochs, printed in COUNTED:
        record = recorded(ID, counted_run(setting, epochs))
        if record is None:
            return UNKNOWN
        reached = reached_by_sigma.setdefault(setting.sigma, [])
        reached.append(f"{record.mean:.2f} after {epochs}")
        if record.mean < float(printed):
            all_reached = False
    parts = []
    for sigma, reached in reached_by_sigma.items():
        parts.append(f"with sigma {sigma:g} accuracy is {', '.join(reached)}")
    verdict = "Yes" if all_reached else "Not to the epoch"
    return f"{verdict}: {'; '.join(parts)}, in %, one run each."


FINDINGS = findings(
    WORDS,
    {
        "limit": _limit,
        "less_noise": _less_noise,
        "moments": _moments,
        "before_the_end": _before_the_end,
        "higher": _higher,
        "faster": _faster,
    },
)
REMARKS = remarks(WORDS, shortest=LENGTHS[0], longest=LENGTHS[-1])
