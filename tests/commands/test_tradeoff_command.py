"""`python -m dpcore tradeoff` and `python -m dpcore check`: their JSON, their text, their files."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from dpcore.__main__ import main
from tests.commands.printed import Output, Patch, printed

GAUSSIAN = ["tradeoff", "--q", "1", "--sigma", "2", "--steps", "4"]
SGD = ["tradeoff", "--q", ".01", "--sigma", "4", "--steps", "10000"]


def test_the_certified_curve_holds_the_exact_one(capsys: Output) -> None:
    found = printed(capsys, GAUSSIAN)
    assert (found["q"], found["sigma"], found["steps"], found["delta"]) == (1.0, 2.0, 4, 1e-5)
    mu = 1.0  # sqrt(steps) / sigma
    alpha = np.array(found["alpha"])
    assert alpha.size == 101
    exact = norm.cdf(norm.isf(alpha) - mu)
    certified = found["certified"]
    assert certified["kind"] == "certified"
    assert np.all(np.array(certified["lower"]) <= exact + 1e-15)
    assert np.all(np.array(certified["upper"]) >= exact - 1e-15)
    exact_risks = {"advantage": 2 * norm.cdf(mu / 2) - 1, "mu": mu}
    for name, value in exact_risks.items():
        bounds = found["risks"][name]
        assert bounds["lower"] <= value <= bounds["upper"], name


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
    assert (
        "- The attacker's figures are n/a, because sigma=0.01 is below" in capsys.readouterr().out
    )


CLAIM = [
    "check",
    "--epsilon",
    "3.0",
    "--sigma",
    "1.1",
    "--q",
    ".01",
    "--steps",
    "1000",
    "--delta",
    "1e-5",
]
CARD = (
    "epsilon = 2.92, delta=1e-5, noise multiplier 1.1, batch 256, 60,000 examples, 15 epochs,"
    " Opacus RDP"
)


def test_the_verdict_is_one_object_with_its_certificate(capsys: Output) -> None:
    (found,) = printed(capsys, CLAIM)["runs"]
    assert (found["verdict"], found["claim"]["epsilon"]) == ("holds", "3.0")
    assert 1.50 < found["certificate"]["lower"] <= found["certificate"]["upper"] < 1.52
    assert found["room"] == 3.0 - found["certificate"]["upper"]
    assert found["certificate"]["dp_event"]["count"] == 1000
    assert found["review"].startswith(
        "The claimed epsilon of 3.0 holds if batches are Poisson-sampled."
    )
    assert {"moments", "rdp", "gdp", "pld"} <= {each["accountant"] for each in found["counted"]}
    assert found["read"] == []


def test_the_text_says_the_verdict_first_and_the_review_last(capsys: Output) -> None:
    assert main([*CLAIM, "--accountant", "strong"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CONTRADICTORY. Advanced composition gives ")
    assert any(line.startswith("For a review: ") for line in lines)
    assert all(len(line) <= 110 for line in lines)


def test_a_file_is_read_and_options_go_before_it(tmp_path: Path, capsys: Output) -> None:
    file = tmp_path / "card.md"
    file.write_text(CARD, encoding="utf-8")
    (found,) = printed(capsys, ["check", "--text", str(file), "--sigma", "1.3"])["runs"]
    assert (found["claim"]["sigma"], found["claim"]["accountant"]) == (1.3, "rdp")
    assert {each["field"]: CARD[slice(*each["at"])] for each in found["read"]}[
        "examples"
    ] == "60,000"


def test_the_input_is_read_where_the_file_is_a_dash(monkeypatch: Patch, capsys: Output) -> None:
    state = json.dumps({"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"})
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(state.encode())))
    (found,) = printed(capsys, ["check", "--text", "-", "--epsilon", "1.71", "--delta", "1e-5"])[
        "runs"
    ]
    assert found["verdict"] == "holds"
    assert "rdp" in [each["accountant"] for each in found["given_by"]]


def test_a_text_that_claims_nothing_says_what_is_missing_and_no_text_is_refused(
    tmp_path: Path, capsys: Output
) -> None:
    file = tmp_path / "given"
    for content in (b"", b"nonsense", b"(3, 4)"):
        file.write_bytes(content)
        assert (
            printed(capsys, ["check", "--text", str(file)])["runs"][0]["verdict"] == "insufficient"
        ), content
    file.write_bytes(b"\x80\x02\xff\xfe")
    assert main(["check", "--text", str(file)]) == 2
    assert "no text in UTF-8" in capsys.readouterr().err
