"""The command that measures on a GPU: all of its lines run on the CPU, and what fails or takes long stops nothing."""

import doctest
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from dpcore.training import inputs
from dpcore.training.config import RunConfig
from tests.benchmarks import gpu, gpu_data, gpu_phases
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


@pytest.mark.slow
def test_a_phase_that_runs_past_its_limit_is_ended_with_all_it_started_and_keeps_what_it_found(tmp_path):
    mark = tmp_path / "pid"
    child = 'import subprocess, sys, time; print(\'{"a": {"ms": 1}}\', flush=True); '
    child += "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
    child += f"open({str(mark)!r}, 'w').write(str(one.pid)); time.sleep(60)"
    found = bounded(python(child), 10.0)
    assert found["figures"] == {"a": {"ms": 1}}
    assert found["failed"] == "it ran past 10 s"
    assert not running(int(mark.read_text()))


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
    found = measured(lambda name: python(codes[name]))
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
    found = measured(lambda name: python("import time; time.sleep(60)"), seconds=0.5)
    assert found["steps"]["failed"].startswith("it ran past ")
    assert found["epochs"] == {"failed": "no time was left"}


def test_all_limits_together_are_less_than_eight_minutes():
    assert sum(phase.limit for phase in PHASES.values()) <= gpu.SECONDS < 480


@pytest.mark.parametrize("name", [name for name in PHASES if name not in ("tests", "sharing")])
@pytest.mark.slow
def test_each_phase_runs_on_the_cpu(name):
    figures = dict(PHASES[name].measure(SMALL))
    assert figures
    json.dumps(figures, allow_nan=False)
    for row in figures.values():
        assert all(value > 0 for value in row.values() if isinstance(value, float))


@pytest.mark.slow
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
    assert "26,010 numbers, secure" in capsys.readouterr().out


@pytest.mark.slow
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
        assert named("mnist") == "sample, repeated to 60,000"
        assert len(inputs.load("mnist", "sample").train) == 10_000
    with gpu_data.data_for("sample") as named:
        assert named("mnist") == "sample"
    gpu_data.full.cache_clear()
    assert len(data.train) == gpu_data.FULL
    assert np.array_equal(data.train.images[10_000:10_003], data.train.images[:3])
    assert inputs.load is gpu_data.load


@pytest.mark.slow
def test_a_recipe_that_takes_more_than_its_share_is_cut_and_is_not_done():
    quick = {"model": "mlp", "epochs": 0.02, "seed": 0, "batch": 64}
    size = SMALL._replace(recipes=("quick", "long"), time=8.0)
    figures = dict(gpu_phases.recipes(size, {"quick": quick, "long": quick | {"epochs": 500.0}}))
    assert figures["quick"]["done"]
    assert figures["quick"]["steps"] == 4
    assert not figures["long"]["done"]


@pytest.mark.parametrize("module", [gpu, gpu_phases, gpu_data])
def test_what_its_docstrings_show_is_so(module):
    assert doctest.testmod(module).failed == 0
