"""The command that measures on a GPU: all of its lines run on the CPU, and what fails or takes long stops nothing."""

import doctest
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dpcore.data.loading import Images, load
from dpcore.papers.better_features.recipes import LADDERS, LINEAR, run
from dpcore.training import inputs
from dpcore.training.config import RunConfig
from dpcore.training.events import Preparing
from dpcore.training.features.pieces import drained
from tests.benchmarks import gpu, gpu_data, gpu_phases, gpu_recipes
from tests.benchmarks.gpu import PHASES, bounded, measured
from tests.benchmarks.gpu_phases import PRIVATE, SMALL, WORK, Size


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def no_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_without_cuda_it_says_so_in_a_sentence_and_writes_nothing(no_cuda, capsys, tmp_path):
    for words in ([], ["--out", str(tmp_path / "gpu.json")], ["--phase", "steps"]):
        gpu.main(words)
        assert capsys.readouterr().out == f"{gpu.NONE}\n"
    assert not list(tmp_path.iterdir())


def test_tiny_sizes_are_never_written_where_the_page_reads(capsys):
    with pytest.raises(SystemExit) as stopped:
        gpu.main(["--small"])
    assert stopped.value.code == 2
    assert "--small needs --out" in capsys.readouterr().err


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.long
def test_a_phase_that_runs_past_its_limit_is_ended_with_all_it_started_and_keeps_what_it_found(tmp_path):
    mark = tmp_path / "pid"
    child = 'import subprocess, sys, time; print(\'{"a": {"ms": 1}}\', flush=True); '
    child += "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
    child += f"open({str(mark)!r}, 'w').write(str(one.pid)); time.sleep(60)"
    found = bounded(python(child), 10.0)
    assert found["figures"] == {"a": {"ms": 1}}
    assert found["failed"] == "it ran past 10 s"
    assert ended(int(mark.read_text()))


def ended(pid: int, seconds: float = 10.0) -> bool:
    """Whether a process that was killed ends in time: its files are closed a moment before it counts as ended."""
    end = time.monotonic() + seconds
    while running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not running(pid)


