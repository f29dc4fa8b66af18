"""`python -m dpcore calibrate`: its JSON, its sentences, its manners with bad input."""

from typing import Any

import pytest

from dpcore.__main__ import main
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.selection.best_of import best_of, read_runs
from tests.commands.printed import Output, printed

SIGMA = [
    "calibrate",
    "--solve",
    "sigma",
    "--target-epsilon",
    "3",
    "--q",
    ".01",
    "--steps",
    "10000",
    "--delta",
    "1e-5",
]


def counted(found: dict[str, Any]) -> float:
    """Epsilon of the answer by the `epsilon` command's own arithmetic."""
    mechanism = Mechanism.constant(found["q"], found["sigma"], found["steps"])
    return float(
        ACCOUNTANTS[found["accountant"]].curve(mechanism, found["steps"], found["delta"]).epsilon[0]
    )


def test_the_headline_answer_keeps_its_target_and_says_what_it_is(capsys: Output) -> None:
    found = printed(capsys, SIGMA)
    assert (found["solve"], found["accountant"], found["kind"]) == ("sigma", "pld", "certified")
    assert found["target"] == {"epsilon": 3.0}
    assert (found["q"], found["steps"], found["delta"]) == (0.01, 10_000, 1e-5)
    assert found["sigma"] == found["answer"] == pytest.approx(1.567, abs=0.005)
    assert counted(found) == found["epsilon"]
    assert 0.999 * 3 <= found["epsilon"] <= 3
    assert 0.99 * 3 <= found["lower"] <= found["epsilon"]
    assert found["answer"] / 1.001 <= found["beyond"] < found["answer"]
    assert found["verdict"]["status"] == "sound_and_tight"


@pytest.mark.parametrize(
    ("runs", "sigma"), [("10", 4.465), ("geometric:10", 2.14), ("poisson:10", 2.629)]
)
def test_an_answer_covers_the_choice_of_the_best_run(
    capsys: Output, runs: str, sigma: float
) -> None:
    found = printed(capsys, [*SIGMA, "--best-of", runs])
    assert found["best_of"] == runs
    assert found["answer"] == pytest.approx(sigma, rel=2e-3)
    whole = Mechanism.constant(0.01, found["answer"], 10_000)
    assert (
        found["epsilon"] == best_of(read_runs(runs), [whole], ACCOUNTANTS["pld"], 1e-5).value <= 3
    )
    assert found["lower"] == ACCOUNTANTS["pld"].spent(whole, 1e-5).lower or runs.startswith(
        "poisson"
    )
    assert found["note"].startswith("Epsilon covers the best of")
    assert main([*SIGMA[:3], "--target-mu", "1", *SIGMA[5:], "--best-of", runs]) == 2
    assert "no --best-of without --target-epsilon" in capsys.readouterr().err


def test_every_argument_can_be_solved(capsys: Output) -> None:
    for solve, given in {
        "steps": "--q .01 --sigma 2",
        "q": "--steps 1000 --sigma 2",
        "batch": "--steps 1000 --sigma 2 --examples 60000",
    }.items():
        target = (
            f"calibrate --solve {solve} --target-epsilon 1 --delta 1e-6 --accountant rdp {given}"
        )
        found = printed(capsys, target.split())
        assert counted(found) == found["epsilon"] <= 1, solve
        assert found["epsilon"] > 0.99
        assert "lower" not in found
        if solve == "batch":
            assert found["q"] == found["answer"] / 60_000
        else:
            assert found[solve] == found["answer"]
        assert found["verdict"]["status"] == "loose"


@pytest.mark.parametrize(
    ("word", "target", "more"), [("advantage", 0.1, ""), ("mu", 0.5, "--delta 1e-5")]
)
def test_other_budgets_than_epsilon(capsys: Output, word: str, target: float, more: str) -> None:
    question = f"calibrate --solve sigma --q .01 --steps 1000 --target-{word} {target} {more}"
    found = printed(capsys, question.split())
    assert 0.99 * target <= found["lower"] <= found[word] <= target
    assert ("delta" in found) == (word == "mu")
    assert word in found["verdict"]["text"]


def test_a_schedule_is_solved_for_its_first_sigma(capsys: Output) -> None:
    schedule = "--schedule exponential --rate .02 --level-steps 100 --accountant rdp --steps 1000"
    found = printed(capsys, [*SIGMA, *schedule.split()])
    mechanism = Recipe("exponential", 0.02, 100).mechanism(0.01, found["answer"], 1000)
    assert (
        float(ACCOUNTANTS["rdp"].curve(mechanism, 1000, 1e-5).epsilon[0]) == found["epsilon"] <= 3
    )


def test_what_the_text_spends_is_never_rounded_below_the_bound_nor_past_the_target(
    capsys: Output,
) -> None:
    for target in (".0301", ".73", "2.99999"):
        given = [*SIGMA, "--steps", "1000", "--target-epsilon", target]
        exact = printed(capsys, given)["epsilon"]
        assert main(given) == 0
        text = capsys.readouterr().out.splitlines()[1].partition("=")[2].split()[0]
        assert exact <= float(text) <= float(target)


# Questions that have no answer, or an option that would change nothing; test_bad_input.py has the
# others.
BAD = {
    "--solve steps --target-epsilon 3 --q .01 --delta 1e-5 --sigma .01": (
        "pld has no number: sigma=0.01 is below 0.05"
    ),
    "--solve steps --target-epsilon 3 --q 1 --delta 1e-5 --sigma .3": (
        "One step already costs epsilon="
    ),
    "--solve sigma --q .01 --steps 9 --target-advantage .1 --delta 1e-5": (
        "no --delta without a target epsilon or mu"
    ),
    "--solve sigma --q .01 --steps 9 --target-advantage .1 --examples 9": (
        "no --examples without a target epsilon"
    ),
    "--solve sigma --q .01 --steps 9 --target-mu 1 --delta .1 --examples 9": (
        "no --examples without a target epsilon"
    ),
}
MISSING = ("--solve", "--target-epsilon", "--q", "--steps", "--delta")


def test_a_question_without_an_answer_says_why_and_an_incomplete_one_what_is_missing(
    capsys: Output,
) -> None:
    for question, words in BAD.items():
        assert main(["calibrate", *question.split()]) == 2, question
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line
    for missing in MISSING:
        at = SIGMA.index(missing)
        assert main(SIGMA[:at] + SIGMA[at + 2 :]) == 2
        assert missing in capsys.readouterr().err
