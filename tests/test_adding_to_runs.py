"""What training comes in kinds of: a dummy of each, registered from here alone, is trained, charged and offered."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.__main__ import main
from dpcore.data import catalogue
from dpcore.data.catalogue import DATASETS, Dataset, IdxFile
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.schedule import SCHEDULES, Rate, Schedule, scheduled
from dpcore.runs.pool import ensure_pool
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.gradients.clipping import CLIPPINGS, Clipping
from dpcore.training.models import MODELS, Model
from dpcore.training.optimizers import OPTIMIZERS, Optimizer
from dpcore.training.optimizers.base import UpdateRules, nothing
from dpcore.training.plan import plan

ROOT = Path(__file__).parents[1]
QUICK = ["train", "--source", "sample", "--batch", "100", "--epochs", "0.02", "--device", "cpu"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of its own, whose pool trains nothing."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("dpcore.runs.pool.Pool._keep_warm", lambda pool: None)
    yield tmp_path / "home"
    ensure_pool().close()


def opened(page: str, **query: str) -> AppTest:
    test = AppTest.from_file(ROOT / "pages" / f"{page}.py", default_timeout=60)
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception
    return test


def trained(*options: str) -> RunConfig:
    """The configuration of a run that the command has trained to its end."""
    assert main([*QUICK, *options]) == 0
    with Store() as store:
        run = store.runs()[0]
    assert run.status == "finished"
    return run.config


def started(page: AppTest) -> RunConfig:
    """The configuration that the page's button queues."""
    assert not page.error
    next(each for each in page.button if each.label == "Start private run").click().run()
    assert not page.exception
    with Store() as store:
        return store.runs()[0].config


def captions(page: AppTest) -> list[str]:
    return [each.value for each in page.caption]


@pytest.fixture
def optimizer(monkeypatch: pytest.MonkeyPatch) -> Optimizer:
    """Gradient descent without any memory."""

    def step(parameters, gradient, state, lr, scale) -> None:
        parameters.add_(gradient, alpha=-lr)

    made = Optimizer(
        name="forgetful",
        title="Forgetful",
        note="Remembers nothing. Charges each step at (q, sigma).",
        source="this test",
        rules=lambda hyperparameters: UpdateRules((), nothing, step),
        lr=0.25,
        baseline_lr=0.125,
    )
    monkeypatch.setitem(OPTIMIZERS, made.name, made)
    return made


def test_an_optimizer_is_its_object_and_its_line(optimizer: Optimizer, capsys: pytest.CaptureFixture[str]) -> None:
    config = trained("--model", "mlp", "--optimizer", optimizer.name)
    assert (config.optimizer, config.lr, config.clip_norm) == (optimizer.name, 0.25, 0.1)
    assert defaults("mnist", "cnn", optimizer.name, private=False).lr == 0.125
    page = opened("train", optimizer=optimizer.name)
    assert optimizer.note in captions(page)
    assert "Forgetful" in next(box for box in page.selectbox if box.label == "Optimizer").options
    assert started(page) == defaults("mnist", "linear", optimizer.name, features="scatter_upright")
    assert any("Forgetful" in text for text in [each.proto.text for each in page.get("progress")])
    opened("accountants", optimizer=optimizer.name)
    assert main([*QUICK, "--optimizer", optimizer.name, "--momentum", "0.5"]) == 2
    assert "--momentum without an optimizer that has momentum (sgd or adppl)" in capsys.readouterr().err


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


def test_a_clipping_is_its_class_and_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLIPPINGS, "halved", Halved)
    config = trained("--model", "mlp", "--clipping", "halved", "--sigma", "2")
    mechanism = plan(config).mechanism
    assert mechanism
    assert mechanism.releases[0].sigma == pytest.approx(math.sqrt(2))
    opened("accountants", clipping="halved")
    page = opened("train", clipping="halved")
    assert Halved.note in captions(page)
    assert started(page).clipping == "halved"
    assert any("halved" in text for text in [each.proto.text for each in page.get("progress")])


