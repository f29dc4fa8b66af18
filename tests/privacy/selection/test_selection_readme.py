"""The written proof of the best of several runs names what exists, and every constant of the room
stands in it.
"""

import re

from tests.privacy.proof_text import ROOT, missing

ROOM = ROOT / "dpcore" / "privacy" / "selection"
TEXT = (ROOM / "README.md").read_text(encoding="utf-8")


def test_the_proof_names_nothing_that_is_not_there_and_every_theorem_says_what_attacks_it() -> None:
    theorems = re.split(r"(?=^\*\*Theorem)", TEXT.split("## 3.")[0], flags=re.MULTILINE)[1:]
    assert [each[10] for each in theorems] == list("12345")
    assert missing(ROOM, {each[2:11]: each for each in theorems}) == []
