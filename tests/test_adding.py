"""Adding takes what docs/adding.md says: dummies, registered from here alone, run like the real
ones.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dpcore.__main__ import main
from dpcore.figures import epsilon_figure
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.schedule import SCHEDULES, Rate, Schedule
from dpcore.runs.pool import ensure_pool
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.gradients.clipping import CLIPPINGS, Clipping
from dpcore.training.models import MODELS, Model
from dpcore.training.optimizers import OPTIMIZERS, Optimizer
from dpcore.training.optimizers.base import UpdateRules
from dpcore.training.plan import plan
from pages.parts.controls import mechanism
from pages.parts.shell import menu

ROOT = Path(__file__).parents[1]
Output = pytest.CaptureFixture[str]
SETTING = ["--q", ".01", "--steps", "10000"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store of its own, whose pool trains nothing."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("dpcore.runs.pool.Pool._keep_warm", lambda pool: None)
    yield
    ensure_pool().close()


def opened(page: str, **query: Any) -> AppTest:
    test = AppTest.from_file(ROOT / "pages" / f"{page}.py", default_timeout=300)
    test.query_params.update(query)
    test.run()
    assert not test.exception, page
    assert not test.error, page
    return test


def offered(page: AppTest) -> str:
    """What a page has in its menus."""
    return " ".join(option for each in page.selectbox for option in each.options)


def written(page: AppTest) -> str:
    """What a page says or draws."""
    html = [each.proto.body for each in page.get("html")]
    figures = [each.proto.spec for each in page.get("plotly_chart")]
    return " ".join([*html, *figures, *(each.value for each in (*page.markdown, *page.caption))])


def printed(capsys: Output, *words: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


QUESTION = "What is half of my noise?"
HALF_PAGE = f"""
from pages.parts.controls.setting_form import setting_in
from pages.parts.layout import page_columns

