"""Numbers of a claim that contradict one another, in sentences."""

from decimal import Decimal

from dpcore.claims.cases import NEAR, epoch_lengths
from dpcore.claims.claim import Claim
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import epochs_of, nearest, plain

COARSE = 0.05  # a number that is off by more has not been rounded


def clashes(claim: Claim) -> tuple[str, ...]:
    """Sentences about numbers of the claim that do not fit one another.

    >>> clashes(Claim(q=0.01, batch=256, examples=60_000))
    ('A batch of 256 of 60,000 examples is q = 0.004267, and 0.01 is claimed.',)
    """
    batch = _batch_clash(claim)
    if claim.mechanism is not None:
        return (*batch, *_mechanism_clashes(claim, claim.mechanism))
    if claim.q is None and (batch or claim.batch is None or claim.examples is None):
        return batch
    q = claim.batch / claim.examples if claim.batch and claim.examples else claim.q
    assert q is not None
    return (*batch, *(() if batch else _steps_clash(claim, q)))


def rounds_to(value: float, shown: float) -> bool:
    """Whether a number may be shown like this, at as many digits as there are; one digit is too few for most.

    >>> rounds_to(256 / 60_000, 0.0043), rounds_to(256 / 60_000, 0.0042), rounds_to(512 / 60_000, 0.01)
    (True, False, False)
    """
    unit = 10.0 ** int(Decimal(repr(shown)).as_tuple().exponent)
    return abs(value - shown) <= min(unit / 2, COARSE * value) + NEAR * value


def is_rate_of(batch: int, examples: int, q: float) -> bool:
    """Whether q is the rate of such batches: as it is, rounded, or one of the whole steps of an epoch.

    >>> is_rate_of(512, 60_000, 0.0085), is_rate_of(512, 60_000, 1 / 118), is_rate_of(512, 60_000, 1 / 119)
    (True, True, False)
    """
    rate = batch / examples
    return rounds_to(rate, q) or any(abs(q * each - 1) <= NEAR for each in epoch_lengths(rate))


def _batch_clash(claim: Claim) -> tuple[str, ...]:
    if claim.batch is None or claim.examples is None:
        return ()
    size = f"A batch of {claim.batch:,} of {claim.examples:,} examples"
    if claim.batch > claim.examples:
        return (f"{size} is more than there are.",)
    said = () if claim.q is None else (claim.q,)
    released = () if claim.mechanism is None else tuple(each.q for each in claim.mechanism.releases)
    other = [q for q in (*said, *released) if not is_rate_of(claim.batch, claim.examples, q)]
    if not other:
        return ()
    rate = nearest(claim.batch / claim.examples)
    return (f"{size} is q = {rate}, and {plain(other[0])} is {'released' if other[0] in released else 'claimed'}.",)


def _steps_clash(claim: Claim, q: float) -> tuple[str, ...]:
    if claim.steps is None or claim.epochs is None or _are_epochs(claim.epochs, Mechanism.constant(q, 1, claim.steps)):
        return ()
    length = epochs_of(claim.epochs)
    return (f"At q = {nearest(q)}, {length} are {claim.epochs / q:,.0f} steps, and {claim.steps:,} are claimed.",)


def _are_epochs(epochs: float, mechanism: Mechanism) -> bool:
    """Whether these releases may be so many epochs, each with or without a last batch that is smaller; a step less."""
    lengths = [(*epoch_lengths(each.q), each.count) for each in mechanism.releases]
    fewest = sum(count / high for _, high, count in lengths) - 1 / min(high for _, high, _ in lengths)
    most = sum(count / low for low, _, count in lengths) + 1 / min(low for low, _, _ in lengths)
    return fewest * (1 - NEAR) <= epochs <= most * (1 + NEAR)


def _mechanism_clashes(claim: Claim, mechanism: Mechanism) -> tuple[str, ...]:
    """What stands beside the releases and does not fit all of them."""
    wrong = []
    for name, said in (("q", claim.q), ("sigma", claim.sigma)):
        other = [getattr(each, name) for each in mechanism.releases if said is not None]
        if said is not None and (far := [each for each in other if not rounds_to(each, said)]):
            wrong.append(f"What was released has {name} = {nearest(far[0])}, and {plain(said)} is claimed.")
    if claim.steps not in (None, mechanism.steps):
        wrong.append(f"What was released are {mechanism.steps:,} steps, and {claim.steps:,} are claimed.")
    if claim.epochs is not None and not _are_epochs(claim.epochs, mechanism):
        passes = sum(each.q * each.count for each in mechanism.releases)
        wrong.append(f"What was released are {epochs_of(passes)}, and {nearest(claim.epochs)} are claimed.")
    return tuple(wrong)
