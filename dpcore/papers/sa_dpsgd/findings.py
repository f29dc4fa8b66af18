"""Numbers in the answers to paper 001's claims."""

import math
from itertools import pairwise

import numpy as np

from dpcore.papers.sa_dpsgd import numbers
from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.papers.sa_dpsgd.numbers import BUDGET, DELTA, NAMES, Q0, setting
from dpcore.papers.sa_dpsgd.runs import DATA, WORDS
from dpcore.papers.words import Numbers, findings
from dpcore.privacy.report.numbers import outward, percent, plain, short

ONE = Selection(sigma=2.0, distance=6.0)  # one step, with any number of rejections
# With the paper's own limit.
MANY, STEPS = Selection(sigma=20.0, distance=30.0, limit=DATA["MNIST"]["limit"]), 1000


def _free() -> Numbers:
    return vars(MANY) | {
        "steps": STEPS,
        "charged": short(numbers.theorem_1(1.0, MANY.sigma, STEPS)),
        "counted": short(MANY.accepted_only(DELTA, STEPS)),
        "proven": outward(MANY.epsilon_after(STEPS, DELTA), math.floor),
    }


def _one_step() -> Numbers:
    counted = Selection(ONE.sigma, 0.0)  # accepts every proposal
    return vars(ONE) | {
        "delta": outward(ONE.delta(0.5), math.floor),
        "counted": short(counted.delta(0.5)),
    }


def _three() -> Numbers:
    parts = []
    for name in NAMES:
        tau, most = numbers.whole_epochs(name), DATA[name]["limit"] + 1
        low, high = (
            outward(numbers.proven_epsilon(name, count), math.ceil) for count in (tau, most * tau)
        )
        parts.append(
            f"{name}: {low} for {tau:,} proposals, {high} for {tau:,} accepted steps with up to"
            f" {most - 1} rejections before each"
        )
    return {"parts": "; ".join(parts)}


def _gap() -> Numbers:
    gaps = {
        name: [row[-2] - row[-1] for row in data["reaches"].values()] for name, data in DATA.items()
    }
    growing = [name for name in NAMES if all(a <= b for a, b in pairwise(gaps[name]))]
    others = [
        f"{name} {', '.join(f'{gap:.2f}' for gap in gaps[name])}"
        for name in NAMES
        if name not in growing
    ]
    return {"growing": " and ".join(growing), "others": "; ".join(others)}


def _saving() -> Numbers:
    places = [(name, accuracy) for name, data in DATA.items() for accuracy in data["reaches"]]
    shares = {place: numbers.saved_share(*place) for place in places}
    name, accuracy = max(shares, key=shares.__getitem__)
    least, most = (percent(share, 0) for share in (min(shares.values()), max(shares.values())))
    return {"least": least, "most": most, "name": name, "accuracy": accuracy}


def _logarithm() -> Numbers:
    q, sigma = setting("MNIST").q, setting("MNIST").sigma
    printed, meant = (numbers.affordable(q, sigma, BUDGET, printed) for printed in (True, False))
    return {"budget": BUDGET, "printed": printed, "meant": meant}


def _small_probability() -> Numbers:
    tau, rise = numbers.whole_epochs("MNIST"), 1e-4
    chance = percent(float(numbers.acceptance(np.array([rise]), tau)[0]))
    return {"q0": Q0, "product": Q0 * tau, "rise": plain(rise), "chance": chance}


FINDINGS = findings(
    WORDS,
    free=_free,
    one_step=_one_step,
    three=_three,
    saving=_saving,
    gap=_gap,
    logarithm=_logarithm,
    small_probability=_small_probability,
)
