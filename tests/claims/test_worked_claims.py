"""Printed claims, each with its verdict."""

import re

import pytest

from dpcore.claims import Standing, checked
from dpcore.claims.worked import EXAMPLES
from dpcore.privacy.report.glossary import ARXIV

VERDICTS = {  # name -> standing, a bound that is proven, and whose number it is
    "moments": (Standing.HOLDS, "at most 0.9481", "moments"),
    "composition": (Standing.CONTRADICTORY, "gives 14.3, and 9.34 is claimed", None),
    "cifar": (Standing.INSUFFICIENT, "the number of steps or epochs", None),
    "tutorial": (Standing.HOLDS, "at most 2.389", "moments"),
    "clt": (Standing.REFUTED, "at least 0.862", "gdp"),
    "clt-high": (Standing.HOLDS, "at most 28.1", "gdp"),
    "shuffled": (Standing.REFUTED, "proven to be at least", "moments"),
    "sa-dpsgd": (Standing.INSUFFICIENT, "the number of steps or epochs", None),
    "tanh": (Standing.HOLDS, "at most 2.38", "rdp"),
    "mma": (Standing.HOLDS, "at most 0.9481", None),
    "vaultgemma": (Standing.INSUFFICIENT, "sigma", None),
    "opacus-rdp": (Standing.HOLDS, "at most 6.7", "rdp"),
    "opacus-prv": (Standing.UNPROVEN, "between 6.76", "pld"),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_it_has_its_verdict(example) -> None:
    standing, words, accountant = VERDICTS[example.name]
    verdict = checked(example.claim)
    assert verdict.standing is standing
    assert words in verdict.sentence
    assert accountant is None or accountant in [each.accountant for each in verdict.given_by]


def test_there_are_twelve_with_a_source_each_and_every_kind_of_verdict() -> None:
    assert len(EXAMPLES) == len({each.name for each in EXAMPLES}) == len({each.title for each in EXAMPLES})
    assert len(EXAMPLES) >= 12
    assert {standing for standing, _, _ in VERDICTS.values()} == set(Standing)
    for each in EXAMPLES:
        assert ARXIV.search(each.source) or re.search(r"\d{4}|\d[.]\d", each.source)
        assert each.place
        assert not each.note or each.note.endswith(".")
