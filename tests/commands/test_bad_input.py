"""The house rule, over every command and each of its options: bad input is exit status 2 and one line that names it."""

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.__main__ import COMMANDS, main

MECHANISM = ["--q", ".01", "--sigma", "4", "--steps", "100"]
GOOD = {  # what a command needs beside the option in question
    "epsilon": [*MECHANISM, "--delta", "1e-5"],
    "calibrate": ["--solve", "sigma", "--target-epsilon", "3", "--q", ".01", "--steps", "100", "--delta", "1e-5"],
    "tradeoff": MECHANISM,
    "runs sweep": ["--grid", "ema=.5,.9"],
}
NOWHERE = ["/" + "a" * 5000, "~nobody-of-that-name/x", "/etc/passwd"]


def leaves(words: list[str], parser: argparse.ArgumentParser) -> Iterator[tuple[list[str], argparse.ArgumentParser]]:
    """The parsers that take options, each with the words that lead to it."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for name, each in action.choices.items():
            yield from leaves([*words, name], each)
    if not inner:
        yield words, parser


LEAVES = [
    leaf for name in COMMANDS for leaf in leaves([name], importlib.import_module(f"dpcore.commands.{name}").parser())
]
OPTIONS = [(words, action) for words, parser in LEAVES for action in parser._actions if action.option_strings]
ANY_TEXT = ("--to", "--name")  # nothing is wrong with a text
VALUED = [
    (words, action.option_strings[-1])
    for words, action in OPTIONS
    if action.nargs != 0 and action.option_strings[-1] not in ANY_TEXT
]


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63 - 1, "1e4", "10_001"])
def test_a_whole_number_is_taken_as_it_is_written_however_large(seed):
    parser = importlib.import_module("dpcore.commands.train").parser()
    assert parser.parse_args(["--seed", str(seed)]).seed == {"1e4": 10_000, "10_001": 10_001}.get(seed, seed)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which the words are refused."""
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "data"))


@pytest.mark.parametrize(
    ("words", "option"), VALUED, ids=lambda each: "-".join(each) if isinstance(each, list) else each
)
def test_every_option_names_itself_where_its_value_is_none(words, option, capsys) -> None:
    good = [*GOOD.get(" ".join(words), [])]
    if option in good:
        del good[good.index(option) : good.index(option) + 2]
    for value in ("x", "nan", ""):
        line = refused([*words, *good, f"{option}={value}"], capsys)
        name = option.removeprefix("--")
        assert name in line or name.replace("-", "_") in line


EXTREMES = [
    ("--epochs", "1e308", "epochs=1e+308"),  # in steps: infinite
    ("--epochs", "1e300", "epochs=1e+300"),  # in steps: a whole number of 300 digits
    ("--epochs", "1e-308", "epochs=1e-308"),  # in steps: none
    ("--batch", "1" + "0" * 30, "batch="),
    ("--batch", "1" + "0" * 400, "batch"),
    ("--batch", "0", "batch=0"),
    ("--lr", "1e308", "lr=1e+308"),  # no float32
    ("--lr", "0", "lr=0"),
    ("--lr-end", "1e308", "lr_end=1e+308"),
    ("--sigma", "1e308", "sigma=1e+308"),
    ("--sigma", "1e-300", "sigma=1e-300"),
    ("--clip-norm", "1e308", "clip_norm=1e+308"),
]


@pytest.mark.parametrize(("option", "value", "named"), EXTREMES)
def test_a_setting_at_its_extreme_is_named_as_it_was_typed(option: str, value: str, named: str, capsys) -> None:
    more = ["--lr-schedule", "cosine"] if option == "--lr-end" else []
    line = refused(["train", option, value, *more], capsys)
    assert named in line
    assert len(line) < 150 + len(value)


@pytest.mark.parametrize("words", [words for words, _ in LEAVES], ids="-".join)
def test_every_command_refuses_options_that_it_does_not_have(words: list[str], capsys) -> None:
    good = ["x"] if words[0] in ("runs", "data") and words[1] not in ("list", "status", "download") else []
    assert "--nonsense" in refused([*words, *good, *GOOD.get(" ".join(words), []), "--nonsense"], capsys)


@pytest.mark.parametrize("words", [["runs", "list"], ["data", "status"]], ids="-".join)
@pytest.mark.parametrize("place", NOWHERE)
def test_a_home_that_no_system_has_holds_nothing(words: list[str], place: str, monkeypatch, capsys) -> None:
    monkeypatch.setenv("DPCORE_HOME", place)
    monkeypatch.setenv("DPCORE_DATA", place)
    assert main(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("place", ["/" + "a" * 5000, "/etc/passwd"])
def test_a_run_that_cannot_be_kept_is_refused(place: str, monkeypatch, capsys) -> None:
    monkeypatch.setenv("DPCORE_HOME", place)
    refused(["train", "--epochs", ".01"], capsys)


@pytest.mark.parametrize("action", ["show", "cancel", "resume"])
@pytest.mark.parametrize("run", ["x", "", "../x", "a" * 5000])
def test_a_run_that_is_none_is_named(action: str, run: str, capsys) -> None:
    assert repr(run) in refused(["runs", action, run], capsys)