def test_a_noise_schedule_is_its_object_and_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Schedule("zigzag", "Zigzag", "sigma·(1 + k) in every other epoch", "this test",
                    lambda rate, level: 1 + rate * (level % 2), Rate(0.5, 0.1, 2.0))  # fmt: skip
    monkeypatch.setitem(SCHEDULES, made.name, made)
    noise = ["--schedule", "zigzag", "--rate", "0.5", "--level-steps", "1"]
    assert main(["epsilon", "--q", ".01", "--sigma", "4", "--steps", "100", "--delta", "1e-5", *noise]) == 0
    assert "pld" in capsys.readouterr().out
    tradeoff = ["tradeoff", "--q", ".01", "--sigma", "4", "--steps", "4", *noise, "--json"]
    assert main(tradeoff) == 0
    assert json.loads(capsys.readouterr().out)["schedule"] == "zigzag"
    question = [
        "calibrate",
        "--solve",
        "sigma",
        "--target-epsilon",
        "3",
        "--q",
        ".01",
        "--steps",
        "4",
        "--delta",
        "1e-5",
    ]
    assert main([*question, "--accountant", "rdp", *noise, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    mechanism = scheduled("zigzag", 0.01, found["answer"], 4, 0.5, 1)
    assert ACCOUNTANTS["rdp"].curve(mechanism, 4, 1e-5).epsilon[0] == found["epsilon"] <= 3
    assert plan(trained("--model", "mlp", *noise, "--sigma", "2")).sigmas.tolist() == [2.0, 3.0]
    for page in ("train", "accountants", "tradeoff", "calibrate"):
        opened(page, schedule="zigzag")
    page = opened("train", schedule="zigzag")
    assert any("every other epoch" in text for text in captions(page))
    assert (started(page).schedule, started(page).rate) == ("zigzag", 0.5)


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Three kinds of grey images of 12x12, of which there is a sample."""
    files = [("images", (900, 12, 12)), ("labels", (900,)), ("test-images", (90, 12, 12)), ("test-labels", (90,))]
    made = Dataset(
        name="dots",
        title="Dots",
        folder="Dots",
        classes=("few", "some", "many"),
        origin="this test",
        licence="none",
        idx=tuple(IdxFile(name, shape, "") for name, shape in files),
        sample_examples=300,
    )
    parts = {}
    for part, count in (("train", 300), ("test", 30)):
        labels = np.arange(count, dtype=np.uint8) % 3
        parts[f"{part}_labels"] = labels
        parts[f"{part}_images"] = np.full((count, 12, 12), 1, np.uint8) * (80 * labels)[:, None, None]
    np.savez(tmp_path / "dots.npz", **parts)
    (tmp_path / "mnist.npz").symlink_to(catalogue.sample_path(DATASETS["mnist"]))
    monkeypatch.setattr(catalogue, "SAMPLES", tmp_path)
    monkeypatch.setitem(DATASETS, made.name, made)
    return made


def test_a_data_set_is_its_entry_and_its_sample(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    config = trained("--dataset", "dots", "--epochs", "2")
    assert (config.examples, config.shape, config.model) == (300, (1, 12, 12), "mlp")
    assert main(["data", "status"]) == 0
    assert "Dots" in capsys.readouterr().out
    lab = opened("accountants", dataset="dots")
    assert "Dots" in next(box for box in lab.selectbox if box.label == "Dataset").options
    assert lab.session_state["dataset"] == "dots"
    page = opened("train", dataset="dots")
    assert "Dots" in next(box for box in page.selectbox if box.label == "Dataset").options
    queued = started(page)
    assert (queued.dataset, queued.source, queued.examples) == ("dots", "sample", 300)
    with Store() as store:
        shown = opened("train", run=next(run.id for run in store.runs() if run.status == "finished"))
    assert not shown.error


def test_a_model_is_its_object_and_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def layers(activation, shape, classes):
        from torch import nn

        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), 20), activation(), nn.Linear(20, classes))

    monkeypatch.setitem(MODELS, "small", Model("small", "784-20-10.", "this test", 2, layers))
    assert trained("--model", "small").model == "small"
    opened("accountants", model="small")
    assert started(opened("train", model="small")) == defaults("mnist", "small", "sgd", features="scatter_upright")
