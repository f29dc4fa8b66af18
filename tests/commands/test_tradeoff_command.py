"""`python -m dpcore tradeoff`: its JSON, its text, its manners with bad input."""

import numpy as np
import pytest
from scipy.stats import norm

from dpcore.__main__ import main
from tests.commands.printed import Output, printed

GAUSSIAN = ["tradeoff", "--q", "1", "--sigma", "2", "--steps", "4"]
SGD = ["tradeoff", "--q", ".01", "--sigma", "4", "--steps", "10000"]


def test_the_certified_curve_holds_the_exact_one(capsys: Output) -> None:
    found = printed(capsys, GAUSSIAN)
    alpha, certain = np.array(found["alpha"]), found["certified"]
    exact = norm.cdf(norm.isf(alpha) - 1.0)
    assert alpha.size == 101
    assert np.all(np.array(certain["lower"]) <= exact + 1e-15)
    assert np.all(np.array(certain["upper"]) >= exact - 1e-15)
    assert certain["kind"] == "certified"
    assert found["risks"]["advantage"]["lower"] <= 2 * norm.cdf(0.5) - 1 <= found["risks"]["advantage"]["upper"]
    assert found["risks"]["mu"]["lower"] <= 1.0 <= found["risks"]["mu"]["upper"]
    assert (found["q"], found["sigma"], found["steps"], found["delta"]) == (1.0, 2.0, 4, 1e-5)


def test_points_and_schedules_are_heard(capsys: Output) -> None:
    plain = printed(capsys, [*SGD, "--points", "5"])
    assert plain["alpha"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    falling = printed(capsys, [*SGD, "--points", "5", "--schedule", "exponential", "--rate", ".01"])
    assert falling["schedule"] == "exponential"
    assert falling["certified"]["upper"][1] < plain["certified"]["lower"][1]
    assert plain["gdp"]["kind"] == "approximate"
    assert plain["gdp"]["mu"] == pytest.approx(0.254, abs=1e-3)


def test_where_nothing_is_proven_null_and_a_note_say_so_and_the_text_explains_it_once(
    capsys: Output,
) -> None:
    silent = ["tradeoff", "--q", ".01", "--sigma", ".01", "--steps", "1"]
    found = printed(capsys, silent)
    assert found["gdp"]["mu"] is None
    assert found["risks"]["mu"]["upper"] is None
    assert "sigma=0.01" in found["certified"]["note"]
    assert main(silent) == 0
    assert "- The attacker's figures are n/a, because sigma=0.01 is below" in capsys.readouterr().out


def test_the_text_holds_a_table_and_the_statement(capsys: Output) -> None:
    assert main(SGD) == 0
    out = capsys.readouterr().out
    assert "beta, at least" in out
    assert "Privacy statement" in out
    assert "can become at most 76.5 % sure" in out
    row = next(line.split() for line in out.splitlines() if line.split()[:1] == ["0.05"])
    assert float(row[1]) < float(row[2]) < 0.95


def test_delta_is_compared_with_the_examples_that_are_given_and_with_none_otherwise(
    capsys: Output,
) -> None:
    assert main([*SGD, "--delta", "1e-3"]) == 0
    assert "1/n" not in capsys.readouterr().out
    assert main([*SGD, "--delta", "1e-3", "--examples", "1000"]) == 0
    assert "delta = 1e-3 is not below 1/n = 1e-3" in capsys.readouterr().out.replace("0.001", "1e-3")
