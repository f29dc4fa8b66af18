"""Adding takes what docs/adding.md says: dummies, registered from here alone, run like the real
ones.
"""

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dpcore.__main__ import main
from dpcore.claims.claim import BATCHES
from dpcore.data import catalogue
from dpcore.figures import epsilon_figure
from dpcore.papers.catalogue import PAPERS
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from dpcore.privacy.sampling.base import ZERO_OUT, Parameter, SampledEvent, Words, epochs_around
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.schedule import SCHEDULES, Rate, Schedule
from dpcore.runs.export import FORMS, TextForm
from dpcore.runs.history import RunRecord
from dpcore.runs.pool import ensure_pool
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.gradients.clipping import CLIPPINGS, Clipping
from dpcore.training.models import MODELS, Model
from dpcore.training.optimizers import OPTIMIZERS, Optimizer
from dpcore.training.optimizers.base import UpdateRules
from dpcore.training.plan import plan
from dpcore.training.settings import DRAWN
from dpcore.training.training_run import TrainingRun
from pages.parts.controls import mechanism
from pages.parts.shell import menu

ROOT = Path(__file__).parents[1]
Output = pytest.CaptureFixture[str]
SETTING = ["--q", ".01", "--steps", "10000"]
QUICK = ["train", "--source", "sample", "--batch", "100", "--device", "cpu"]


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


def steps_alone(records: Sequence[RunRecord]) -> str:
    return "".join(f"{each.plan.steps} steps\n" for each in records)


STEPS_ALONE = TextForm("steps", "Steps alone", ".txt", "text/plain", steps_alone, several=True)


def test_a_form_of_export_is_its_file_and_its_line(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, STEPS_ALONE.name, STEPS_ALONE)
    assert main([*QUICK, "--epochs", "0.03"]) == 0
    with Store() as store:
        run = store.runs()[0].id
    capsys.readouterr()
    assert main(["runs", "export", run, "--format", "steps"]) == 0
    assert capsys.readouterr().out == "3 steps\n"


