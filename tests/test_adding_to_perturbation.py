"""What perturbation comes in kinds of: a dummy table and a dummy method, registered from here alone, are compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import final

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.__main__ import main
from dpcore.commands.perturb import parser, request_of
from dpcore.data.tabular import ORIGINALS, TABLES
from dpcore.data.tabular.columns import Number
from dpcore.data.tabular.delimited import Original
from dpcore.data.tabular.problem import Problem
from dpcore.data.tabular.table import Rows, Table
from dpcore.figures.perturbation import LOOKS, method_style
from dpcore.privacy.types import FloatArray
from dpcore.runs import pool
from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.conditions import Condition, asked
from dpcore.training.perturbation.methods import METHODS, Kind, Method
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import Draws, Task
from pages.parts.perturbation import places
from tests.commands.printed import printed
from tests.pages.perturbation_page import html, opened, recorded, texts

Output = pytest.CaptureFixture[str]
FEW = ["--epsilon", "1", "--epsilon", "4", "--seeds", "2"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that no worker serves."""
    with Store(tmp_path / "home") as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
        yield store


def compared(page: AppTest, store: Store) -> Request:
    """What the page's button asks for."""
    page.button(key="compare").click().run()
    assert not page.exception
    assert not page.error
    return store.runs(kind=PERTURBATION.name)[0].request


def marbles() -> Rows:
    labels = np.arange(60) % 2
    drawn = np.random.default_rng(0).normal(size=(60, 3)) + 2 * labels[:, None] - 1
    return Rows(np.clip(drawn, -1, 1), labels)


MARBLES = Table(
    "marbles", "Marbles", ("red", "blue"), 3, 1.8, "this test", marbles, lambda: "", ("width", "weight", "shine")
)
PEBBLES = Original(
    name="pebbles",
    title="Pebbles",
    classes=("flat", "round"),
    bound=1.5,
    origin="this test",
    files=("pebbles.csv",),
    fields=("weight", "shape"),
    columns=(Number("weight", 0, 40),),
    words=(("flat", 0), ("round", 1)),
)


def test_a_table_is_its_object_and_its_line(store: Store, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, MARBLES.name, MARBLES)
    assert main(["data", "status"]) == 0
    assert "Marbles (table): here\n" in capsys.readouterr().out
    found = printed(capsys, ["perturb", "--dataset", "marbles", "--method", "output", *FEW])
    assert (found["data"]["examples"], found["data"]["features"]) == (48, 4)
    assert [each["epsilon"] for each in found["results"]] == [1.0, 4.0]
    page = opened(table="marbles", methods=["output"])
    assert "Marbles" in page.selectbox(key="table").options
    assert "shine</th>" in html(page)
    assert compared(page, store) == Request("marbles", methods=("output",))
    run = recorded(store, status=Status.FINISHED, request=Request("marbles", methods=("output",)))
    assert "Marbles (red or blue, " in texts(opened(comparison=run), "markdown")
    (earlier,) = [each for each in opened().selectbox if each.label == "Comparison shown"]
    assert any(each.startswith("Marbles, ") for each in earlier.options)


def test_a_table_that_is_not_here_says_what_brings_it(
    store: Store, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES, "lost", replace(MARBLES, name="lost", absent=lambda: "Expected marbles in the bag."))
    page = opened(table="lost")
    assert page.button(key="compare").disabled
    assert "Expected marbles in the bag." in texts(page, "info")
    assert main(["data", "status"]) == 0
    assert "Marbles (table): Expected marbles in the bag." in capsys.readouterr().out


