"""Every number that the papers print and that follows from accounting, each a test by itself."""

import math

import pytest

from dpcore.papers import PAPERS
from dpcore.papers.comparison import Outcome, compared
from dpcore.papers.entry import Computed

NUMBERS = [(paper.id, entry) for paper in PAPERS.values() for entry in paper.computed]


def name_of(each: object) -> str:
    return f"{each.place}: {each.quantity}" if isinstance(each, Computed) else str(each)


@pytest.mark.parametrize(("paper", "entry"), NUMBERS, ids=name_of)
def test_it_is_reproduced_refuted_by_a_proof_or_its_difference_is_explained(paper: str, entry: Computed):
    found = compared(paper, entry)
    assert found.ours is not None
    assert math.isfinite(found.ours)
    close = abs(found.ours - entry.theirs) <= entry.tolerance
    assert not (close and entry.because), "nothing differs, so that there is nothing to explain"
    assert close or entry.because
    refuted = found.lower is not None and entry.theirs + entry.half_unit < found.lower
    expected = Outcome.REFUTED if refuted else Outcome.REPRODUCED if close else Outcome.DIFFERS
    assert found.outcome is expected
    if refuted:
        assert f"at least {found.lower_text} is proven" in found.why
    if found.lower is not None and entry.bound:
        assert found.ours >= found.lower


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_no_two_numbers_of_a_paper_are_at_one_place_under_one_name(paper):
    names = [(entry.place, entry.quantity) for entry in paper.entries]
    assert len(names) == len(set(names))
