"""Printed numbers that follow from accounting, and how a number is compared with ours."""

import math

import pytest

from dpcore.papers import comparison
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import Outcome, compared
from dpcore.papers.entry import Computed, Entry, PrintedClaim, Trained
from dpcore.papers.records import Recorded, Seeded
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from tests.papers_page import BENCHMARKS, HEADING, PAGE, README, benchmarks, cells, page, readme


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_is_reproduced_refuted_by_a_proof_or_its_difference_is_explained(paper: str):
    for entry in (each for each in PAPERS[paper].entries if isinstance(each, Computed)):
        name = f"{entry.place}: {entry.quantity}"
        found = compared(paper, entry)
        assert found.ours is not None, name
        assert math.isfinite(found.ours), name
        close = abs(found.ours - entry.theirs) <= entry.tolerance
        assert not (close and entry.because), (
            f"{name}: nothing differs, so that there is nothing to explain"
        )
        assert close or entry.because, name
        refuted = found.lower is not None and entry.theirs + entry.half_unit < found.lower
        if refuted:
            assert found.outcome is Outcome.REFUTED, name
            assert f"the true epsilon is at least {found.lower_text}" in found.why, name
        elif close:
            assert found.outcome is Outcome.REPRODUCED, name
        else:
            assert found.outcome is Outcome.DIFFERS, name
        if found.lower is not None and entry.bound:
            assert found.ours >= found.lower, name


def test_no_two_numbers_of_a_paper_are_at_one_place_under_one_name():
    for paper in PAPERS.values():
        names = [(entry.place, entry.quantity) for entry in paper.entries]
        assert len(names) == len(set(names)), paper.id


# Epsilon is 4.377 (arXiv 1805.06530, Theorem 8).
ONE_STEP = PrintedClaim(Mechanism.constant(1.0, 1.0, 1), 1e-5)


def test_a_number_is_reproduced_to_half_a_unit_of_the_last_digit_printed():
    cases = (
        ("0.83", 0.8349, Outcome.REPRODUCED),
        ("0.83", 0.8351, Outcome.DIFFERS),
        ("10,000", 10_000.4, Outcome.REPRODUCED),
        ("3e-4", 3.6e-4, Outcome.DIFFERS),
    )
    for printed, ours, outcome in cases:
        why = "It rounds down."
        entry = Computed("Table 1", "epsilon", printed, because=why, ours=lambda ours=ours: ours)
        found = compared("004", entry)
        assert found.outcome is outcome, printed
        assert (found.why == "It rounds down.") == (outcome is Outcome.DIFFERS)
        assert found.lower is None
    with pytest.raises(ValueError, match="Expected printed='none' to hold a number"):
        _ = Entry("Table 1", "epsilon", "none").theirs


@pytest.mark.parametrize(("printed", "refuted"), [("4.36", True), ("4.38", False)])
def test_a_claim_below_the_certified_lower_bound_is_refuted_with_that_bound(
    printed: str, refuted: bool
):
    entry = Computed("Theorem 1", "epsilon", printed, ours=lambda: float(printed), claim=ONE_STEP)
    found = compared("000", entry)
    assert found.lower == pytest.approx(4.377, abs=5e-4)
    assert (found.outcome is Outcome.REFUTED) == refuted
    assert found.lower_text == "4.377"
    assert ("the true epsilon is at least 4.377" in found.why) == refuted


def test_a_number_that_was_only_rounded_down_is_not_refuted():
    for printed, outcome in (("4", Outcome.REPRODUCED), ("4.3", Outcome.REFUTED)):
        entry = Computed("Theorem 1", "epsilon", printed, ours=lambda: 4.3775, claim=ONE_STEP)
        assert compared("000", entry).outcome is outcome


def test_ours_is_read_with_a_digit_more_than_theirs_and_a_bound_rounded_up():
    for bound, shown in ((True, "1.192"), (False, "1.191")):
        entry = Computed("Table 1", "epsilon", "1.19", ours=lambda: 1.1912, bound=bound)
        assert compared("004", entry).ours_text == shown


def test_an_accuracy_without_a_recorded_run_is_untrained():
    entry = Trained("Table 1", "test accuracy", "95.0 %", config=RunConfig(sigma=1.2345))
    assert compared("004", entry).outcome is Outcome.UNTRAINED


RUN = RunConfig(sigma=1.2345)
CAVEAT = "Ours shuffles."


def of_runs(
    monkeypatch: pytest.MonkeyPatch, *accuracies: float, seeds: int = 1, rmse: bool = False
):
    """Compare a printed 95 with runs of these accuracies, in percent."""
    runs = tuple(
        Seeded(seed, each / 100, rmse=each if rmse else None)
        for seed, each in enumerate(accuracies)
    )
    record = Recorded({}, runs, None, "2026-11-25", "a machine", {}, 1.0)
    monkeypatch.setattr(comparison, "recorded", lambda paper, config: record)
    return compared(
        "004",
        Trained("Table 1", "accuracy", "95", because=CAVEAT, note="So.", config=RUN, seeds=seeds),
    )


def test_a_run_says_by_how_much_it_is_off_and_what_is_not_the_papers_in_any_case(monkeypatch):
    higher = of_runs(monkeypatch, 95.38)
    assert higher.outcome is Outcome.REPRODUCED
    assert higher.why == "Ours is 0.38 points higher. Ours shuffles. So."
    same = of_runs(monkeypatch, 95.0)
    assert same.outcome is Outcome.REPRODUCED
    assert same.why == "Ours shuffles. So."
    lower = of_runs(monkeypatch, 92.5)
    assert lower.outcome is Outcome.DIFFERS
    assert lower.why == "Ours is 2.5 points lower. Possible reasons, untested: Ours shuffles. So."


def test_a_run_with_fewer_seeds_than_asked_for_says_so(monkeypatch):
    assert of_runs(monkeypatch, 95.38, seeds=3).why.startswith(
        "Ours is 0.38 points higher, with 1 of 3 seeds. "
    )
    assert of_runs(monkeypatch, 95.0, seeds=2).why.startswith(
        "Ours is the same, with 1 of 2 seeds. "
    )
    assert "seeds" not in of_runs(monkeypatch, 95.5, 95.1, seeds=2).why
    # An error has no points.
    assert of_runs(monkeypatch, 95.5, rmse=True).why.startswith("Ours is 0.5 higher. ")


MAKE = "python -m tests.papers_page"


def test_the_document_and_the_readmes_table_are_those_that_are_made_from_the_findings():
    assert PAGE.read_text(encoding="utf-8") == page(), MAKE
    text = README.read_text(encoding="utf-8")
    assert text.count(HEADING) == 1
    assert readme(text) == text, MAKE
    tables = BENCHMARKS.read_text(encoding="utf-8")
    assert benchmarks(tables) == tables, MAKE
    assert "| MNIST | 9" in tables
    table = text.split(HEADING)[1].split("\n## ")[0]
    for paper in PAPERS.values():
        if paper.findings:
            assert f"| {paper.short} | {' | '.join(cells(paper.findings[0]))} |" in table, MAKE
