"""A printed number beside ours: reproduced to its last digit, different for a reason, or refuted by a proof."""

import pytest

from dpcore.papers import comparison
from dpcore.papers.comparison import Outcome, compared
from dpcore.papers.entry import Claim, Computed, Entry, Trained
from dpcore.papers.records import Recorded, Seeded
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig

ONE_STEP = Claim(Mechanism.constant(1.0, 1.0, 1), 1e-5)  # epsilon is 4.377 (arXiv 1805.06530, Theorem 8)


@pytest.mark.parametrize(
    ("printed", "ours", "outcome"),
    [
        ("0.83", 0.8349, Outcome.REPRODUCED),
        ("0.83", 0.8351, Outcome.DIFFERS),
        ("10,000", 10_000.4, Outcome.REPRODUCED),
        ("3e-4", 3.6e-4, Outcome.DIFFERS),
    ],
)
def test_a_number_is_reproduced_to_half_a_unit_of_the_last_digit_printed(printed: str, ours: float, outcome: Outcome):
    entry = Computed("Table 1", "epsilon", printed, because="It rounds down.", ours=lambda: ours)
    found = compared("004", entry)
    assert found.outcome is outcome
    assert (found.why == "It rounds down.") == (outcome is Outcome.DIFFERS)
    assert found.lower is None


@pytest.mark.parametrize(("printed", "refuted"), [("4.36", True), ("4.38", False)])
def test_a_claim_below_the_certified_lower_bound_is_refuted_with_that_bound(printed: str, refuted: bool):
    entry = Computed("Theorem 1", "epsilon", printed, ours=lambda: float(printed), claim=ONE_STEP)
    found = compared("000", entry)
    assert found.lower == pytest.approx(4.377, abs=5e-4)
    assert (found.outcome is Outcome.REFUTED) == refuted
    assert found.lower_text == "4.377"
    assert ("at least 4.377 is proven" in found.why) == refuted


@pytest.mark.parametrize(("printed", "outcome"), [("4", Outcome.REPRODUCED), ("4.3", Outcome.REFUTED)])
def test_a_number_that_was_only_rounded_down_is_not_refuted(printed: str, outcome: Outcome):
    entry = Computed("Theorem 1", "epsilon", printed, ours=lambda: 4.3775, claim=ONE_STEP)
    assert compared("000", entry).outcome is outcome


@pytest.mark.parametrize(("bound", "shown"), [(True, "1.192"), (False, "1.191")])
def test_ours_is_read_with_a_digit_more_than_theirs_and_a_bound_rounded_up(bound: bool, shown: str):
    entry = Computed("Table 1", "epsilon", "1.19", ours=lambda: 1.1912, bound=bound)
    assert compared("004", entry).ours_text == shown


def test_what_prints_no_number_is_refused():
    with pytest.raises(ValueError, match="Expected printed='none' to hold a number"):
        _ = Entry("Table 1", "epsilon", "none").theirs


def test_an_accuracy_without_a_recorded_run_is_untrained():
    entry = Trained("Table 1", "test accuracy", "95.0 %", config=RunConfig(sigma=1.2345))
    assert compared("004", entry).outcome is Outcome.UNTRAINED


RUN = RunConfig(sigma=1.2345)
CAVEAT = "Ours shuffles."


def of_runs(monkeypatch: pytest.MonkeyPatch, *accuracies: float, seeds: int = 1, rmse: bool = False):
    """What is said of a printed 95 beside runs of these accuracies, in per cent."""
    runs = tuple(Seeded(seed, each / 100, rmse=each if rmse else None) for seed, each in enumerate(accuracies))
    record = Recorded({}, runs, None, "2026-11-25", "a machine", {}, 1.0)
    monkeypatch.setattr(comparison, "recorded", lambda paper, config: record)
    return compared("004", Trained("Table 1", "accuracy", "95", because=CAVEAT, note="So.", config=RUN, seeds=seeds))


@pytest.mark.parametrize(
    ("ours", "outcome", "said"),
    [
        (95.38, Outcome.REPRODUCED, "Ours is 0.38 points higher. Ours shuffles. So."),
        (95.0, Outcome.REPRODUCED, "Ours shuffles. So."),
        (92.5, Outcome.DIFFERS, "Ours is 2.5 points lower. Possible reasons, untested: Ours shuffles. So."),
    ],
)
def test_a_run_says_by_how_much_it_is_off_and_what_is_not_the_papers_in_any_case(monkeypatch, ours, outcome, said):
    found = of_runs(monkeypatch, ours)
    assert (found.outcome, found.why) == (outcome, said)


def test_a_run_with_fewer_seeds_than_asked_for_says_so(monkeypatch):
    assert of_runs(monkeypatch, 95.38, seeds=3).why.startswith("Ours is 0.38 points higher, with 1 of 3 seeds. ")
    assert of_runs(monkeypatch, 95.0, seeds=2).why.startswith("Ours is the same, with 1 of 2 seeds. ")
    assert "seeds" not in of_runs(monkeypatch, 95.5, 95.1, seeds=2).why


def test_an_error_is_off_by_no_points(monkeypatch):
    assert of_runs(monkeypatch, 95.5, rmse=True).why.startswith("Ours is 0.5 higher. ")
