"""What is said of paper 000's accuracies follows from the records, whatever they are, and its ratios from its text."""

from fractions import Fraction

import pytest

from dpcore.papers.comparison import Outcome, compared
from dpcore.papers.paper import Sweep
from dpcore.papers.pigdo import accuracies
from dpcore.papers.pigdo.accuracies import UNKNOWN, judged, kinds, levels, race
from dpcore.papers.pigdo.improvements import IMPROVEMENTS, NOT_FOLLOWING
from dpcore.papers.pigdo.methods import run
from dpcore.papers.pigdo.sweeps import FIGURE_7
from dpcore.papers.records import Recorded, Seeded, named

# Section 5.2: PIAdam's accuracy, then the rival's and by how many per cent it is printed to be ahead.
PRINTED = {
    ("MNIST", 8): ("92.02", {"ADADP": ("91.25", "0.82"), "ADPPL": ("90.92", "1.65"), "EXP": ("89.75", "2.5"),
                             "DP-SGD": ("88.91", "3.48")}),
    ("MNIST", 4): ("95.93", {"ADPPL": ("94.94", "1.05"), "EXP": ("94.54", "1.47"), "DP-SGD": ("94", "2")}),
    ("MNIST", 2): ("98.21", {"DP-SGD": ("96.81", "1.44")}),
    ("CIFAR-10", 8): ("69.63", {"ADADP": ("68.06", "2.3"), "ADPPL": ("65.93", "5.6"), "EXP": ("63.22", "10.14"),
                                "DP-SGD": ("65.01", "7.1")}),
    ("CIFAR-10", 4): ("73.99", {"ADADP": ("69.56", "6.37"), "EXP": ("71", "4.21"), "DP-SGD": ("68.05", "8.73")}),
    ("CIFAR-10", 2): ("76.07", {"DP-SGD": ("69.11", "10.07")}),
}  # fmt: skip
FALSE = {"0.82", "1.65", "3.48"}  # from which no accuracies follow that round to the printed ones


def test_every_improvement_of_the_text_is_the_ratio_of_its_accuracies_or_is_said_not_to_be() -> None:
    found = {(each.place, each.quantity.split(", %")[0]): each for each in IMPROVEMENTS}
    assert len(found) == sum(len(rivals) for _, rivals in PRINTED.values()) == 16
    for (data, sigma), (own, rivals) in PRINTED.items():
        for rival, (other, printed) in rivals.items():
            each = found[f"Section 5.2, Results on {data}", f"PIAdam over {rival} at sigma {sigma}"]
            ratio = 100 * (Fraction(own) / Fraction(other) - 1)
            assert each.printed == printed
            assert each.ours() == pytest.approx(float(ratio), rel=1e-12)
            half = Fraction(1, 2) / 10 ** len(printed.partition(".")[2])
            close = abs(ratio - Fraction(printed)) <= half
            assert compared("000", each).outcome is (Outcome.REPRODUCED if close else Outcome.DIFFERS)
    assert [each.printed for each in NOT_FOLLOWING] == ["0.82", "1.65", "3.48", "1.05", "1.44"]
    assert {each.printed for each in NOT_FOLLOWING if "No accuracies" in each.because} == FALSE


def recording(monkeypatch: pytest.MonkeyPatch, found: dict[tuple[str, str, float], list[float]]) -> None:
    """Have these accuracies recorded, in %, and no others: data, method, sigma -> one for each seed."""
    records = {}
    for (data, method, sigma), values in found.items():
        runs = tuple(Seeded(seed, value / 100) for seed, value in enumerate(values))
        records[named(run(data, method, sigma))] = Recorded({}, runs, None, "2026-11-25", "", {}, 1.0)
    monkeypatch.setattr(accuracies, "recorded", lambda paper, config: records.get(named(config)))


def test_without_records_nothing_is_judged(monkeypatch) -> None:
    recording(monkeypatch, {("MNIST", "PIAdam, as coded", 8.0): [92.0]})  # alone in its race
    assert levels() == kinds() == []
    assert judged([], 0.5) == UNKNOWN


@pytest.mark.parametrize(
    ("rival", "verdict", "counts"),
    [(91.0, "Yes", "ahead in 1"), (92.4, "Yes", "at most) in 1"), (92.6, "Not everywhere", "behind in 1")],
)
def test_piadam_surpasses_or_roughly_equals_the_best_rival_or_does_not(monkeypatch, rival, verdict, counts) -> None:
    own, other = [91.9, 92.1], [rival]
    recording(
        monkeypatch,
        {
            ("MNIST", "PIAdam, as coded", 8.0): own,
            ("MNIST", "DP-SGD", 8.0): other,
            ("MNIST", "EXP", 8.0): [50.0],
        },
    )
    said = judged(levels(), 0.5)
    assert said.startswith(verdict)
    assert counts in said
    told = f"PIAdam 92.00 (2 seeds), DP-SGD {rival:.2f} (1 seed) (printed: 92.02 and 88.91)"
    assert (told in said) == (rival > 92.0)


def test_adam_always_better_is_refuted_by_one_rival_that_is_ahead(monkeypatch) -> None:
    recording(
        monkeypatch,
        {
            ("MNIST", "PIAdam, as written", 4.0): [91.0],
            ("MNIST", "PIAdagrad, as written", 4.0): [91.1],
            ("CIFAR-10", "PIAdam, as coded", 2.0): [75.0],
            ("CIFAR-10", "PIRMSprop, the code's network", 2.0): [74.0],
        },
    )
    assert [each.lead for each in kinds()] == pytest.approx([-0.1, 1.0])
    said = judged(kinds(), 0.0)
    assert said.startswith("Not everywhere: of 2 comparisons that are recorded, PIAdam is ahead in 1, behind in 1.")
    assert "PIAdagrad 91.10 (1 seed)" in said


def test_a_race_needs_both_sides(monkeypatch) -> None:
    recording(monkeypatch, {("MNIST", "DP-SGD", 8.0): [90.0]})
    assert race("here", "MNIST", 8.0, ("PIAdam, as coded", "DP-SGD")) == []


def test_how_accuracy_changes_over_a_sweep_is_its_range_where_two_runs_are_recorded(monkeypatch) -> None:
    sweep: Sweep = FIGURE_7[0][0]
    values = {named(config): value for config, value in zip(sweep.configs, (90.0, 93.5), strict=False)}

    def found(paper: str, config):
        value = values.get(named(config))
        return value and Recorded({}, (Seeded(0, value / 100),), None, "", "", {}, 1.0)

    monkeypatch.setattr(accuracies, "recorded", found)
    assert accuracies.changes([sweep]) == {sweep.title: pytest.approx(3.5)}
    assert "Not everywhere: by 3.50 points (hidden units, PIAdam as written)" in accuracies.ACCURACIES[2].holds()
    values.popitem()
    assert accuracies.changes([sweep]) == {}
    assert accuracies.ACCURACIES[2].holds() == UNKNOWN
