"""The written proof of batches that are not Poisson names what exists, and every constant of the
room stands in it.
"""

import re

from tests.privacy.proof_text import ROOT, missing

ROOM = ROOT / "dpcore" / "privacy" / "sampling"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")


def test_the_proof_names_nothing_that_is_not_there_and_every_theorem_says_what_attacks_it() -> None:
    theorems = re.split(
        r"(?=^\*\*Theorem)", re.split(r"## \d+. Constants", TEXT)[0], flags=re.MULTILINE
    )[1:]
    assert [int(each) for each in re.findall(r"^\*\*Theorem (\d+)", TEXT, re.MULTILINE)] == list(
        range(1, 17)
    )
    assert len(theorems) == 16
    assert missing(ROOM, {each[2:12]: each for each in theorems}) == []
