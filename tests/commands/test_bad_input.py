"""The house rule, over every command and each of its options: bad input is exit status 2 and one
line that names it.
"""

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.__main__ import COMMANDS, main
from dpcore.papers.catalogue import PAPERS
from dpcore.runs.store import Store
from dpcore.runs.store_file import FILE
from tests.commands.printed import Output, Patch

MECHANISM = "--q .01 --sigma 4 --steps 100"
SIGMA = "--solve sigma --target-epsilon 3 --q .01 --steps 10000 --delta 1e-5"
GOOD = {  # what a command needs beside the option in question
    "epsilon": f"{MECHANISM} --delta 1e-5",
    "calibrate": SIGMA,
    "tradeoff": MECHANISM,
    "runs sweep": "--grid ema=.5,.9",
    "perturb": "--dataset iris",
    "lab export": "lab.html",
}
ANY_TEXT = ("--to", "--name", "--public-name")  # nothing is wrong with a text, or "x"
# A column may have any name; tests/runs/foreign has what is wrong of the columns of a file.
OF_A_TABLE = ("COLUMN", "NAME")
# What else is wrong of a command's own, after what it needs, and words of the line that says so.
BAD = {
    "epsilon": [
        ("--q 1.7", "q=1.7 to be above 0 and at most 1"),
        ("--sigma inf", "--sigma: expected `inf` to be a number"),
        ("--steps 1.5", "--steps: expected `1.5` to be a whole number"),
        ("--steps 1e10", "to 1,000,000,000"),
        ("--delta 1", "delta=1.0 to be above 0 and below 1"),
        ("--accountant abadi", "accountant='abadi' to be one of: moments"),
        ("--accountant", "--accountant"),
        ("--schedule cosine", "schedule='cosine' to be one of: constant"),
        ("--schedule linear --rate 1 --level-steps 9", "rate=1.0"),
        ("--schedule time --rate 1 --steps 1e9 --level-steps 1", "level_steps=1"),
        ("--rate 3", "no --rate without a schedule that changes sigma: it would change nothing"),
        (
            "--schedule exponential --rate 0",
            "no --schedule exponential with --rate 0: it would change nothing",
        ),
        ("--schedule step --rate 1", "no --schedule step with --rate 1: it would change nothing"),
        ("--level-steps 3", "no --level-steps without a schedule"),
        ("--schedule time", "Expected --rate with --schedule time"),
        ("--points 3", "no --points without --json"),
        ("--sampler shufle", "Expected sampler='shufle' to be one of: poisson"),
        (
            "--sampler poisson_group",
            "Expected sampler=`poisson_group` to be poisson_group:K, with K records",
        ),
        ("--sampler poisson_group:x", "Expected sampler=`x` to be a number"),
        ("--sampler poisson_group:0", "Expected records=0"),
        (
            "--sampler truncated_poisson:5",
            "to be truncated_poisson:B:N, with batches of at most B of N records",
        ),
        ("--sampler shuffle:2", "Expected sampler=`shuffle:2` to be shuffle."),
        ("--sampler shuffle --schedule exponential --rate .1", "only constant noise is proven"),
        ("--bands 101", "at most 1/q = 100"),
        ("--bands 2 --sampler shuffle", "--bands 2"),
    ],
    "calibrate": [
        (
            "--target-mu 1",
            "--target-advantage, --target-mu, but found --target-epsilon and --target-mu",
        ),
        ("--solve epochs", "solve='epochs' to be one of: sigma, steps, q, batch"),
        ("--sigma 3", "no --sigma with --solve sigma"),
        ("--solve steps --sigma 3", "no --steps with --solve steps"),
        ("--solve q --sigma 3", "no --q with --solve q"),
        ("--solve batch --sigma 3 --examples 60000", "no --q with --solve batch"),
        ("--solve steps", "Expected --sigma with --solve steps."),
        ("--solve batch --sigma 1", "Expected --examples with --solve batch."),
        (
            "--target-epsilon .01 --q 1 --steps 40000",
            "No sigma below 1000 reaches epsilon=0.01 in 400",
        ),
    ],
    "tradeoff": [
        ("--points 1", "points=1"),
        ("--n 100", "--n"),
        ("--json --examples 3", "no --examples without the statement"),
    ],
    "check": [
        ("--epsilon 3,0", "epsilon=`3,0` to be a number: write decimals with a point"),
        ("--sigma 1,1", "expected `1,1` to be a number: write decimals with a point"),
        ("", "Expected a claim"),
        ("--epsilon three", "epsilon=`three` to be a number"),
        ("--q 1.5", "q=1.5"),
        ("--sampler weighted", "sampler='weighted' to be one of: poisson"),
        ("--text nothing-here", "text='nothing-here' to be a readable file"),
        ("--example none", "example='none' to be one of: moments"),
        ("--example clt --text x", "no --text without"),
    ],
    "perturb": [
        ("--classes setosa", "classes='setosa'"),
        ("--classes setosa,rose", "rose"),
        ("--clip-norm 1", "Expected no --clip-norm without a model whose gradients have no bound"),
        ("--clip-norm 0 --model mlp", "clip_norm=0"),
    ],
    "lab export": [
        ("--n 1", "n=1"),
        ("--n 1e9", "to 10,000,000"),
        ("--delta 1e-30", "delta=1e-30"),
        ("--dataset sand", "dataset='sand'"),
        ("--processes 65", "processes=65"),
    ],
    "lab": [
        ("", "ACTION"),
        ("export lab.txt", "FILE='lab.txt' to end with .html"),
        ("export nowhere/lab.html", "folder of FILE='nowhere/lab.html'"),
    ],
    "papers": [("--paper=4", f"Expected paper='4' to be one of: {', '.join(PAPERS)}.")],
    "audit": [
        ("--confidence 1", "confidence=1"),
        ("--canaries 9000", "canaries=9000"),
        ("nobody", "nobody"),
    ],
    "train": [
        ("--batch 10001", "batch=10001 to be at most the 10000"),
        ("--epochs 1e9", "epochs="),
        ("--momentum 1", "momentum=1"),
        ("--source full", "full MNIST"),
        ("--non-private --stop-epsilon 1", "epsilon is infinite"),
        ("--dataset cifar10 --source sample --model cnn9", "source='sample' to be one of: full"),
        (
            "--optimizer adam --momentum 0.5",
            "without an optimizer that has momentum (sgd or adppl)",
        ),
        ("--pca-sigma 3", "no --pca-sigma without pca"),
        ("--non-private --sigma 2", "no --sigma without privacy"),
        ("--schedule exponential", "no --schedule without privacy and a rate that changes sigma"),
        ("--epochs 1e308", "epochs=1e+308"),  # in steps: infinite
        ("--epochs 1e300", "epochs=1e+300"),  # in steps: a whole number of 300 digits
        ("--epochs 1e-308", "epochs=1e-308"),  # in steps: none
        (f"--batch 1{'0' * 400}", "batch"),
        ("--lr 1e308", "lr=1e+308"),  # no float32
        ("--lr-end 1e308 --lr-schedule cosine", "lr_end=1e+308"),
        ("--sigma 1e-300", "sigma=1e-300"),
    ],
    "runs": [
        ("", "ACTION"),
        ("drop", "'drop'"),
        ("show", "ID"),
        *[(f"{action} ../x", "run='../x'") for action in ("show", "cancel", "resume")],
        (f"show {'a' * 5000}", f"run='{'a' * 5000}'"),
    ],
    "runs sweep": [
        ("--grid sigma", "--grid 'sigma'"),
        ("--grid sigma=1,x", "Expected sigma=`x` to be a number"),
        ("--grid sigma=", "the values of sigma"),
        ("--grid flavour=1", "setting='flavour'"),
        ("--grid seed=1,2", "setting='seed'"),
        ("--grid ema=1", "each setting once"),
        ("--grid lr=1 --grid batch=9", "one or two settings"),
        ("--ema .3", "Expected no --ema beside --grid ema"),
        ("--seeds 101", "at most 200"),
        ("--grid momentum=.1,.2 --optimizer adam", "would change nothing"),
        (f"--name {'x' * 10_000}", "name of at most 120 characters"),
        (f"--grid sigma={'1,' * 10_000}", "at most 2,000 characters"),
        (f"--grid {'x' * 10_000}=1", "setting="),
    ],
}


