"""`python -m dpcore runs sweep`: a grid of runs in the queue, all of them or none."""

from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.runs.store import Store
from tests.commands.printed import printed

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_every_combination_is_queued_with_every_seed(home: Path, capsys: Output) -> None:
    grid = ["--grid", "sigma=1,2,4", "--grid", "lr=.1,.5", "--seeds", "3", "--seed", "7"]
    found = printed(capsys, ["runs", "sweep", *grid, "--model", "mlp", "--name", "first"])
    with Store(home) as store:
        runs = store.runs()
        assert sorted(found["runs"]) == sorted(run.id for run in runs)
        assert {run.sweep for run in runs} == {found["sweep"]}
        made = {(run.config.sigma, run.config.lr, run.config.seed) for run in runs}
        assert made == {(sigma, lr, seed) for sigma in (1, 2, 4) for lr in (0.1, 0.5) for seed in (7, 8, 9)}
        assert {run.config.model for run in runs} == {"mlp"}
        assert all(run.name.startswith("first: sigma ") for run in runs)
        assert sorted(store.queue()) == sorted(found["runs"])


def test_what_is_not_swept_suits_what_is(home: Path, capsys: Output) -> None:
    grid = ["--grid", "stop_epsilon=1,2", "--stop-accountant", "rdp", "--optimizer", "adam"]
    assert main(["runs", "sweep", *grid]) == 0
    *runs, last = capsys.readouterr().out.splitlines()
    assert len(runs) == 2
    assert "or the best, costs more than it alone" in last
    with Store(home) as store:
        assert {run.config.stop_accountant for run in store.runs()} == {"rdp"}
        assert {run.config.lr for run in store.runs()} != {0.5}  # that of another optimizer
