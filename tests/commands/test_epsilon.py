"""`python -m dpcore epsilon`: its JSON, its table, its manners with bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore.__main__ import COMMANDS, main
from dpcore.figures.epsilon import POINTS, epochs_at, epsilon_figure
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from tests import golden
from tests.commands.printed import printed

HEADLINE = ["epsilon", "--q", ".01", "--sigma", "4", "--steps", "10000", "--delta", "1e-5"]
ROOT = Path(__file__).parent.parent.parent


def test_the_headline_setting_prints_the_known_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, HEADLINE)
    assert (found["q"], found["sigma"], found["delta"]) == (0.01, 4.0, 1e-5)
    assert len(found["steps"]) == 100
    assert found["steps"][-1] == 10_000
    curves = found["accountants"]
    assert list(curves) == list(ACCOUNTANTS)
    for name, anchor in (("moments", golden.ABADI_MOMENTS), ("rdp", golden.ABADI_RDP), ("gdp", golden.ABADI_GDP)):
        assert curves[name]["epsilon"][-1] == pytest.approx(anchor.epsilon, abs=anchor.tolerance)
    assert curves["moments"]["kind"] == "upper"
    assert curves["pld"]["kind"] == "certified"
    assert curves["pld"]["lower"][-1] <= 0.9475
    assert curves["pld"]["epsilon"][-1] >= 0.9465
    assert all(len(curve["epsilon"]) == 100 for curve in curves.values())


@pytest.mark.parametrize("steps", [7, 99, 100, 101, 12_345])
def test_its_steps_are_those_of_a_chart(steps: int, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--q", ".01", "--sigma", "4", "--steps", str(steps), "--delta", "1e-5", "--accountant", "gdp"]
    found = printed(capsys, ["epsilon", *given, "--points", str(POINTS - 1)])
    mechanism = Mechanism.constant(0.01, 4.0, steps)
    figure = epsilon_figure(mechanism, 1e-5, accountants=["gdp"])
    drawn: Any = next(figure.select_traces({"name": ACCOUNTANTS["gdp"].title}))
    grid = np.array(sorted({1, *found["steps"]}))  # a chart begins at the first step
    assert np.array_equal(drawn.x, epochs_at(mechanism, grid))
    assert drawn.y[-len(found["steps"]) :].tolist() == found["accountants"]["gdp"]["epsilon"]


def test_accountants_and_points_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--accountant", "zcdp", "--accountant", "rdp", "--accountant", "zcdp", "--points", "4"]
    found = printed(capsys, HEADLINE + chosen)
    assert list(found["accountants"]) == ["zcdp", "rdp"]
    assert found["steps"] == [2500, 5000, 7500, 10_000]


def test_there_are_no_more_points_than_steps(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["epsilon", "--q", "1", "--sigma", "5", "--steps", "3", "--delta", "1e-5", "--accountant", "naive"]
    assert printed(capsys, arguments)["steps"] == [1, 2, 3]


def test_infinity_is_null_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["epsilon", "--q", ".9", "--sigma", "5", "--steps", "10", "--delta", "1e-5"]
    zcdp = printed(capsys, [*arguments, "--accountant", "zcdp", "--points", "2"])["accountants"]["zcdp"]
    assert zcdp["epsilon"] == [None, None]
    assert "does not exist" in zcdp["note"]
    tiny = ["epsilon", "--q", ".9", "--sigma", "1e-3", "--steps", "10", "--delta", "1e-5", "--accountant", "gdp"]
    assert printed(capsys, tiny)["accountants"]["gdp"]["note"]


def test_a_schedule_is_echoed_and_changes_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = ["--accountant", "rdp", "--schedule", "exponential", "--rate", ".02", "--level-steps", "100"]
    found = printed(capsys, HEADLINE + schedule)
    assert (found["schedule"], found["rate"], found["level_steps"]) == ("exponential", 0.02, 100)
    assert found["accountants"]["rdp"]["epsilon"][-1] > 2 * golden.ABADI_RDP.epsilon


def test_the_table_ends_with_a_verdict_on_each_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(HEADLINE) == 0
    out = capsys.readouterr().out
    assert out.startswith("epsilon after 10000 steps\n")
    lines = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert set(lines) == set(ACCOUNTANTS)
    assert " 1.26 " in lines["moments"]
    assert "loose" in lines["moments"]
    assert "Certified" in lines["pld"]


@pytest.mark.parametrize(
    "alone", [[], ["--accountant", "gdp"], pytest.param(["--accountant", "pld"], marks=pytest.mark.long)]
)
@pytest.mark.long
def test_huge_and_infinite_numbers_are_short_and_explained_once(
    capsys: pytest.CaptureFixture[str], alone: list[str]
) -> None:
    for sigma in (".05", ".01", "1e-3"):
        assert main(["epsilon", "--q", ".01", "--sigma", sigma, "--steps", "1000", "--delta", "1e-5", *alone]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) < 240
        assert max(line.lower().count("because") for line in lines) <= 1
        for line in lines[1:]:
            assert ("infinite" in line) == ("n/a, because" in line)


def test_the_table_does_not_round_a_bound_down(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["epsilon", "--q", "1", "--sigma", "2", "--steps", "1", "--delta", "1e-5"]) == 0
    lines = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]}
    mechanism = Mechanism.constant(1.0, 2.0, 1)
    for name, accountant in ACCOUNTANTS.items():
        if lines[name] != "infinite":
            assert float(lines[name]) >= accountant.curve(mechanism, 1, 1e-5).epsilon[0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["--q", "1.7"], "q=1.7 in (0, 1]"),
        (["--q", "0"], "q=0.0 in (0, 1]"),
        (["--sigma", "-1"], "sigma=-1.0"),
        (["--sigma", "abc"], "--sigma: expected 'abc' to be a finite number"),
        (["--sigma", "nan"], "--sigma: expected 'nan' to be a finite number"),
        (["--sigma", "inf"], "--sigma: expected 'inf' to be a finite number"),
        (["--steps", "0"], "steps=0"),
        (["--steps", "1.5"], "--steps: expected '1.5' to be a whole number"),
        (["--steps", "1e10"], "at most 1000000000"),
        (["--delta", "1"], "delta=1.0 in (0, 1)"),
        (["--points", "0"], "points=0"),
        (["--accountant", "abadi"], "accountant='abadi' to be one of: moments"),
        (["--schedule", "cosine"], "schedule='cosine' to be one of: constant"),
        (["--schedule", "linear", "--rate", "1", "--level-steps", "9"], "rate=1.0"),
        (["--schedule", "time", "--rate", "1", "--steps", "1e9", "--level-steps", "1"], "level_steps=1"),
        (["--rate", "3"], "no --rate without a schedule that changes sigma: it would change nothing"),
        (["--schedule", "exponential", "--rate", "0"], "no --schedule exponential with --rate 0: it would change noth"),
        (["--schedule", "step", "--rate", "1"], "no --schedule step with --rate 1: it would change nothing"),
        (["--level-steps", "3"], "no --level-steps without a schedule"),
        (["--schedule", "time"], "--rate to be given with --schedule time"),
        (["--points", "3"], "no --points without --json"),
        (["--bogus"], "--bogus"),
        (["--accountant"], "--accountant"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str], changed: list[str], words: str) -> None:
    assert main(HEADLINE + changed) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize("arguments", [[], ["epsilom"], ["epsilon"], ["--json"]])
def test_a_wrong_or_bare_command_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


def test_it_runs_as_a_process_without_torch() -> None:
    arguments = [*HEADLINE, "--points", "1", "--accountant", "rdp", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "dpcore", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["accountants"]["rdp"]["epsilon"][0] == pytest.approx(1.0355, abs=2e-4)
    loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "numpy" in loaded
    assert not {"torch", "streamlit"} & loaded
