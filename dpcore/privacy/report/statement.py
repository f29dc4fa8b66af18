"""The privacy statement of a run, warnings, and sentences on batches that are not Poisson's."""

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
from dpcore.privacy.sampling.base import ADD_REMOVE, ZERO_OUT, Poisson
from dpcore.privacy.selection.best_of import SECRET, best_of, read_runs

TEXTS = words_in(Path(__file__).with_name("statement.toml"))
NOT_COVERED: str = TEXTS["not_covered"]
WIDE = 1.05  # ratio of upper to lower end above which a band is called proven, not certified
# Equal for Poisson batches: an absent record adds nothing to either.
SAME = {ADD_REMOVE, ZERO_OUT}
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
    listed = _listed([str(seed) for seed in seeds])
    if len(seeds) == 1:
        text = f"The seed is fixed ({listed}): epsilon holds only for those who do not know it."
    else:
        text = f"The seeds are fixed ({listed}): epsilon holds only for those who do not know them."
    return f"{text} Anyone else can draw the noise again and subtract it."


def _listed(texts: Sequence[str]) -> str:
    """The first four, separated by commas, and dots for more."""
    shown = list(texts[:4])
    if len(texts) > 4:
        shown.append("...")
    return ", ".join(shown)


def delta_warning(delta: float, n: float | None) -> str:
    """Warn that a delta of 1/n or more protects nobody; "" for a smaller delta or unknown n.

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
    named = f"**{sampler.title}**"
    if sampler.adjacency not in sampler.title:
        named += f", {sampler.adjacency}"
    lower = found.lower or 0.0
    low = outward(lower, math.floor)
    if math.isinf(found.value):
        return f"{named}: no upper bound of epsilon is proven; epsilon is at least **{low}**."
    high = outward(found.value, math.ceil)
    wide = sampler.interval or found.value > WIDE * lower
    word = "proven" if wide else "certified"
    return f"{named}: epsilon is {word} to lie between **{low}** and **{high}**."


def counted_as_poisson(sampler: Sampler, found: Reading, poisson: Reading) -> str:
    """Compare the epsilon of Poisson batches with the range of the sampler; "" for Poisson batches.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> shuffle = SAMPLERS["shuffle"]
    >>> found = shuffle.curve(512 / 60_000, 1.068, 4680, 1e-5).last
    >>> poisson = SAMPLERS["poisson"].curve(512 / 60_000, 1.068, 4680, 1e-5).last
    >>> counted_as_poisson(shuffle, found, poisson)
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
    lower = found.lower or 0.0
    if poisson.value < lower:
        return f"{claim} where at least {outward(lower, math.floor)} is proven."
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
        return _lines(["Privacy statement", *facts, self.odds], self.caveats)

    def markdown(self) -> str:
        """The statement as Markdown, with the facts in a table."""
        rows = [f"| {label} | {text} |" for label, text in self.facts]
        head = ["### Privacy statement", "", "| | |", "| --- | --- |", *rows, "", self.odds, ""]
        return _lines(head, self.caveats)

    _repr_markdown_ = markdown  # for notebooks


def _lines(head: list[str], caveats: tuple[str, ...]) -> str:
    bullets = [f"- {caveat}" for caveat in caveats]
    return "\n".join(head + bullets) + "\n"


def statement(
    mechanism: Mechanism,
    curve: Curve,
    accountant: Accountant,
    found: Risks,
    n: float | None,
    seed: int | None = None,
) -> Statement:
    """The statement of the whole mechanism.

    Epsilon is that of the last point of the accountant's curve; the risks are certified. `n` is the
    number of training examples, None if unknown. `seed` is the seed of a run whose seed is fixed.
    """
    facts = [
        ("Unit of privacy", UNIT),
        ("Adjacency", ADJACENCY),
        ("Sampling", _sampling(mechanism)),
        ("Released", _released(mechanism)),
        ("Epsilon, delta", _spent(curve, accountant)),
    ]
    of_ten = _best_of_ten(mechanism, curve, accountant)
    if of_ten:
        facts.append(("As the best of 10 runs", of_ten))
    facts.append(("Gaussian privacy", _mu(found)))
    gain = f"{_between(found.advantage)} (true-positive less false-positive rate)"
    facts.append(("Best attack's advantage", gain))
    for rate, found_positives in found.true_positives.items():
        label = f"Best attack at {100 * rate:g} % false positives"
        facts.append((label, _percent(found_positives)))
    return Statement(tuple(facts), odds(found), _caveats(curve, found, n, seed))


