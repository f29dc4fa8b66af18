"""The privacy statement of a run, warnings, and proven sentences on batches that are not Poisson's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpcore.privacy import words_in
from dpcore.privacy.accountants.base import Accountant, Curve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import Between, Risks
from dpcore.privacy.report.numbers import (
    WORDS,
    nearest,
    outward,
    percent,
    plain,
    raised,
    rounded,
    spoken,
)
from dpcore.privacy.report.verdict import unavailable
from dpcore.privacy.sampling import Sampler, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.selection.best_of import SECRET, best_of, read_runs

TEXTS = words_in(Path(__file__).with_name("statement.toml"))
NOT_COVERED: str = TEXTS["not_covered"]
WIDE = 1.05  # ratio of upper to lower end above which a band is called proven, not certified
ADD_REMOVE = Poisson.adjacency
# Equal for Poisson batches: an absent record adds nothing to either.
SAME = {ADD_REMOVE, "zero-out"}
UNIT = "one training example"
ADJACENCY = "add/remove: data sets that differ by one example, present or absent"
CHOSEN = ("10", "geometric:10")  # numbers of runs that are priced
MAX_KINDS = 25  # of steps: with more, that takes seconds


def seed_warning(seeds: Sequence[int]) -> str:
    """Warn that a fixed seed weakens epsilon; "" without a fixed seed.

    >>> seed_warning([3])[:58], seed_warning([])
    ('The seed is fixed (3): epsilon holds only for those who do', '')
    """
    if not seeds:
        return ""
    listed = ", ".join(map(str, seeds[:4])) + (", ..." if len(seeds) > 4 else "")
    fixed, it = ("seed is", "it") if len(seeds) == 1 else ("seeds are", "them")
    return (
        f"The {fixed} fixed ({listed}): epsilon holds only for those who do not know {it}. Anyone"
        " else can draw the noise again and subtract it."
    )


def delta_warning(delta: float, n: float | None) -> str:
    """Warn that a delta of 1/n or more protects nobody; "" for a smaller delta or an unknown number
    n of examples.

    >>> delta_warning(0.001, 1000)[:50], delta_warning(1e-5, 1000), delta_warning(0.1, None)
    ('delta = 0.001 is not below 1/n = 0.001: publishing', '', '')
    """
    if n is None or delta * n < 1:
        return ""
    return TEXTS["delta"].format(delta=plain(delta), least=plain(1 / n))


def proven_range(sampler: Sampler, found: Reading) -> str:
    """The proven range of epsilon, with its adjacency, in Markdown.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> shuffle = SAMPLERS["shuffle"]
    >>> proven_range(shuffle, shuffle.curve(512 / 60_000, 1.068, 4680, 1e-5).last)
    '**Shuffled every epoch**, zero-out: epsilon is proven to lie between **13.5** and **42.1**.'
    """
    adjacency = "" if sampler.adjacency in sampler.title else f", {sampler.adjacency}"
    named = f"**{sampler.title}**{adjacency}: "
    low = outward(found.lower or 0.0, math.floor)
    if math.isinf(found.value):
        return f"{named}no upper bound of epsilon is proven; epsilon is at least **{low}**."
    word = (
        "proven" if sampler.interval or found.value > WIDE * (found.lower or 0.0) else "certified"
    )
    return (
        f"{named}epsilon is {word} to lie between **{low}** and"
        f" **{outward(found.value, math.ceil)}**."
    )


def counted_as_poisson(sampler: Sampler, found: Reading, poisson: Reading) -> str:
    """Compare the epsilon of Poisson batches with the proven range for the sampler; "" for Poisson
    batches.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> ends = [SAMPLERS[name].curve(512 / 60_000, 1.068, 4680, 1e-5).last for name in ("shuffle", "poisson")]
    >>> counted_as_poisson(SAMPLERS["shuffle"], *ends)
    'Shuffled every epoch, and accounted as Poisson: claims 3.01 where at least 13.5 is proven.'
    """
    if sampler.name == Poisson.name or math.isinf(poisson.value):
        return ""
    if sampler.adjacency not in SAME:
        return (
            f"The number for Poisson batches holds for {ADD_REMOVE}, this one for"
            f" {sampler.adjacency}: the two cannot be compared."
        )
    claim = f"{sampler.title}, and accounted as Poisson: claims {outward(poisson.value, math.ceil)}"
    if poisson.value < (found.lower or 0.0):
        return f"{claim} where at least {outward(found.lower or 0.0, math.floor)} is proven."
    if poisson.value < found.value:
        return f"{claim}, which is neither proven nor refuted."
    return f"{claim}, which is proven to be enough here."


def why_uncounted(sampler: Sampler, mechanism: Mechanism) -> str:
    """The reason why there are no numbers for this sampler, in a sentence; "" if there are.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> why_uncounted(SAMPLERS["shuffle"], Mechanism.constant(0.1, 1.0, 30))
    ''
    """
    if sampler.name == Poisson.name:
        return ""
    if len(mechanism.releases) != 1:
        return TEXTS["only_constant"].format(title=sampler.title)
    if mechanism.releases[0].q < sampler.least_q:
        return TEXTS["too_slow"].format(title=sampler.title, least=sampler.least_q)
    return ""


def counting_notes(q: float) -> tuple[str, ...]:
    """Common mistakes in counting batches of a share q of all records, in sentences.

    >>> counting_notes(0.01)[3][:62]
    'With Poisson batches an epoch of 100 steps touches 63.4 % of t'
    """
    steps = steps_of_epoch(q)
    touched = percent(1 - (1 - q) ** steps)
    return tuple(each.format(steps=steps, touched=touched) for each in TEXTS["counting"])


@dataclass(frozen=True)
class Statement:
    """Labelled facts, one sentence in odds, and the caveats."""

    facts: tuple[tuple[str, str], ...]
    odds: str
    caveats: tuple[str, ...]

    def text(self) -> str:
        """The statement as plain text, a line for each fact."""
        facts = [f"{label}: {text}" for label, text in self.facts]
        return (
            "\n".join(
                [
                    "Privacy statement",
                    *facts,
                    self.odds,
                    *(f"- {caveat}" for caveat in self.caveats),
                ]
            )
            + "\n"
        )

    def markdown(self) -> str:
        """The statement as Markdown, with the facts in a table."""
        rows = [f"| {label} | {text} |" for label, text in self.facts]
        head = ["### Privacy statement", "", "| | |", "| --- | --- |", *rows, "", self.odds, ""]
        return "\n".join([*head, *(f"- {caveat}" for caveat in self.caveats)]) + "\n"

    _repr_markdown_ = markdown  # for notebooks


def statement(
    mechanism: Mechanism,
    curve: Curve,
    accountant: Accountant,
    found: Risks,
    n: float | None,
    seed: int | None = None,
) -> Statement:
    """The statement of the whole mechanism: epsilon from the last point of the accountant's curve,
    certified risks.

    `n` is the number of training examples, None if unknown. `seed` is the seed of a run whose seed
    is fixed.
    """
    facts = (
        ("Unit of privacy", UNIT),
        ("Adjacency", ADJACENCY),
        ("Sampling", _sampling(mechanism)),
        ("Released", _released(mechanism)),
        ("Epsilon, delta", _spent(curve, accountant)),
        *_chosen(mechanism, curve, accountant),
        ("Gaussian privacy", _mu(found)),
        (
            "Best attack's advantage",
            f"{_between(found.advantage)} (true-positive less false-positive rate)",
        ),
        *(
            (f"Best attack at {100 * rate:g} % false positives", _percent(at))
            for rate, at in found.true_positives.items()
        ),
    )
    return Statement(facts, odds(found), _caveats(curve, found, n, seed))


def odds(found: Risks) -> str:
    """Bound the posterior of an attacker who is 50 % sure, in a sentence; the probability delta is
    over the release.
    """
    sure = 100.0 if found.empty else min(math.ceil(1000 * found.sure) / 10, 100.0)
    if sure >= 100:
        certain = "certain" if found.empty or found.sure >= 1 else "more than 99.9 % certain"
        return f"Of a single unlucky person, an attacker who starts at 50 % may end up {certain}."
    return (
        f"Of a single unlucky person, an attacker who starts at 50 % ends up at most {sure:.1f} %"
        f" certain, except with probability delta = {plain(raised(found.least))}."
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
        f"{count} of clipped gradients (noise multiplier {noise}), and all that follows, including"
        " the model"
    )


def _spent(curve: Curve, accountant: Accountant) -> str:
    epsilon, delta = float(curve.epsilon[-1]), float(curve.delta[-1])
    by = f"by {accountant.title} ({WORDS[curve.kind]})"
    if math.isinf(epsilon):
        if least := curve.last.lower:
            return (
                f"epsilon at least {outward(least, math.floor)} at delta = {plain(delta)}, no upper"
                f" bound: {curve.note}"
            )
        return f"no epsilon at delta = {plain(raised(delta))}, {by}" + (
            f": {curve.note}" if curve.note else ""
        )
    if curve.lower is None:
        return f"epsilon = {outward(epsilon, math.ceil)} at delta = {plain(raised(delta))}, {by}"
    low = outward(float(curve.lower[-1]), math.floor)
    return (
        f"epsilon between {low} and {outward(epsilon, math.ceil)} at delta ="
        f" {plain(raised(delta))}, {by}"
    )


def _chosen(mechanism: Mechanism, curve: Curve, accountant: Accountant) -> list[tuple[str, str]]:
    """The cost of publishing the run as the best of ten, if it is known."""
    if len(mechanism.releases) > MAX_KINDS or math.isinf(curve.last.value):
        return []
    numbers = [read_runs(each) for each in CHOSEN]
    planned, drawn = (
        best_of(each, [mechanism], accountant, float(curve.delta[-1])) for each in numbers
    )
    words = [
        spoken("epsilon", rounded(each.value, each.kind), each.kind) for each in (planned, drawn)
    ]
    text = f"{words[0]}; or {words[1]} for {numbers[1].phrase.removeprefix('the best of ')}{SECRET}"
    return [("As the best of 10 runs", text)]


def _mu(found: Risks) -> str:
    if math.isinf(found.mu.upper):
        return "no finite mu is proven"
    least = plain(raised(found.least))
    return (
        f"mu {_between(found.mu)}, for attacks that err at least {least} either way (certified, no"
        " CLT)"
    )


def _between(bounds: Between) -> str:
    return f"between {outward(bounds.lower, math.floor)} and {outward(bounds.upper, math.ceil)}"


def _percent(bounds: Between) -> str:
    low, high = (
        outward(100 * value, way)
        for value, way in zip(bounds, (math.floor, math.ceil), strict=True)
    )
    return f"finds between {low} % and {high} % of those who took part"


def _caveats(curve: Curve, found: Risks, n: float | None, seed: int | None) -> tuple[str, ...]:
    """The caveats, the gravest first."""
    special = []
    if found.empty:
        special.append(f"The attacker's figures are {unavailable(found.note)}")
    elif found.note:
        special.append(found.note)
    if not curve.kind.is_bound:
        special.append(
            f"This epsilon is no bound ({WORDS[curve.kind]}). The attacker's figures are bounds:"
            " trust those."
        )
    if warning := delta_warning(float(curve.delta[-1]), n):
        special.append(warning)
    if seed is not None:
        special.append(seed_warning([seed]))
    return (*special, *TEXTS["caveats"])
