"""`python -m dpcore calibrate`: its JSON, its sentences, its manners with bad input."""

from typing import Any

import pytest

from dpcore.__main__ import main
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import scheduled
from tests.commands.printed import printed

HEADLINE = ["calibrate", "--target-epsilon", "3", "--q", ".01", "--steps", "10000", "--delta", "1e-5"]
SIGMA = [*HEADLINE, "--solve", "sigma"]


def counted(found: dict[str, Any]) -> float:
    """Epsilon of the answer by the `epsilon` command's own arithmetic."""
    mechanism = Mechanism.constant(found["q"], found["sigma"], found["steps"])
    return float(ACCOUNTANTS[found["accountant"]].curve(mechanism, found["steps"], found["delta"]).epsilon[0])


def test_the_headline_answer_keeps_its_target_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
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
    ("solve", "given"),
    [
        ("steps", ["--q", ".01", "--sigma", "2"]),
        ("q", ["--steps", "1000", "--sigma", "2"]),
        ("batch", ["--steps", "1000", "--sigma", "2", "--examples", "60000"]),
    ],
)
def test_every_argument_can_be_solved(capsys: pytest.CaptureFixture[str], solve: str, given: list[str]) -> None:
    target = ["calibrate", "--solve", solve, "--target-epsilon", "1", "--delta", "1e-6", "--accountant", "rdp"]
    found = printed(capsys, target + given)
    assert counted(found) == found["epsilon"] <= 1
    assert found["epsilon"] > 0.99
    assert "lower" not in found
    if solve == "batch":
        assert found["q"] == found["answer"] / 60_000
    else:
        assert found[solve] == found["answer"]
    assert found["verdict"]["status"] == "loose"


@pytest.mark.parametrize(
    ("target", "word"), [(["--target-advantage", ".1"], "advantage"), (["--target-mu", ".5", "--delta", "1e-5"], "mu")]
)
def test_other_budgets_than_epsilon(capsys: pytest.CaptureFixture[str], target: list[str], word: str) -> None:
    found = printed(capsys, ["calibrate", "--solve", "sigma", "--q", ".01", "--steps", "1000", *target])
    assert 0.99 * float(target[1]) <= found["lower"] <= found[word] <= float(target[1])
    assert ("delta" in found) == (word == "mu")
    assert word in found["verdict"]["text"]


def test_a_schedule_is_solved_for_its_first_sigma(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = ["--schedule", "exponential", "--rate", ".02", "--level-steps", "100", "--accountant", "rdp"]
    found = printed(capsys, [*SIGMA, *schedule, "--steps", "1000"])
    mechanism = scheduled("exponential", 0.01, found["answer"], 1000, 0.02, 100)
    assert float(ACCOUNTANTS["rdp"].curve(mechanism, 1000, 1e-5).epsilon[0]) == found["epsilon"] <= 3


def test_the_text_says_the_answer_its_kind_and_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIGMA, "--accountant", "gdp", "--examples", "60000"]) == 0
    first, second, verdict = capsys.readouterr().out.splitlines()
    assert first.startswith("sigma = 1.54")
    assert second.startswith("epsilon=3 ")
    assert "of 3 at delta=1e-05 (gdp, approximate); sigma=1.5" in second
    assert verdict.startswith("Claims more privacy than there is: ")


@pytest.mark.parametrize("target", [".0301", ".73", "2.99999"])
def test_what_the_text_spends_is_never_rounded_below_the_bound_nor_past_the_target(
    capsys: pytest.CaptureFixture[str], target: str
) -> None:
    given = [
        "calibrate",
        "--solve",
        "sigma",
        "--target-epsilon",
        target,
        "--q",
        ".01",
        "--steps",
        "1000",
        "--delta",
        "1e-5",
    ]
    exact = printed(capsys, given)["epsilon"]
    assert main(given) == 0
    text = capsys.readouterr().out.splitlines()[1].partition("=")[2].split()[0]
    assert exact <= float(text) <= float(target)


