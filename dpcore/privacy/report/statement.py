"""The privacy statement: what was released and what that costs, in words that hold as they stand."""

import math
from dataclasses import dataclass

from dpcore.privacy.accountants.base import Accountant, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Between, Risks
from dpcore.privacy.report.cautions import delta_warning, seed_warning
from dpcore.privacy.report.kinds import WORDS
from dpcore.privacy.report.numbers import nearest, outward, plain, raised
from dpcore.privacy.report.verdict import unavailable

UNIT = "one training example"
ADJACENCY = "add/remove: data sets that differ by one example, present or absent"
REPLACED = (
    "Replacing one example by another is one removal and one addition. For that adjacency (epsilon, delta) becomes "
    "(2 epsilon, (1 + e^epsilon) delta)."
)
POISSON = "It holds for Poisson batches of that rate with noise on the sum: shuffled batches are not covered."
ONE_RUN = "It covers one run. Choosing among several runs by their results is a further release, not counted here."
FLOATS = "Noise is drawn in floating point, as everywhere in practice: the proof is about real numbers."


@dataclass(frozen=True)
class Statement:
    """Labelled facts, one sentence in odds, and the caveats that apply."""

    facts: tuple[tuple[str, str], ...]
    odds: str
    caveats: tuple[str, ...]

    def text(self) -> str:
        """As plain text, a line for each fact."""
        facts = [f"{label}: {text}" for label, text in self.facts]
        return "\n".join(["Privacy statement", *facts, self.odds, *(f"- {caveat}" for caveat in self.caveats)]) + "\n"

    def markdown(self) -> str:
        """As Markdown, the facts in a table."""
        rows = [f"| {label} | {text} |" for label, text in self.facts]
        head = ["### Privacy statement", "", "| | |", "| --- | --- |", *rows, "", self.odds, ""]
        return "\n".join([*head, *(f"- {caveat}" for caveat in self.caveats)]) + "\n"

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return self.markdown()


def statement(
    mechanism: Mechanism,
    curve: Curve,
    accountant: Accountant,
    found: Risks,
    n: float | None,
    seed: int | None = None,
) -> Statement:
    """The statement of the whole mechanism: epsilon from the last point of the accountant's curve, risks certified.

    `n` is the number of training examples, which delta is compared with; None: it is not. `seed` is that of a run whose
    seed is fixed.
    """
    facts = (
        ("Unit of privacy", UNIT),
        ("Adjacency", ADJACENCY),
        ("Sampling", _sampling(mechanism)),
        ("Released", _released(mechanism)),
        ("Epsilon, delta", _spent(curve, accountant)),
        ("Gaussian privacy", _mu(found)),
        ("Best attack's advantage", f"{_between(found.advantage)} (true-positive less false-positive rate)"),
        *(
            (f"Best attack at {100 * rate:g} % false positives", _percent(at))
            for rate, at in found.true_positives.items()
        ),
    )
    return Statement(facts, odds(found), _caveats(curve, found, n, seed))


def odds(found: Risks) -> str:
    """What someone who is 50 % sure can learn, in a sentence.

    The probability delta is over what is released; it is the price of a bound on odds.
    """
    if found.empty or found.sure >= 1:
        return "Someone who is 50 % sure that you are in the data may become certain: no bound below 100 % is proven."
    sure = min(math.ceil(1000 * found.sure) / 10, 100.0)
    if sure >= 100:
        return (
            "Someone who is 50 % sure that you are in the data may become almost certain: no bound of 99.9 % or less "
            "is proven."
        )
    return (
        f"Someone who is 50 % sure that you are in the data can become at most {sure:.1f} % sure, "
        f"except with probability {plain(raised(found.least))}."
    )


def _sampling(mechanism: Mechanism) -> str:
    rates = sorted({release.q for release in mechanism.releases})
    if rates == [1.0]:
        return "none: every example takes part in every release"
    shown = ", ".join(nearest(q) for q in rates[:4]) + (", ..." if len(rates) > 4 else "")
    return f"Poisson: each example joins each batch independently, q = {shown}"


def _released(mechanism: Mechanism) -> str:
    sigmas = [release.sigma for release in mechanism.releases]
    low, high = min(sigmas), max(sigmas)
    noise = nearest(low) if low == high else f"from {nearest(low)} to {nearest(high)}"
    count = "1 noisy sum" if mechanism.steps == 1 else f"{mechanism.steps:,} noisy sums"
    return (
        f"{count} of clipped gradients (noise multiplier {noise}), and all that follows from them, the model included"
    )


def _spent(curve: Curve, accountant: Accountant) -> str:
    epsilon, delta = float(curve.epsilon[-1]), float(curve.delta[-1])
    by = f"by {accountant.title} ({WORDS[curve.kind]})"
    if math.isinf(epsilon):
        return f"no epsilon at delta = {plain(raised(delta))}, {by}" + (f": {curve.note}" if curve.note else "")
    if curve.lower is None:
        return f"epsilon = {outward(epsilon, math.ceil)} at delta = {plain(raised(delta))}, {by}"
    low = outward(float(curve.lower[-1]), math.floor)
    return f"epsilon between {low} and {outward(epsilon, math.ceil)} at delta = {plain(raised(delta))}, {by}"


def _mu(found: Risks) -> str:
    if math.isinf(found.mu.upper):
        return "no finite mu is proven"
    least = plain(raised(found.least))
    return f"mu {_between(found.mu)}, for attacks that err at least {least} either way (certified, no CLT)"


def _between(bounds: Between) -> str:
    return f"between {outward(bounds.lower, math.floor)} and {outward(bounds.upper, math.ceil)}"


def _percent(bounds: Between) -> str:
    low, high = (outward(100 * value, way) for value, way in zip(bounds, (math.floor, math.ceil), strict=True))
    return f"finds between {low} % and {high} % of those who took part"


def _caveats(curve: Curve, found: Risks, n: float | None, seed: int | None) -> tuple[str, ...]:
    """The caveats that apply, the gravest first."""
    special = []
    if found.empty:
        special.append(f"The attacker's figures are {unavailable(found.note)}")
    elif found.note:
        special.append(found.note)
    if not curve.kind.is_bound:
        special.append(
            f"This epsilon is no bound ({WORDS[curve.kind]}): the attacker's figures are, and can be trusted."
        )
    if warning := delta_warning(float(curve.delta[-1]), n):
        special.append(warning)
    if seed is not None:
        special.append(seed_warning([seed]))
    return (*special, POISSON, ONE_RUN, FLOATS, REPLACED)