def odds(found: Risks) -> str:
    """Bound the posterior of an attacker who is 50 % sure, in a sentence.

    The probability delta in it is over the release.
    """
    attacker = "Worst case for one person: an attacker who starts at 50 %"
    if found.empty or found.sure >= 1:
        return f"{attacker} may end up certain."
    sure = math.ceil(1000 * found.sure) / 10
    if sure >= 100:
        return f"{attacker} may end up more than 99.9 % certain."
    return (
        f"{attacker} ends up at most {sure:.1f} % certain, except with probability delta ="
        f" {plain(raised(found.least))}."
    )


def _sampling(mechanism: Mechanism) -> str:
    rates = sorted({release.q for release in mechanism.releases})
    if rates == [1.0]:
        return "none: every example takes part in every release"
    listed = _listed([nearest(q) for q in rates])
    return f"Poisson: each example joins each batch independently, q = {listed}"


def _released(mechanism: Mechanism) -> str:
    sigmas = [release.sigma for release in mechanism.releases]
    low = min(sigmas)
    high = max(sigmas)
    noise = nearest(low) if low == high else f"from {nearest(low)} to {nearest(high)}"
    count = "1 noisy sum" if mechanism.steps == 1 else f"{mechanism.steps:,} noisy sums"
    return (
        f"{count} of clipped gradients (noise multiplier {noise}), and all that follows, including"
        " the model"
    )


def _spent(curve: Curve, accountant: Accountant) -> str:
    last = curve.last
    delta = float(curve.delta[-1])
    at_delta = f"at delta = {plain(raised(delta))}"
    by = f"by {accountant.title} ({WORDS[curve.kind]})"
    if math.isinf(last.value) and last.lower:
        least = outward(last.lower, math.floor)
        return f"epsilon at least {least} at delta = {plain(delta)}, no upper bound: {curve.note}"
    if math.isinf(last.value):
        reason = f": {curve.note}" if curve.note else ""
        return f"no epsilon {at_delta}, {by}{reason}"
    high = outward(last.value, math.ceil)
    if last.lower is None:
        return f"epsilon = {high} {at_delta}, {by}"
    return f"epsilon between {outward(last.lower, math.floor)} and {high} {at_delta}, {by}"


def _best_of_ten(mechanism: Mechanism, curve: Curve, accountant: Accountant) -> str:
    """The cost of publishing the run as the best of ten; "" if it is not known."""
    if len(mechanism.releases) > MAX_KINDS or math.isinf(curve.last.value):
        return ""
    delta = float(curve.delta[-1])
    planned, secret = (read_runs(text) for text in CHOSEN)
    of_planned = _epsilon(best_of(planned, [mechanism], accountant, delta))
    of_secret = _epsilon(best_of(secret, [mechanism], accountant, delta))
    number = secret.phrase.removeprefix("the best of ")
    return f"{of_planned}; or {of_secret} for {number}{SECRET}"


def _epsilon(found: Reading) -> str:
    return spoken("epsilon", rounded(found.value, found.kind), found.kind)


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
    low = outward(100 * bounds.lower, math.floor)
    high = outward(100 * bounds.upper, math.ceil)
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
    warning = delta_warning(float(curve.delta[-1]), n)
    if warning:
        special.append(warning)
    if seed is not None:
        special.append(seed_warning([seed]))
    return (*special, *TEXTS["caveats"])
