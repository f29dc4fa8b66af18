"""What is assumed, and what others reach, is said wherever a reader may look for it."""

from pathlib import Path

import pytest

from dpcore.papers.catalogue import PAPERS
from dpcore.privacy.report.statement import TEXTS

ROOT = Path(__file__).parents[1]
PROOF = "dpcore/privacy/certified/README.md"
ABOVE_OURS = ("72.3", "2306.06076", "84.8", "fTHg6B0IG5", "81.4", "2204.13650")


def text_of(path: str) -> str:
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("path", ["docs/guarantees.md", PROOF])
def test_n_is_public_in_the_guarantees_and_in_the_proof(path: str) -> None:
    words = text_of(path)
    assert "n is public" in words or "The number of examples n, and with it the rate" in words
    assert "2605.15648" in words
    assert "`realised_divisor`" in words


def test_n_is_public_in_every_statement_and_so_on_every_card() -> None:
    said = [" ".join(each.split()) for each in TEXTS["caveats"]]
    assert any(
        "The number of examples n is public. Both neighbouring data" in each for each in said
    )


def test_accuracies_above_ours_are_printed_beside_them() -> None:
    remarks = " ".join(each.text for each in PAPERS["005"].remarks)
    for said in ABOVE_OURS:
        assert said in remarks
        assert said in text_of("docs/benchmarks.md")
    rows = text_of("docs/benchmarks.md")
    assert "| published: CIFAR-10, networks | 72.3 | | | 84.8 | |" in rows
    assert "| published: CIFAR-10, a network of 2022 | | | | 81.4 | |" in rows
