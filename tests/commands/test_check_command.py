"""`python -m dpcore check`: its JSON, its sentences, its manners with bad input."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpcore.__main__ import main
from dpcore.claims.worked import EXAMPLES
from tests.commands.printed import printed

CLAIM = ["check", "--epsilon", "3.0", "--sigma", "1.1", "--q", ".01", "--steps", "1000", "--delta", "1e-5"]
CARD = "epsilon = 2.92, delta=1e-5, noise multiplier 1.1, batch 256, 60,000 examples, 15 epochs, Opacus RDP"


def test_the_verdict_is_one_object_with_its_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, CLAIM)
    assert (found["verdict"], found["claim"]["epsilon"]) == ("holds", "3.0")
    assert 1.50 < found["certificate"]["lower"] <= found["certificate"]["upper"] < 1.52
    assert found["room"] == 3.0 - found["certificate"]["upper"]
    assert found["certificate"]["dp_event"]["count"] == 1000
    assert found["review"].startswith("The claimed epsilon of 3.0 holds if its batches are Poisson's: for")
    assert {"moments", "rdp", "gdp", "pld"} <= {each["accountant"] for each in found["counted"]}
    assert found["read"] == found["left_out"] == []


def test_a_sampler_changes_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, [*CLAIM, "--sampler", "shuffle"])
    assert found["verdict"] == "refuted"
    assert found["certificate"]["lower"] > 3.05
    assert found["certificate"]["dp_event"] is None


def test_the_text_says_the_verdict_first_and_the_review_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CLAIM, "--accountant", "strong"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CONTRADICTORY. Advanced composition gives ")
    assert any(line.startswith("For a review: ") for line in lines)
    assert all(len(line) <= 110 for line in lines)


def test_a_file_is_read_and_options_go_before_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "card.md"
    file.write_text(CARD, encoding="utf-8")
    found = printed(capsys, ["check", "--text", str(file), "--sigma", "1.3"])
    assert (found["claim"]["sigma"], found["claim"]["accountant"]) == (1.3, "rdp")
    assert {each["field"]: CARD[slice(*each["at"])] for each in found["read"]}["examples"] == "60,000"


def test_the_input_is_read_where_the_file_is_a_dash(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = json.dumps({"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"})
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(state.encode())))
    found = printed(capsys, ["check", "--text", "-", "--epsilon", "1.71", "--delta", "1e-5"])
    assert found["verdict"] == "holds"
    assert "rdp" in [each["accountant"] for each in found["given_by"]]


def test_an_option_that_does_not_fit_a_history_contradicts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "history.json"
    file.write_text(json.dumps({"history": [[1.1, 0.01, 1000]]}), encoding="utf-8")
    words = ["check", "--text", str(file), "--epsilon", "3", "--delta", "1e-5"]
    assert printed(capsys, words)["verdict"] == "holds"
    assert printed(capsys, [*words, "--sigma", "0.5"])["verdict"] == "contradictory"


@pytest.mark.parametrize("example", [each.name for each in EXAMPLES])
def test_every_printed_claim_is_an_example(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ["check", "--example", example])["verdict"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "Expected a claim"),
        (["--epsilon", "0"], "epsilon=0"),
        (["--epsilon", "-3"], "epsilon=-3"),
        (["--epsilon", "three"], "epsilon='three' to be a number"),
        (["--epsilon", "3,0"], "epsilon='3,0' to be a number: a comma parts groups of three digits, as in 60,000, and"),
        (["--sigma", "1,1"], "expected '1,1' to be a finite number, without commas and with a point before decimals"),
        (["--delta", "1"], "delta=1.0 in (0, 1)"),
        (["--sigma", "-1"], "sigma=-1.0"),
        (["--q", "1.5"], "q=1.5"),
        (["--batch", "0"], "batch=0"),
        (["--epochs", "-1"], "epochs=-1.0"),
        (["--sampler", "weighted"], "sampler='weighted' to be one of: poisson"),
        (["--accountant", "abadi"], "accountant='abadi'"),
        (["--text", "no such file"], "text='no such file' to be a file that can be read"),
        (["--example", "none"], "example='none' to be one of: moments"),
        (["--example", "clt", "--text", "x"], "no --text without"),
    ],
)
def test_bad_input_is_one_line_and_status_2(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert named in line


@pytest.mark.parametrize("content", [b"", b"nonsense", b"(3, 4)"])
def test_a_text_that_claims_nothing_says_what_is_missing(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nothing.txt"
    file.write_bytes(content)
    assert printed(capsys, ["check", "--text", str(file)])["verdict"] == "insufficient"


def test_a_file_that_is_no_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.pt"
    file.write_bytes(b"\x80\x02\xff\xfe")
    assert main(["check", "--text", str(file)]) == 2
    assert "no text in UTF-8" in capsys.readouterr().err
