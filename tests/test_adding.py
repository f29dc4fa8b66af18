"""Adding takes what docs/adding.md says: a dummy of each kind, registered from here alone, runs like the real ones."""

import sys
import types
from argparse import Namespace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dpcore import __main__ as dispatcher
from dpcore import check
from dpcore.commands import Parser, whole
from dpcore.commands.train import config_of
from dpcore.commands.train import parser as train_parser
from dpcore.figures import epsilon_figure
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import short
from dpcore.privacy.types import FloatArray, IntArray
from dpcore.runs import pool
from dpcore.runs.store import Store
from dpcore.training.plan import plan
from pages.parts.shell import menu
from tests.commands.printed import printed
from tests.pages.runs.test_runs_compared import finished
from tests.pages.sliders import slide


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
    slide(app, "sigma", "4")
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


@final
class Tally(Accountant):
    """A made-up formula: 2 sqrt(T) q / sigma at any delta."""

    name: ClassVar[str] = "tally"
    title: ClassVar[str] = "Made-up tally"
    note: ClassVar[str] = "The made-up tally counts what it likes."
    source: ClassVar[str] = "arXiv 0000.00000"
    kind: ClassVar[Kind] = Kind.CLAIMED
    caveat: ClassVar[str] = "Nobody has proved it."

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        squares = np.array([(2 * each.q / each.sigma) ** 2 for each in mechanism.releases])
        return Curve(steps, delta, np.sqrt(mechanism.compositions(steps) @ squares), None, self.kind)


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    """An accountant that is a class, and its line in the registry."""
    made = Tally()
    monkeypatch.setitem(ACCOUNTANTS, made.name, made)
    return made


SETTING = ["--q", ".01", "--steps", "10000"]


def test_the_commands_take_a_new_accountant(tally: Tally, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, ["epsilon", *SETTING, "--sigma", "4", "--delta", "1e-5", "--points", "2"])
    assert found["accountants"]["tally"]["epsilon"][-1] == pytest.approx(0.5)
    assert list(found["accountants"]) == list(ACCOUNTANTS)
    assert dispatcher.main(["epsilon", *SETTING, "--sigma", "4", "--delta", "1e-5"]) == 0
    assert "\ntally " in capsys.readouterr().out
    for target in (["--target-epsilon", "1", "--delta", "1e-5"], ["--target-advantage", ".3"]):
        found = printed(capsys, ["calibrate", "--solve", "sigma", *SETTING, *target, "--accountant", "tally"])
        assert (found["accountant"], found["kind"]) == ("tally", "claimed")
    assert dpcore.epsilon(Mechanism.constant(0.01, 4.0, 10_000), 1e-5, "tally").value == pytest.approx(0.5)


def test_a_run_stops_by_a_new_accountant(tally: Tally) -> None:
    given = ["--source", "sample", "--batch", "100", "--sigma", "4", "--stop-epsilon", ".0201"]
    config = config_of(train_parser().parse_args([*given, "--stop-accountant", tally.name]))
    assert plan(config).steps == 16  # 2 sqrt(16) / 100 / 4 = .02, and 17 steps cost more


def test_the_figures_draw_a_new_accountant_in_a_look_of_its_own(tally: Tally) -> None:
    traces: Any = epsilon_figure(Mechanism.constant(0.01, 4.0, 10_000), 1e-5, accountants=ACCOUNTANTS).data
    looks = [(each.line.color, each.line.dash) for each in traces if each.mode == "lines"]
    assert len(set(looks)) == len(ACCOUNTANTS)  # the band has two lines in one look
    (drawn,) = [each for each in traces if each.name == tally.title]
    assert drawn.y[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("accountants", {"accountants": ["tally", "rdp"]}),
        ("accountants", {"accountants": ["tally"], "against": "delta"}),
        ("tradeoff", {"pair": "tally", "pairs": "tally"}),
        ("calibrate", {"by": "tally"}),
        ("calibrate", {"by": "tally", "target": "advantage"}),
        ("train", {"by": "tally"}),
        ("runs", {"by": "tally", "show": "accuracy and epsilon"}),
        ("check", {"claim_accountant": "tally"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_every_page_shows_a_new_accountant(
    page: str, query: dict, tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path) as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: types.SimpleNamespace(store=store, trouble=None))
        run = finished(store)
        offered, written = shown_on(page, query)
        assert tally.title in " ".join([*offered, *written])
        if page in ("accountants", "calibrate"):
            assert any(tally.title in each for each in written)
        if page == "accountants":
            assert any(tally.note in each for each in written)
        if page == "runs":
            assert tally.title in offered
            spent = dpcore.epsilon(plan(store.run(run).config).mechanism, 1e-5, "tally")
            assert any(f"claims {short(spent.value)}" in each for each in written)


def shown_on(page: str, query: dict) -> tuple[list[str], list[str]]:
    """What a page offers in its menus, and what else it says or draws."""
    app = AppTest.from_file(Path(__file__).parents[1] / "pages" / f"{page}.py", default_timeout=60)
    app.query_params.update(query)
    app.run()
    assert not app.exception
    assert not app.error
    html = [each.proto.body for each in app.get("html")] + [each.value for each in app.markdown]
    return [option for each in app.selectbox for option in each.options], [
        *html, *(each.proto.spec for each in app.get("plotly_chart"))
    ]  # fmt: skip


def test_a_page_that_is_not_driven_with_a_new_accountant_offers_none(
    tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (driven,) = [
        mark.args[1] for mark in test_every_page_shows_a_new_accountant.pytestmark if mark.name == "parametrize"
    ]
    others = {Path(each.file).stem for each in menu.PAGES} - {page for page, _ in driven}
    assert others == {Path(each.file).stem for each in menu.PAGES if not each.has_controls} - {"runs", "check"}
    with Store(tmp_path) as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: types.SimpleNamespace(store=store, trouble=None))
        for page in others:
            offered, written = shown_on(page, {})
            assert tally.title not in " ".join([*offered, *written])