def running(pid: int) -> bool:
    """Whether a process still does anything: one that has ended may stand there until somebody asks for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_a_phase_that_fails_says_its_last_line_and_the_rest_goes_on(monkeypatch, capsys):
    codes = {
        "steps": "print('{\"a\": {\"ms\": 0.25}}'); raise RuntimeError('CUDA error: out of it')",
        "epochs": "print('words'); print('{\"b\": {\"seconds\": 2}}')",
        "tests": "raise SystemExit(3)",
    }
    monkeypatch.setattr(gpu, "PHASES", {name: PHASES[name] for name in codes})
    found = measured(lambda name, limit: python(codes[name]))
    assert found["steps"]["failed"] == "RuntimeError: CUDA error: out of it"
    assert found["steps"]["figures"] == {"a": {"ms": 0.25}}
    assert found["epochs"].keys() == {"seconds", "figures"}
    assert found["epochs"]["figures"] == {"b": {"seconds": 2}}
    assert found["tests"]["failed"] == "exit status 3"
    table = capsys.readouterr().out
    assert "failed: RuntimeError: CUDA error: out of it" in table
    assert "ms 0.25" in table


def test_phases_end_within_the_time_for_all_of_them(monkeypatch):
    monkeypatch.setattr(gpu, "PHASES", {name: PHASES[name] for name in ("steps", "epochs")})
    found = measured(lambda name, limit: python("import time; time.sleep(60)"), seconds=0.5)
    assert found["steps"]["failed"].startswith("it ran past ")
    assert found["epochs"] == {"failed": "no time was left"}


def test_a_phase_has_the_time_that_those_before_it_left_over(monkeypatch):
    limits = {}
    monkeypatch.setattr(gpu, "PHASES", {"one": gpu.Phase(print, 20.0), "two": gpu.Phase(print, 30.0)})
    monkeypatch.setattr(gpu, "bounded", lambda command, limit: limits.setdefault(command[0], limit) and {})
    measured(lambda name, limit: [name], seconds=50.0)
    assert limits == pytest.approx({"one": 20.0, "two": 50.0}, abs=1.0)


def test_all_limits_together_are_less_than_eight_minutes():
    assert sum(phase.limit for phase in PHASES.values()) <= gpu.SECONDS < 480


@pytest.mark.parametrize("name", [name for name in PHASES if name not in ("tests", "sharing")])
@pytest.mark.long
def test_each_phase_runs_on_the_cpu(name):
    figures = dict(PHASES[name].measure(SMALL))
    assert figures
    json.dumps(figures, allow_nan=False)
    for row in figures.values():
        assert all(value > 0 for value in row.values() if isinstance(value, float))


def test_scattering_is_among_what_is_measured_on_made_up_features():
    assert "scatter-8192" in Size().work
    size = SMALL._replace(work=("scatter-8192",))
    steps = dict(gpu_phases.steps(size))
    assert steps["scatter-8192 private"]["of plain"] > 0
    ((name, row),) = gpu_phases.epochs(size)
    assert (name, row["data"]) == ("scatter-8192", "made-up features of 10,000 examples")
    assert 0 < row["seconds"] < 10


def test_every_wanted_figure_is_one_that_a_phase_can_find():
    for wanted in gpu.WANTED.values():
        name, _, contender = wanted.row.partition(" ")
        assert wanted.phase in PHASES
        assert name in Size().work
        assert contender in ("", *Size().contenders)


@pytest.mark.long
def test_the_command_runs_its_phases_on_the_cpu_and_writes_what_it_prints(tmp_path, monkeypatch, capsys):
    patient = {name: PHASES[name]._replace(limit=120.0) for name in ("generator", "sharing", "tests")}
    monkeypatch.setattr(gpu, "PHASES", patient)
    out = tmp_path / "measured" / "gpu.json"
    gpu.main(["--small", "--out", str(out)])
    found = json.loads(out.read_text())
    assert [phase.get("failed") for phase in found["phases"].values()] == [None] * 3
    assert found["phases"]["tests"]["figures"]["marked cuda"]["status"] == 0
    assert found["phases"]["sharing"]["figures"]["1 runs"]["steps a second"] > 0
    assert {"device", "date", "torch", "dpcore", "seconds"} < found.keys()
    assert all(not row["reached"] and row["found"] is None for row in found["wanted"].values())
    assert "26,010 numbers, secure" in capsys.readouterr().out


@pytest.mark.long
def test_a_test_that_fails_on_the_device_is_named(tmp_path):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_it.py").write_text(
        "import pytest\n@pytest.mark.cuda\ndef test_one(): assert False\n@pytest.mark.cuda\ndef test_two(): pass\n"
        "def test_of_the_cpu(): assert False\n"
    )
    (folder / "test_other.py").write_text("def test_three(): assert False\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = cuda\n")
    size = SMALL._replace(checks=("-m", "cuda", "-p", "no:xdist"))
    ((name, row),) = gpu_phases.checks(size, folder)
    assert name == "marked cuda"
    assert (row["passed"], row["failed"], row["status"], row["failures"]) == (1, 1, 1, ["test_one"])


def test_every_work_and_contender_is_a_run_that_can_be():
    for name in WORK:
        for options in PRIVATE.values():
            config = gpu_phases.config_of(name, Size(), **options)
            assert isinstance(config, RunConfig)
            assert (config.examples, config.source) == (gpu_data.FULL, "full")


def test_a_sample_stands_in_for_full_data_and_says_so(monkeypatch):
    monkeypatch.setattr(gpu_data, "at_hand", lambda dataset: False)
    gpu_data.full.cache_clear()
    with gpu_data.data_for("full") as named:
        data = inputs.load("mnist", "full")
        assert named(RunConfig(dataset="mnist")) == "sample, repeated to 60,000"
        assert len(inputs.load("mnist", "sample").train) == 10_000
    with gpu_data.data_for("sample") as named:
        assert named(RunConfig(dataset="mnist")) == "sample"
    gpu_data.full.cache_clear()
    assert len(data.train) == gpu_data.FULL
    assert np.array_equal(data.train.images[10_000:10_003], data.train.images[:3])
    assert inputs.load is gpu_data.load


def test_features_of_a_sample_that_stands_in_are_computed_once_for_each_example(monkeypatch, tmp_path):
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path))
    sample = load("mnist", "sample").train
    few = Images(sample.images[:40], sample.labels[:40])
    again = drained(gpu_data.repeating(gpu_data.repeated(few, 100), "scatter", 1), lambda done, total: None)
    once = drained(gpu_data.repeating(few, "scatter", 1), lambda done, total: None)
    assert again.values.shape == (100, 1, 81, 7, 7)
    assert torch.equal(again.values[:40], once.values)
    assert torch.equal(again.values[80:], once.values[:20])
    assert len(list((tmp_path / "features").iterdir())) == 1


def test_the_ladders_have_each_recipe_at_epsilon_3_those_with_many_views_last():
    found = {name: RunConfig(**recipe) for name, recipe in gpu_recipes.rungs().items()}
    assert len(found) == sum(len(ladder.rungs) for ladder in LADDERS) == 8
    assert all(f"{ladder.place}, {rung.name}" in found for ladder in LADDERS for rung in ladder.rungs)
    assert found["MNIST, Scattering, linear"] == replace(run("mnist", LINEAR, 3.0), seed=0)
    views = [config.views if config.features != "pixels" else 0 for config in found.values()]
    assert views == sorted(views)
    assert views[-1] == 4


@pytest.mark.long
def test_a_recipe_that_takes_more_than_its_share_is_cut_and_named_as_left_out():
    quick = {"model": "mlp", "epochs": 0.02, "seed": 0, "batch": 64}
    size = SMALL._replace(time=8.0)
    figures = dict(gpu_recipes.recipes(size, {"quick": quick, "long": quick | {"epochs": 500.0}}))
    assert figures["quick"]["done"]
    assert figures["quick"]["steps"] == 4
    assert "left out" not in figures["quick"]
    assert not figures["long"]["done"]
    assert figures["long"]["left out"].startswith("it was not done in its share of the time, ")


def test_a_recipe_for_which_no_time_is_left_is_named_and_one_that_fails_stops_no_other(monkeypatch):
    brief = {"model": "mlp", "epochs": 0.02, "batch": 64}
    size = SMALL._replace(time=0.0)
    row = dict(gpu_recipes.recipes(size, {"late": brief}))["late"]
    assert row == {"done": False, "left out": "no time was left"}

    def failing(config):
        yield Preparing(3, 10)
        raise RuntimeError("CUDA error:\n out of it")

    monkeypatch.setattr(gpu_recipes, "train", failing)
    rows = dict(gpu_recipes.recipes(SMALL._replace(time=60.0), {"one": brief, "two": brief}))
    for row in rows.values():
        assert row["failed"] == "RuntimeError: CUDA error: out of it"
        assert (row["done"], row["features"]) == (False, "3 of 10 examples")


@pytest.mark.parametrize("module", [gpu, gpu_phases, gpu_data, gpu_recipes])
def test_what_its_docstrings_show_is_so(module):
    assert doctest.testmod(module).failed == 0