def test_warnings_are_told_and_do_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, [*SIGMA, "--steps", "10050", "--examples", "100000"])
    assert "delta = 1e-5 is not below 1/n = 1e-5" in found["note"]
    assert "10050 steps are 100.5 epochs" in found["note"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["--target-epsilon", "0"], "epsilon=0.0"),
        (["--target-epsilon", "-1"], "epsilon=-1.0"),
        (["--target-epsilon", "inf"], "--target-epsilon: expected 'inf' to be a finite number"),
        (["--target-epsilon", "nan"], "--target-epsilon: expected 'nan' to be a finite number"),
        (["--target-mu", "1"], "found --target-epsilon and --target-mu"),
        (["--delta", "0"], "delta=0.0 in (0, 1)"),
        (["--q", "1.7"], "q=1.7 in (0, 1]"),
        (["--steps", "0"], "steps=0"),
        (["--steps", "1.5"], "--steps: expected '1.5' to be a whole number"),
        (["--solve", "epochs"], "solve='epochs' to be one of: sigma, steps, q, batch"),
        (["--sigma", "3"], "no --sigma with --solve sigma"),
        (["--solve", "steps", "--sigma", "3"], "no --steps with --solve steps"),
        (["--solve", "q", "--sigma", "3"], "no --q with --solve q"),
        (["--solve", "batch", "--sigma", "3", "--examples", "60000"], "no --q with --solve batch"),
        (["--solve", "steps"], "Expected --sigma to be given to solve steps."),
        (["--solve", "q"], "Expected --sigma to be given to solve q."),
        (["--solve", "batch", "--sigma", "1"], "Expected --examples to be given to solve batch."),
        (
            ["--target-epsilon", ".01", "--q", "1", "--steps", "40000"],
            "No sigma below 1000 reaches epsilon=0.01 in 400",
        ),
        (["--accountant", "abadi"], "accountant='abadi' to be one of: moments"),
        (["--schedule", "cosine"], "schedule='cosine' to be one of: constant"),
        (["--schedule", "linear", "--rate", "1", "--level-steps", "9"], "rate=1.0"),
        (["--examples", "0"], "examples=0"),
        (["--bogus"], "--bogus"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str], changed: list[str], words: str) -> None:
    assert main(SIGMA + changed) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--sigma", ".01"], "pld has no number: sigma=0.01 is below 0.05"),
        (["--sigma", "0"], "sigma=0.0"),
        (["--sigma", ".3", "--q", "1"], "One step already costs epsilon="),
    ],
)
def test_steps_that_cannot_be_solved_say_why(capsys: pytest.CaptureFixture[str], given: list[str], words: str) -> None:
    question = ["calibrate", "--solve", "steps", "--target-epsilon", "3", "--q", ".01", "--delta", "1e-5", *given]
    assert main(question) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


@pytest.mark.parametrize("missing", ["--solve", "--target-epsilon", "--q", "--steps", "--delta"])
def test_nothing_that_is_needed_may_be_missing(capsys: pytest.CaptureFixture[str], missing: str) -> None:
    at = SIGMA.index(missing)
    assert main(SIGMA[:at] + SIGMA[at + 2 :]) == 2
    assert missing in capsys.readouterr().err


@pytest.mark.parametrize(
    ("idle", "words"),
    [
        (["--target-epsilon", "1", "--delta", "1e-5", "--rate", "3"], "no --rate without a schedule"),
        (["--target-epsilon", "1", "--delta", "1e-5", "--level-steps", "9"], "no --level-steps without a schedule"),
        (["--target-epsilon", "1", "--delta", "1e-5", "--schedule", "time"], "--rate to be given with --schedule time"),
        (["--target-advantage", ".1", "--schedule", "step", "--rate", "1"], "no --schedule step with --rate 1"),
        (["--target-advantage", ".1", "--delta", "1e-5"], "no --delta without a target epsilon or mu"),
        (["--target-advantage", ".1", "--examples", "100"], "no --examples without a target epsilon"),
        (["--target-mu", "1", "--delta", "1e-5", "--examples", "100"], "no --examples without a target epsilon"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], idle: list[str], words: str
) -> None:
    assert main(["calibrate", "--solve", "sigma", "--q", ".01", "--steps", "100", "--accountant", "rdp", *idle]) == 2
    assert words in capsys.readouterr().err


def test_what_lies_past_the_last_number_is_not_said_to_overshoot(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = ["--schedule", "exponential", "--rate", ".1", "--level-steps", "1"]
    question = ["calibrate", "--solve", "steps", "--target-advantage", ".5", "--q", ".001", "--sigma", ".1", *schedule]
    found = printed(capsys, question)
    assert (found["answer"], found["beyond"]) == (7, None)
    assert main(question) == 0
    out = capsys.readouterr().out
    assert "overshoots" not in out
    assert "Past steps=7 there is no number" in out
