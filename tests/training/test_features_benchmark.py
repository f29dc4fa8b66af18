"""The command that measures a step on features: its contenders take steps, and its table says what it should."""

import doctest
import json
from itertools import islice

import pytest
import torch

from dpcore.training.config import RunConfig
from tests.benchmarks import features, made_up, memory
from tests.benchmarks.features import MAKERS, PRIVATE, gathering, shuffled

SMALL = ["--source", "sample", "--batch", "64", "--rounds", "1"]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("views", [1, 2])
def test_it_measures_every_step_and_prints_a_table_and_a_json_object(views, monkeypatch, capsys):
    monkeypatch.setattr(features, "peak", lambda words: None if words[-1] == "plain" else 30.0)
    features.main([*SMALL, "--views", str(views)])
    *table, found = capsys.readouterr().out.splitlines()
    assert [line[:19].rstrip() for line in table[1:]] == list(MAKERS)
    figures = json.loads(found)
    assert (figures["rows"], figures["batch"]) == (10_000, 64)
    assert figures["features MiB"] == pytest.approx(10_000 * views * 3969 * 2 / 2**20)
    assert all(figures[name]["ms"] > 0 for name in MAKERS)
    assert figures[PRIVATE]["private takes of its memory"] == 1.0
    assert figures["plain"]["private takes of its memory"] is None


def test_a_shuffled_epoch_has_each_row_at_most_once_and_only_whole_batches():
    epoch = torch.cat(list(islice(shuffled(10, 3), 3)))
    assert len(epoch.unique()) == len(epoch) == 9


def test_rows_in_kept_memory_are_those_in_new_memory():
    x = made_up.features(1500, (2, 3))
    gathered = gathering(x, 4)
    for at in (torch.tensor([0, 1400, 7, 7]), torch.tensor([3, 2, 1, 0])):
        assert torch.equal(gathered(at), x[at].float())


def test_the_made_up_features_are_what_the_run_takes():
    config = RunConfig(dataset="fashion_mnist", features="scatter", model="linear", views=2)
    (x, y), _, (tested, labels) = (made_up.inputs(config).__dict__[name] for name in ("train", "public", "test"))
    assert (x.shape, x.dtype) == ((10_000, 2, 81, 7, 7), torch.float16)
    assert (len(y), len(labels), tested.shape) == (10_000, 10, (10, 2, 81, 7, 7))
    assert torch.equal(x[1003], x[3])


@pytest.mark.skipif(not memory.CLEAR.exists(), reason="memory is read from /proc")
def test_what_work_adds_to_memory_is_its_peak():
    def work():
        for _ in range(4):
            torch.ones(10 * 2**20)

    assert 38 < memory.added(work) < 120  # one of 40 MiB at a time, not all four; another thread may hold on to one


def test_a_process_that_fails_has_no_memory():
    assert memory.peak(["tests.benchmarks.nothing"]) is None


def test_what_its_docstrings_show_is_so():
    assert doctest.testmod(features).failed == 0
