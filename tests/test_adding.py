"""Adding takes what docs/adding.md says: a dummy of each kind, registered from here alone, runs like the real ones."""

import sys
import types
from argparse import Namespace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore import __main__ as dispatcher
from dpcore import check
from dpcore.commands import Parser, whole
from pages.parts.shell import menu


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


QUESTION = "What is half of my noise?"
HALF_PAGE = f"""
from pages.parts.controls.mechanism import setting_in
from pages.parts.shell.layout import page_columns

left, right = page_columns({QUESTION!r})
setting = setting_in(left, right)
right.header(f"{{setting.sigma / 2:g}}")
"""


@pytest.fixture
def half_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> menu.Page:
    """A page that is a file, and its line in the menu."""
    file = tmp_path / "half.py"
    file.write_text(HALF_PAGE)
    page = menu.Page(str(file), "Half", "percent", opens_settings=True)
    monkeypatch.setattr(menu, "PAGES", (*menu.PAGES, page))
    return page


def app_at(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(Path(__file__).parents[1] / "app.py", default_timeout=60)
    app.query_params.update(query)
    return app.run().switch_page(page).run()


def test_a_page_is_its_file_and_its_line(half_page: menu.Page) -> None:
    app = app_at(half_page.file, sigma="3")
    assert not app.exception
    assert (half_page.address, app.title[0].value, app.header[0].value) == ("half", QUESTION, "1.5")
    app.select_slider(key="sigma_slider").set_value("4").run()
    assert app.header[0].value == "2"


def test_an_answer_of_calibrate_opens_in_a_page_that_shows_settings(
    half_page: menu.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []  # in a test Streamlit switches to files of the folder pages only
    monkeypatch.setattr("streamlit.switch_page", lambda page, **_: asked.append(page))
    app = app_at("pages/calibrate.py", by="rdp")
    (found,) = [each.value for each in app.header if each.value.startswith("sigma = ")]
    (button,) = [each for each in app.button if each.label == "in Half"]
    button.click().run()
    assert not app.exception
    assert asked == [half_page.file]
    assert app.session_state["sigma"] == found.removeprefix("sigma = ")
