"""The commands that measure training run on the CPU in tiny sizes, and their tables hold together."""

import doctest
import json

import pytest
import torch

from tests.benchmarks import features, gpu, gpu_data, gpu_phases, gpu_recipes, memory, roofline
from tests.benchmarks.gpu import PHASES
from tests.benchmarks.gpu_phases import PRIVATE, SMALL, WORK, Size
from tests.benchmarks.roofline import AMOUNTS, VECTORS, WANTED, Parts, table
from tests.benchmarks.training import WORK as OF_A_STEP
from tests.benchmarks.training import contenders


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_without_cuda_it_says_so_in_a_sentence_and_writes_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    gpu.main(["--out", str(tmp_path / "gpu.json")])
    assert capsys.readouterr().out == f"{gpu.NONE}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_each_phase_runs_on_the_cpu():
    for name in PHASES.keys() - {"tests", "sharing"}:
        figures = dict(PHASES[name].measure(SMALL))
        assert figures, name
        json.dumps(figures, allow_nan=False)


def test_every_work_is_a_run_that_can_be_and_every_wanted_figure_one_that_a_phase_can_find():
    for name in WORK:
        for options in PRIVATE.values():
            assert gpu_phases.config_of(name, Size(), **options).examples == gpu_data.FULL, name
    for wanted in gpu.WANTED.values():
        name, _, contender = wanted.row.partition(" ")
        assert wanted.phase in PHASES, wanted
        assert name in Size().work, wanted
        assert contender in ("", *Size().contenders), wanted


def test_a_step_on_features_is_measured_for_every_contender(monkeypatch, capsys):
    monkeypatch.setattr(features, "peak", lambda words: 30.0)
    features.main(["--source", "sample", "--batch", "64", "--rounds", "1", "--views", "2"])
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert all(figures[name]["ms"] > 0 for name in features.MAKERS)


def test_the_bound_of_a_step_is_the_plain_one_and_all_that_has_to_be_done_beyond_it():
    rows = {name: {"ms": 12.0} for name in WANTED} | {"non-private": {"ms": 10.0}}
    found = table(Parts(words=0.5, functions=1.0, product=3.0, vector=0.1), rows)
    assert found["dpcore"]["at least"] == pytest.approx(1.15)
    assert found["dpcore adadp"]["at least"] == pytest.approx(1 + (1.5 + 3.0 + 0.5) / 10)
    assert WANTED.keys() == VECTORS.keys() <= contenders(*OF_A_STEP["mlp-600"], with_opacus=False).keys()
    assert AMOUNTS.keys() == set(Parts._fields)


@pytest.mark.parametrize("module", [features, gpu, gpu_phases, gpu_data, gpu_recipes, memory, roofline])
def test_what_its_docstrings_show_is_so(module):
    assert doctest.testmod(module).failed == 0