def test_a_data_set_is_its_fields_and_its_sample(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = shutil.copytree(catalogue.SAMPLES, tmp_path / "samples")
    shutil.copy(samples / "fashion_mnist.npz", samples / "clothes.npz")
    monkeypatch.setattr(catalogue, "SAMPLES", samples)
    clothes = replace(catalogue.FASHION_MNIST, name="clothes", title="Clothes", folder="clothes")
    monkeypatch.setitem(catalogue.DATASETS.shipped, clothes.name, clothes)
    assert main([*QUICK, "--epochs", "0.02", "--dataset", "clothes"]) == 0
    with Store() as store:
        assert store.runs()[0].config.dataset == "clothes"
    assert printed(capsys, "data", "status")["sources"]["clothes"] == ["sample"]
    assert "Clothes" in offered(opened("lab"))


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
    assert dpcore.epsilon(mechanism, 1e-5, accountant="tally").value == pytest.approx(0.5)

    traces: Any = epsilon_figure(mechanism, 1e-5, accountants=ACCOUNTANTS).data
    curves = [each for each in traces if each.mode == "lines" and each.fill != "toself"]
    looks = [(each.line.color, each.line.dash) for each in curves]  # but no hatching
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


def by_turns(n: int, q: float, words: Words) -> IntArray:
    return np.arange(n) % steps_of_epoch(q)


@final
class Turns(Sampler):
    """Each record is in the batch of its turn, once an epoch."""

    name = "turns"
    title = "By turns"
    phrase = "batches by turns"
    spellings = r"\btaken by turns\b"
    note = "The made-up turns take one record after the other."
    source = "this test"
    event = SampledEvent("TurnSampledDpEvent", ("turn_probability",))
    draw = staticmethod(by_turns)
    adjacency = ZERO_OUT
    by_epoch = True

    def log_chance_kept(self, share: float, epochs: int) -> float:
        """Each epoch leaves out other records."""
        return epochs * math.log1p(-share)

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        _, begun = epochs_around(q, steps)
        return order_bounds(sigma, begun, delta)


@final
class Crowd(Sampler):
    """Batches in a known order, for a crowd of people."""

    name = "crowd"
    title = "Crowds"
    phrase = "batches of crowds"
    form = "crowd:H, with H heads in a crowd"
    parameters = (
        Parameter(
            name="heads",
            label="Heads H",
            note="Of one crowd.",
            start=3,
            most=9,
            far=9,
            fewer="lonely",
            more="merry",
        ),
    )
    note = "The made-up crowds come and go together."
    source = "this test"

    def __init__(self, heads: int = 3) -> None:
        self.heads = heads
        self.adjacency = f"{ZERO_OUT} of {heads} heads"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        return order_bounds(sigma / self.heads, steps, delta)


@pytest.fixture
def samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two samplers that are classes, and the lists that follow from their lines."""
    for each in (Turns(), Crowd()):
        monkeypatch.setitem(SAMPLERS, each.name, each)
    monkeypatch.setitem(DRAWN, Turns.name, SAMPLERS[Turns.name])
    monkeypatch.setitem(BATCHES, Turns.name, Turns.phrase)
    options = replace(mechanism.SAMPLER, names=tuple(SAMPLERS))
    monkeypatch.setattr(mechanism, "SAMPLER", options)


@pytest.mark.usefixtures("samplers")
def test_commands_and_runs_take_a_new_sampler(capsys: Output) -> None:
    asked = ["--q", "0.1", "--sigma", "2", "--steps", "40", "--delta", "1e-5"]
    found = printed(capsys, "epsilon", *asked, "--points", "1", "--sampler", "turns")["sampler"]
    four_uses = dpcore.epsilon(Mechanism.constant(1.0, 2.0, 4), 1e-5).value
    assert found["epsilon"] == pytest.approx([four_uses])
    found = printed(capsys, "epsilon", *asked, "--points", "1", "--sampler", "crowd:2")["sampler"]
    assert found["adjacency"] == "zero-out of 2 heads"
    assert main(["epsilon", *asked, "--sampler", "crowd"]) == 2
    assert "to be crowd:H, with H heads in a crowd" in capsys.readouterr().err
    (found,) = printed(capsys, "check", *asked, "--epsilon", "5", "--sampler", "turns")["runs"]
    assert found["certificate"]["upper"] == pytest.approx(four_uses)

    run = TrainingRun(RunConfig(model="mlp", batch=2500, epochs=1, sampler="turns"), lambda: 0.0)
    assert run.drawn(2).tolist() == list(range(1, 10_000, 4))
    assert "By turns: the accountants for Poisson batches do not hold." in run.plan.unaccounted


@pytest.mark.usefixtures("samplers")
def test_pages_offer_and_explain_a_new_sampler() -> None:
    for page in ("lab", "tradeoff", "calibrate"):
        shown = opened(page, sampler="turns", by="rdp")
        assert Turns.title in offered(shown), page
        assert f"{Turns.note} " in written(shown), page
        shown = opened(page, sampler="crowd", heads="4", by="rdp")
        (field,) = [each for each in shown.text_input if each.key == "heads"]
        assert (field.label, field.value) == ("Heads H, exact", "4"), page
        assert "zero-out of 4 heads" in written(shown), page
    assert Turns.phrase in offered(opened("check"))


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
    quick = [*QUICK, "--epochs", "0.02"]
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
    page = opened("lab", **CHOSEN)
    for title in (FORGETFUL.title, Halved.title):
        assert title in offered(page), title
    for note in (FORGETFUL.note, Halved.note, "every other epoch"):
        assert note in written(page), note
    page.button(key="train").click().run()
    assert not page.exception
    with Store() as store:
        queued = next(run.config for run in store.runs() if run.config.private)
    assert {name: getattr(queued, name) for name in CHOSEN} == CHOSEN
    for other in ("tradeoff", "calibrate"):
        opened(other, **CHOSEN)


PAPER_TOML = """
[paper]
id = "999"
short = "Made up"
title = "A made-up paper"
authors = "Nobody"
published = "2026"
about = "It prints an epsilon and two accuracies."

[epsilon]
place = "Section 1"
quantity = "epsilon by Rényi DP after {steps:,} steps"
printed = "0.10"
because = "It is a guess."

[table_1]
place = "Table 1"
quantity = "test accuracy, %, at sigma {sigma:g}"
because = "Ours draws Poisson batches."
rows = [
    { printed = "95", run = { sigma = 1.5 } },
    { printed = "93", run = { sigma = 3.0 } },
]

[figure_1]
place = "Figure 1"
title = "learning rate"
setting = "lr"
values = [0.1, 0.2]

[findings.private]
claim = "Training is private."
holds = "Its epsilon is at most {epsilon}."

[remarks]
"Section 2" = ["It names no delta."]
"""
PAPER_MODULE = """\"\"\"Paper 999: a made-up one.\"\"\"

from dpcore.papers.entry import PrintedSetting
from dpcore.papers.paper import Paper
from dpcore.papers.words import checked_claims, computed, grid, remarks, rounded_up, table, words_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.training.config import RunConfig

WORDS = words_of("made_up")
SETTING = PrintedSetting(n=60_000, batch=600, sigma=1.5, epochs=10)
RUN = RunConfig(source="full", batch=600, epochs=10.0)


def epsilon() -> float:
    return ACCOUNTANTS["rdp"].spent(SETTING.mechanism, SETTING.delta).value


STEPS = {"steps": SETTING.mechanism.steps}
PAPER = Paper(
    **WORDS["paper"],
    entries=(
        computed(WORDS["epsilon"], epsilon, SETTING, SETTING.claim, STEPS),
        *table(WORDS["table_1"], RUN),
    ),
    grids=(grid(WORDS["figure_1"], RUN),),
    findings=checked_claims(WORDS, {"private": lambda: {"epsilon": rounded_up(epsilon())}}),
    remarks=remarks(WORDS),
)
"""


def test_a_paper_is_its_words_and_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER_TOML, encoding="utf-8")
    module: dict[str, Any] = {}
    exec(PAPER_MODULE.replace('"made_up"', repr(str(folder))), module)
    paper = module["PAPER"]
    monkeypatch.setitem(PAPERS, paper.id, paper)
    found = printed(capsys, "papers", "--paper", "999")
    assert [(each["quantity"], each["verdict"]) for each in found] == [
        ("epsilon by Rényi DP after 1,000 steps", "refuted"),
        ("test accuracy, %, at sigma 1.5", "untrained"),
        ("test accuracy, %, at sigma 3", "untrained"),
    ]
    labels = [run.label for run in paper.printed_runs + paper.figure_runs]
    assert labels == [
        "Table 1: test accuracy, %, at sigma 1.5",
        "Table 1: test accuracy, %, at sigma 3",
        "Figure 1: learning rate, 0.1",
        "Figure 1: learning rate, 0.2",
    ]
    shown = written(opened("papers", paper="999"))
    for text in ("Its epsilon is at most", "at sigma 3", "refuted", "It names no delta."):
        assert text in shown, text