def test_a_table_that_comes_as_files_is_its_original_and_its_line(
    store: Store, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ORIGINALS, PEBBLES.name, PEBBLES)
    monkeypatch.setitem(TABLES, PEBBLES.name, PEBBLES.table())  # as that line makes it
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "root"))
    assert "Expected pebbles.csv in " in texts(opened(table="pebbles"), "info")
    (tmp_path / "given").mkdir()
    rows = [f"{weight},{'round' if weight % 3 else 'flat'}\n" for weight in range(40)]
    (tmp_path / "given" / "pebbles.csv").write_text("".join(rows))
    assert main(["data", "import", str(tmp_path / "given")]) == 0
    assert "Pebbles: checked, now under " in capsys.readouterr().out
    assert main(["data", "download", "--dataset", "pebbles"]) == 0
    assert "Pebbles: already here." in capsys.readouterr().out
    found = printed(capsys, ["perturb", "--dataset", "pebbles", "--method", "output", *FEW])
    assert found["data"]["examples"] == 32
    assert compared(opened(table="pebbles"), store).dataset == "pebbles"


@final
class Shaken(Method):
    """Parameters that know nothing of the rows."""

    name = "shaken"
    title = "Shaken perturbation"
    note = "Gaussian noise alone."
    unit = "of each parameter"
    source = "This test"
    kind = Kind.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return (asked("convex", task.model.convex, "it shakes", "The loss is not convex: nothing can be shaken."),)

    def noise(self, task: Task, epsilon: float) -> float:
        return 1 / epsilon

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        return self.noises(task, epsilons)[:, None] * np.stack([each.normals(task.parameters) for each in draws])


@pytest.fixture
def shaken(monkeypatch: pytest.MonkeyPatch) -> Method:
    """A method that is an object, its line in the registry, and its name in the place where it puts its noise."""
    made, place = Shaken(), places.BY_ID["result"]
    monkeypatch.setitem(METHODS, made.name, made)
    monkeypatch.setitem(places.BY_ID, place.id, place._replace(methods=(*place.methods, made.name)))
    return made


def test_the_command_takes_a_new_perturbation_method(shaken: Method, capsys: Output) -> None:
    assert request_of(parser().parse_args([])).methods[-1] == "shaken"
    assert "shaken" in parser().format_help()
    iris = ["perturb", "--dataset", "iris", "--method", "shaken", *FEW]
    results = printed(capsys, iris)["results"]
    assert [(each["epsilon"], each["noise"], each["unit"]) for each in results] == [
        (1.0, 1.0, shaken.unit), (4.0, 0.25, shaken.unit)
    ]  # fmt: skip
    assert main([*iris, "--model", "mlp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("shaken")] == ["none", "none"]
    assert sum("nothing can be shaken" in line for line in lines) == 1


def test_the_page_offers_a_new_perturbation_method_and_says_what_holds_for_it(shaken: Method, store: Store) -> None:
    page = opened(methods=["shaken"], epsilons=["1"])
    assert shaken.title in page.pills(key="methods").options
    assert "All conditions hold for this model. Gaussian noise alone. This test." in html(page)
    assert "convex: it shakes</small>" in html(page)
    assert compared(page, store).methods == ("shaken",)
    assert "nothing can be shaken" in html(opened(methods=["shaken"], learner="mlp"))


def test_a_comparison_draws_a_new_perturbation_method_and_picks_it_out_at_its_place(
    shaken: Method, store: Store
) -> None:
    run = recorded(store, status=Status.FINISHED, request=Request(methods=("gradient", "shaken"), seeds=2))
    page = opened(comparison=run, place="result")
    figure = json.loads(page.get("plotly_chart")[0].proto.spec)
    drawn = {trace["name"]: trace.get("opacity") for trace in figure["data"] if trace["name"]}
    assert drawn["Shaken"] == 1.0 > drawn["Gradient"]
    assert shaken.title in html(page).split('aria-label="Accuracies"')[1]


@pytest.mark.parametrize("number", range(2 * len(LOOKS) - len(METHODS)))
def test_colour_or_dash_tells_a_new_perturbation_method_from_all_others(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in range(number + 1):
        monkeypatch.setitem(METHODS, f"shaken_{other}", Shaken())
    looks = [(style.color, style.dash) for style in map(method_style, METHODS)]
    assert len(set(looks)) == len(looks)