left, right = page_columns({QUESTION!r})
setting = setting_in(left, right)
right.header(f"{{setting.sigma / 2:g}}")
"""


def test_a_page_is_its_file_and_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "half.py"
    file.write_text(HALF_PAGE)
    half = menu.Page(str(file), "Half", "percent", opens_settings=True)
    monkeypatch.setattr(menu, "PAGES", (*menu.PAGES, half))
    monkeypatch.setitem(menu.GROUPS, "Verify", (*menu.GROUPS["Verify"], half))
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300)
    app.query_params.update(sigma="3", by="rdp")
    app.run().switch_page(half.file).run()
    assert not app.exception
    assert (half.address, app.title[0].value, app.header[0].value) == ("half", QUESTION, "1.5")

    asked: list[str] = []  # in a test Streamlit switches to files of the folder pages only
    monkeypatch.setattr("streamlit.switch_page", lambda page, **_: asked.append(page))
    app.switch_page("pages/calibrate.py").run()
    (button,) = [each for each in app.button if each.label == "in Half"]
    assert not button.click().run().exception
    assert asked == [half.file]


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
        return Curve(
            steps, delta, np.sqrt(mechanism.compositions(steps) @ squares), None, self.kind
        )


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    """An accountant that is a class, and its line in the registry."""
    made = Tally()
    monkeypatch.setitem(ACCOUNTANTS, made.name, made)
    return made


def test_commands_figures_and_runs_take_a_new_accountant(tally: Tally, capsys: Output) -> None:
    found = printed(capsys, "epsilon", *SETTING, "--sigma", "4", "--delta", "1e-5", "--points", "2")
    assert found["accountants"]["tally"]["epsilon"][-1] == pytest.approx(0.5)
    assert list(found["accountants"]) == list(ACCOUNTANTS)
    for target in (["--target-epsilon", "1", "--delta", "1e-5"], ["--target-advantage", ".3"]):
        found = printed(
            capsys, "calibrate", "--solve", "sigma", *SETTING, *target, "--accountant", "tally"
        )
        assert (found["accountant"], found["kind"]) == ("tally", "claimed")
    mechanism = Mechanism.constant(0.01, 4.0, 10_000)
    assert dpcore.epsilon(mechanism, 1e-5, "tally").value == pytest.approx(0.5)

    traces: Any = epsilon_figure(mechanism, 1e-5, accountants=ACCOUNTANTS).data
    looks = [(each.line.color, each.line.dash) for each in traces if each.mode == "lines"]
    assert len(set(looks)) == len(ACCOUNTANTS)  # the band has two lines in one look
    (drawn,) = [each for each in traces if each.name == tally.title]
    assert drawn.y[-1] == pytest.approx(0.5)

    stopped = RunConfig(batch=100, sigma=4.0, stop_epsilon=0.0201, stop_accountant=tally.name)
    assert plan(stopped).steps == 16  # 2 sqrt(16) / 100 / 4 = .02, and 17 steps cost more


def test_every_page_with_settings_shows_a_new_accountant(tally: Tally) -> None:
    driven = {
        "lab": {"accountants": ["tally", "rdp"]},
        "tradeoff": {"pair": "tally", "pairs": "tally"},
        "calibrate": {"by": "tally"},
        "train": {"by": "tally"},
        "check": {"claim_accountant": "tally"},
    }
    for page, query in driven.items():
        shown = opened(page, **query)
        assert tally.title in f"{offered(shown)} {written(shown)}", page
        if page in ("lab", "calibrate"):
            assert tally.title in written(shown), page
        if page == "lab":
            assert tally.note in written(shown)
    with_controls = {Path(each.file).stem for each in menu.PAGES if each.has_controls}
    assert with_controls <= driven.keys()


def forgetful_step(parameters, gradient, state, lr) -> None:
    parameters.add_(gradient, alpha=-lr)


FORGETFUL = Optimizer(
    name="forgetful",
    title="Forgetful",
    note="Remembers nothing. Charges each step at (q, sigma).",
    source="this test",
    rules=lambda momentum, reading: UpdateRules((), lambda gradient, state: None, forgetful_step),
    lr=0.25,
    baseline_lr=0.125,
)


class Halved(Clipping):
    """Each gradient to half of C at most, of a joint norm that counts two layers at most."""

    title = "halved"
    note = "Clips to C / 2. Charges each step at (q, sigma / sqrt 2)."
    source = "this test"

    def factors(self, squares):
        return (self.clip_norm / 2 / squares.sum(0).sqrt()).clamp(max=1.0).expand_as(squares)

    @staticmethod
    def sensitivity(groups: int) -> float:
        return math.sqrt(2)


def small_layers(activation, shape, classes):
    from torch import nn

    return nn.Sequential(
        nn.Flatten(), nn.Linear(math.prod(shape), 20), activation(), nn.Linear(20, classes)
    )


SMALL = Model("small", "784-20-10.", "this test", 2, small_layers)
ZIGZAG = Schedule(
    "zigzag",
    "Zigzag",
    "sigma·(1 + k) in every other epoch",
    "this test",
    lambda rate, level: 1 + rate * (level % 2),
    Rate(0.5, 0.1, 2.0),
)
CHOSEN = {"optimizer": "forgetful", "clipping": "halved", "model": "small", "schedule": "zigzag"}


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """An optimizer, a clipping, a model and a schedule, each with its line."""
    monkeypatch.setitem(OPTIMIZERS, FORGETFUL.name, FORGETFUL)
    monkeypatch.setitem(CLIPPINGS, "halved", Halved)
    monkeypatch.setitem(MODELS, "small", SMALL)
    monkeypatch.setitem(SCHEDULES, ZIGZAG.name, ZIGZAG)
    for name, registry in (("OPTIMIZER", OPTIMIZERS), ("SCHEDULE", SCHEDULES)):
        monkeypatch.setattr(
            mechanism, name, replace(getattr(mechanism, name), names=tuple(registry))
        )


@pytest.mark.usefixtures("kinds")
def test_new_kinds_are_trained_and_charged(capsys: Output) -> None:
    words = [word for name, value in CHOSEN.items() for word in (f"--{name}", value)]
    noise = ["--sigma", "2", "--rate", "0.5", "--level-steps", "1"]
    quick = ["train", "--source", "sample", "--batch", "100", "--epochs", "0.02", "--device", "cpu"]
    assert main([*quick, *words, *noise]) == 0
    with Store() as store:
        run = store.runs()[0]
    assert run.status == "finished"
    assert {name: getattr(run.config, name) for name in CHOSEN} == CHOSEN
    assert (run.config.lr, run.config.clip_norm) == (0.25, 0.1)
    assert defaults("mnist", "cnn", "forgetful", private=False).lr == 0.125
    charged = plan(run.config)
    assert charged.sigmas.tolist() == [2.0, 3.0]
    assert charged.mechanism
    assert [each.sigma for each in charged.mechanism.releases] == pytest.approx(
        [math.sqrt(2), 3 / math.sqrt(2)]
    )
    assert main([*quick, "--optimizer", "forgetful", "--momentum", "0.5"]) == 2
    assert "--momentum without an optimizer that has momentum" in capsys.readouterr().err
    asked = [
        "--sigma",
        "4",
        "--delta",
        "1e-5",
        "--schedule",
        "zigzag",
        "--rate",
        "0.5",
        "--level-steps",
        "1",
    ]
    assert printed(capsys, "epsilon", "--q", ".01", "--steps", "4", *asked)["schedule"] == "zigzag"


@pytest.mark.usefixtures("kinds")
def test_new_kinds_are_offered_explained_and_queued_by_the_pages() -> None:
    page = opened("train", **CHOSEN)
    for title in (FORGETFUL.title, Halved.title):
        assert title in offered(page), title
    for note in (FORGETFUL.note, Halved.note, "every other epoch"):
        assert note in written(page), note
    next(each for each in page.button if each.label == "Train with these settings").click().run()
    assert not page.exception
    with Store() as store:
        queued = store.runs()[0].config
    assert {name: getattr(queued, name) for name in CHOSEN} == CHOSEN
    for other in ("lab", "tradeoff", "calibrate"):
        opened(other, **CHOSEN)