def leaves(
    words: list[str], parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parsers that take options, each with the words that lead to it."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for name, each in action.choices.items():
            yield from leaves([*words, name], each)
    if not inner:
        yield " ".join(words), parser


LEAVES = dict(
    leaf
    for name in COMMANDS
    for leaf in leaves([name], importlib.import_module(f"dpcore.commands.{name}").parser())
)


def refused(words: list[str], capsys: Output) -> str:
    """The one line with which the words are refused."""
    status, said = main(words), capsys.readouterr()
    assert (status, said.out) == (2, ""), words
    (line,) = said.err.splitlines()
    assert line.startswith("dpcore: ")
    return line


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.parametrize("command", LEAVES)
def test_every_option_names_itself_where_its_value_is_none(command: str, capsys: Output) -> None:
    for action in LEAVES[command]._actions:
        option = (action.option_strings or [""])[-1]
        of_a_table = command == "runs import" and action.metavar in OF_A_TABLE
        if not option or action.nargs == 0 or option in ANY_TEXT or of_a_table:
            continue
        good = GOOD.get(command, "").split()
        if option in good:
            del good[good.index(option) : good.index(option) + 2]
        for value in ("x", "nan", "", "-1"):
            line = refused([*command.split(), *good, f"{option}={value}"], capsys)
            name = option.removeprefix("--")
            known = (name, name.replace("-", "_"), name.removeprefix("target-") + "=")
            assert any(each in line for each in known), (option, value, line)
    positional = (
        "x" if command.startswith(("runs", "data")) and command.split()[1] not in OWN else ""
    )
    words = f"{command} {positional} {GOOD.get(command, '')} --nonsense".split()
    assert "--nonsense" in refused(words, capsys)


# Of the commands that have actions, those without an id or a folder.
OWN = ("list", "status", "download", "sweep")


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_one_line_and_leaves_no_run(command: str, home: Path, capsys: Output) -> None:
    for words, said in BAD[command]:
        line = refused([*command.split(), *GOOD.get(command, "").split(), *words.split()], capsys)
        assert said in line, (words[:100], line[:200])
        assert len(line) < 400 + len(words)
    if (home / FILE).exists():
        with Store() as store:
            assert store.runs(kind=None) == []


def test_a_wrong_or_bare_command_is_one_line_and_help_lists_the_commands(capsys: Output) -> None:
    for words in ([], ["epsilom"], ["epsilon"], ["--json"]):
        refused(words, capsys)
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


def test_a_whole_number_is_taken_as_it_is_written_however_large() -> None:
    parser = LEAVES["train"]
    for text, seed in (
        (str(2**53 + 1), 2**53 + 1),
        (str(2**63 - 1), 2**63 - 1),
        ("1e4", 10_000),
        ("10_001", 10_001),
    ):
        assert parser.parse_args(["--seed", text]).seed == seed


def test_a_home_that_no_system_has_holds_nothing_and_can_keep_no_run(
    monkeypatch: Patch, capsys: Output
) -> None:
    for place in ("/" + "a" * 5000, "~nobody-of-that-name/x", "/etc/passwd"):
        monkeypatch.setenv("DPCORE_HOME", place)
        monkeypatch.setenv("DPCORE_DATA", place)
        for words in (["runs", "list"], ["data", "status"]):
            assert main(words) == 0
            assert capsys.readouterr().err == ""
        if not place.startswith("~"):
            refused(["train", "--epochs", ".01"], capsys)
