"""Numbers in the answers to paper 001's claims."""

import numpy as np

from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.papers.sa_dpsgd.rows import (
    BUDGET,
    DATA,
    DELTA,
    Q0,
    acceptance,
    affordable,
    proven_epsilon,
    setting,
    theorem_1,
    whole_epochs,
)
from dpcore.papers.words import Numbers, rounded_down, rounded_up
from dpcore.privacy.report.numbers import percent, plain, short

ONE = Selection(sigma=2.0, distance=6.0)  # one step, with any number of rejections
# With the paper's own limit.
MANY = Selection(sigma=20.0, distance=30.0, limit=DATA["MNIST"]["limit"])
STEPS = 1000


def _free() -> Numbers:
    """Count accepted steps alone, and bound the epsilon of all, with the paper's limit."""
    return vars(MANY) | {
        "steps": STEPS,
        "charged": short(theorem_1(1.0, MANY.sigma, STEPS)),
        "counted": short(MANY.accepted_only(DELTA, STEPS)),
        "proven": rounded_down(MANY.epsilon_after(STEPS, DELTA)),
    }


def _one_step() -> Numbers:
    """Compare the delta of one accepted step with that of one Gaussian."""
    one_gaussian = Selection(ONE.sigma, 0.0)  # accepts every proposal
    return vars(ONE) | {
        "delta": rounded_down(ONE.delta(0.5)),
        "counted": short(one_gaussian.delta(0.5)),
    }


def _spent_on_data() -> Numbers:
    """Bound epsilon on each data set without rejections, and with as many as the limit allows."""
    parts = []
    for name, data in DATA.items():
        tau = whole_epochs(name)
        limit = data["limit"]
        low = proven_epsilon(name, tau)
        high = proven_epsilon(name, (limit + 1) * tau)
        parts.append(
            f"{name}: {rounded_up(low)} for {tau:,} proposals, {rounded_up(high)}"
            f" for {tau:,} accepted steps with up to {limit} rejections before each"
        )
    return {"parts": "; ".join(parts)}


def _gap() -> Numbers:
    """Name the data sets of Table 3 on which SA-DPSGD's lead over AUTO-S grows, and the others."""
    growing = []
    others = []
    for name, data in DATA.items():
        gaps = [epsilons[-2] - epsilons[-1] for epsilons in data["reaches"].values()]
        if gaps == sorted(gaps):
            growing.append(name)
        else:
            others.append(f"{name} {', '.join(f'{gap:.2f}' for gap in gaps)}")
    return {"growing": " and ".join(growing), "others": "; ".join(others)}


def _saving() -> Numbers:
    """Find the least and the largest share of AUTO-S's steps that Table 3 saves, and where."""
    shares = {}
    for name, data in DATA.items():
        column = setting(name)
        for accuracy, (*_, auto_s, annealed) in data["reaches"].items():
            own = affordable(column.q, column.sigma, annealed)
            other = affordable(column.q, column.sigma, auto_s)
            shares[name, accuracy] = 1 - own / other
    name, accuracy = max(shares, key=shares.__getitem__)
    return {
        "least": percent(min(shares.values()), 0),
        "most": percent(max(shares.values()), 0),
        "name": name,
        "accuracy": accuracy,
    }


def _logarithm() -> Numbers:
    """Count the steps that the budget pays for, as printed and as meant."""
    column = setting("MNIST")
    return {
        "printed": affordable(column.q, column.sigma, BUDGET, printed=True),
        "meant": affordable(column.q, column.sigma, BUDGET),
    }


def _small_probability() -> Numbers:
    """Find the chance of accepting a small rise of the loss at the end of training."""
    tau = whole_epochs("MNIST")
    rise = 1e-4
    chance = float(acceptance(np.array([rise]), tau)[0])
    return {"product": Q0 * tau, "rise": plain(rise), "chance": percent(chance)}


ANSWERS = {
    "free": _free,
    "one_step": _one_step,
    "three": _spent_on_data,
    "saving": _saving,
    "gap": _gap,
    "logarithm": _logarithm,
    "small_probability": _small_probability,
}
