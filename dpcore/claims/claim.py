"""A claim about a training run; any of its numbers and names may be missing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial

from dpcore import check
from dpcore.claims.printed import Printed
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.beside import Other
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_SIGMA, Mechanism
from dpcore.privacy.report.statement import ADJACENCY
from dpcore.privacy.sampling import SAMPLERS, sampler_of
from dpcore.privacy.sampling.base import ADD_REMOVE, REPLACE_ONE, ZERO_OUT
from dpcore.privacy.selection.best_of import NumberOfRuns

BATCHES = {  # as in a sentence
    name: each.phrase
    for name, each in SAMPLERS.items()
    if not (each.same_batches or each.parameters)
}
ADJACENCIES = {"add_remove": ADD_REMOVE, "zero_out": ZERO_OUT, "replace_one": REPLACE_ONE}
MEANT = {  # in words, as within a sentence
    "add_remove": ADJACENCY,
    "zero_out": "zero-out: data sets that differ in one example, present or without a gradient",
    "replace_one": (
        "replace-one: data sets that differ in one example, present or replaced by another"
    ),
}
FORMS = tuple(each.form or name for name, each in SAMPLERS.items() if not each.same_batches)
MAX_EXAMPLES = 10**12
MAX_EPOCHS = 1e9


def own_adjacency(sampler: str) -> str:
    """Return the adjacency of a sampler's bounds, which is that of all records of a person if it
    has their number.

    Errors: ValueError for an unknown sampler.

    >>> own_adjacency("poisson_group:4"), own_adjacency("shuffle")
    ('add_remove', 'zero_out')
    """
    of_one_record = sampler_of(sampler).adjacency.partition(" of ")[0]
    return next(key for key, words in ADJACENCIES.items() if words == of_one_record)


def sampler_under(adjacency: str, sampler: str) -> str:
    """Return the sampler of the same batches whose bounds hold under an adjacency, if there is one.

    >>> sampler_under("replace_one", "poisson"), sampler_under("replace_one", "shuffle")
    ('poisson_replace_one', 'shuffle')
    """
    for name, each in SAMPLERS.items():
        if each.same_batches == sampler and own_adjacency(name) == adjacency:
            return name
    return sampler


# Of the fields; each raises an error for a bad value.
CHECKS: tuple[tuple[str, Callable[..., object]], ...] = (
    ("delta", check.delta),
    ("q", partial(check.in_range, 0, 1, ends="(]")),
    ("sigma", check.positive),
    ("sigma", partial(check.in_range, MIN_SIGMA, MAX_SIGMA)),
    ("batch", partial(check.whole, 1, MAX_EXAMPLES)),
    ("examples", partial(check.whole, 1, MAX_EXAMPLES)),
    ("steps", partial(check.whole, 1, MAX_STEPS)),
    ("epochs", check.positive),
    ("epochs", partial(check.in_range, 0, MAX_EPOCHS)),
    ("sampler", own_adjacency),
    ("adjacency", partial(check.one_of, ADJACENCIES)),
    ("accountant", partial(check.one_of, ACCOUNTANTS)),
)


@dataclass(frozen=True)
class Claim:
    """An epsilon and the training that it is claimed for; None for what the claim does not say.

    Errors: ValueError for a value out of its range. Contradictions between values are found
    elsewhere.

    >>> Claim(epsilon=Printed("3.0"), sigma=0)
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=0 to be above 0.
    """

    epsilon: Printed | None = None
    delta: float | None = None
    q: float | None = None
    batch: int | None = None  # expected examples in a step
    examples: int | None = None  # n
    sigma: float | None = None
    epochs: float | None = None
    steps: int | None = None
    sampler: str | None = None  # one of FORMS, with its numbers
    adjacency: str | None = None  # one of ADJACENCIES
    accountant: str | None = None  # one of ACCOUNTANTS
    runs: NumberOfRuns | None = None  # of which the best is published, if epsilon is to cover that
    mechanism: Mechanism | None = None  # the releases, if a record has them
    beside: tuple[Other, ...] | None = None  # releases on the same data that are not Gaussian

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            check.positive(epsilon=self.epsilon.value)
        for name, checked in CHECKS:
            value = getattr(self, name)
            if value is not None:
                checked(**{name: value})


NAMES = tuple(each.name for each in fields(Claim))


def values_of(claim: Claim) -> dict[str, object]:
    """Return the values that a claim has, by field."""
    values = {}
    for name in NAMES:
        value = getattr(claim, name)
        if value is not None:
            values[name] = value
    return values


def joined(claims: Iterable[Claim]) -> Claim:
    """Join the values of claims; a later claim wins.

    >>> joined([Claim(q=0.1, sigma=1.0), Claim(sigma=2.0)]).sigma
    2.0
    """
    whole = Claim()
    for each in claims:
        whole = replace(whole, **values_of(each))
    return whole
