"""Adding takes what docs/adding.md says: a dummy of each kind, registered from here alone, runs like the real ones."""

import sys
import types
from argparse import Namespace

import pytest

from dpcore import __main__ as dispatcher
from dpcore import check
from dpcore.commands import Parser, whole


def echo_parser() -> Parser:
    made = Parser(prog="python -m dpcore echo", description="Say a number.")
    made.add_argument("--count", type=whole, required=True)
    return made


def echo(arguments: Namespace) -> int:
    check.whole(1, count=arguments.count)
    print(f"count {arguments.count}")
    return 0


@pytest.fixture
def echo_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is a module with two functions, and its line among the commands."""
    module = types.ModuleType("dpcore.commands.echo")
    module.__dict__.update(parser=echo_parser, run=echo)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(dispatcher.COMMANDS, "echo", "say a number")


@pytest.mark.usefixtures("echo_command")
def test_a_command_is_its_module_and_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatcher.main(["--help"]) == 0
    assert "echo       say a number" in capsys.readouterr().out
    assert dispatcher.main(["echo", "--count", "3"]) == 0
    assert capsys.readouterr().out == "count 3\n"


@pytest.mark.usefixtures("echo_command")
@pytest.mark.parametrize("count", ["0", "much"])
def test_a_commands_bad_input_is_one_line_and_status_2(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatcher.main(["echo", "--count", count]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "count" in line
