"""`python -m dpcore runs` shows and cancels what the store holds."""

import json
import math
import multiprocessing
import re
import time
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.runs import store as store_module
from dpcore.runs.kinds import event_to_json
from dpcore.runs.record import Status, worker_name
from dpcore.runs.store import Store
from dpcore.runs.store_file import FILE
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Started
from dpcore.training.perturbation.request import Request
from tests.commands.printed import Output, Patch, printed


@pytest.fixture
def home(tmp_path: Path, monkeypatch: Patch) -> Path:
    """The directory that DPCORE_HOME names; nothing is in it."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _claimed(store: Store, worker: str = "elsewhere:1") -> str:
    run = store.submit(RunConfig(), name="mine")
    assert store.claim(worker, limit=99) is not None
    store.append(run, Started(10_000, 98, 0.05, "cpu", 26_010, "book-keeping"))
    store.append(run, Evaluated(7, 0.4, 0.625, 1.5, (0.5,) * 10))
    return run


def test_list_shows_every_run_newest_first_and_where_the_queue_is_paused(
    home: Path, capsys: Output
) -> None:
    with Store(home) as store:
        running, queued = _claimed(store), store.submit(RunConfig(dataset="fashion_mnist"))
    assert main(["runs", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith(f"{queued}  queued, number 1 ")
    assert lines[1].endswith("Fashion-MNIST cnn, SGD, sigma 1.23")
    assert lines[2].startswith(f"{running}  running")
    assert "step 7, accuracy 62.5%" in lines[2]
    _, item = printed(capsys, ["runs", "list"])["runs"]
    assert (item["id"], item["status"], item["settings"]["sigma"]) == (running, "running", 1.23)
    assert (item["last"]["event"], item["last"]["accuracy"]) == ("evaluated", 0.625)
    with Store(home) as store:
        for value, paused in (("1", True), (None, False)):
            store.post("paused", value)
            assert main(["runs", "list"]) == 0
            assert ("The queue is paused" in capsys.readouterr().err) is paused


def test_show_gives_settings_and_traceback(home: Path, capsys: Output) -> None:
    with Store(home) as store:
        run = _claimed(store)
        store.end(run, Status.FAILED, "Traceback (most recent call last):\nArithmeticError: gone\n")
    assert main(["runs", "show", run]) == 0
    out = capsys.readouterr().out
    assert "failed" in out
    assert "clip_norm" in out
    assert out.endswith("ArithmeticError: gone\n")
    assert main(["runs", "show", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sequence"] == 2


def test_json_is_json_where_an_older_version_stored_what_is_not(
    home: Path, capsys: Output, monkeypatch: Patch
) -> None:
    with Store(home) as store:
        run = _claimed(store)
        event = Evaluated(7, 0.4, 0.625, math.nan, (0.5,) * 9 + (math.inf,))
        monkeypatch.setattr(store_module, "body_of", lambda event: json.dumps(event_to_json(event)))
        store.append(run, event)
    (listed,) = printed(capsys, ["runs", "list"])["runs"]
    for found in (
        listed,
        *(printed(capsys, ["runs", action, run]) for action in ("show", "cancel")),
    ):
        last = found["last"]
        assert (last["loss"], last["per_class"][8:], last["accuracy"]) == (None, [0.5, None], 0.625)


def test_a_run_whose_process_is_gone_is_lost_and_one_of_a_worker_waits_again(
    home: Path, capsys: Output
) -> None:
    process = multiprocessing.get_context("spawn").Process(target=time.time)
    process.start()
    process.join()
    assert process.pid is not None
    worker = worker_name(process.pid)
    with Store(home) as store:
        run, own = _claimed(store, worker), store.submit(RunConfig(), worker=worker)
    assert main(["runs", "show", own]) == 0
    out = capsys.readouterr().out
    assert "lost" in out
    assert f":{process.pid} died." in out
    assert main(["runs", "show", run]) == 0
    assert "queued, number 1, starts in a moment" in capsys.readouterr().out


def test_nothing_is_written_where_there_is_no_store(home: Path, capsys: Output) -> None:
    assert main(["runs", "list"]) == 0
    assert capsys.readouterr().out == "No runs yet.\n"
    assert printed(capsys, ["runs", "list"]) == {"runs": []}
    for there in (False, True):
        for action in ("show", "cancel", "resume"):
            assert main(["runs", action, "nope"]) == 2
            assert capsys.readouterr().err.startswith(
                "dpcore: Expected run='nope' to be the id of a run"
            )
        assert home.exists() == there
        Store(home).close()


def test_a_corrupt_store_is_one_line_and_status_2(home: Path, capsys: Output) -> None:
    home.mkdir()
    (home / FILE).write_bytes(b"not a database, by far" * 100)
    assert main(["runs", "list"]) == 2
    err = capsys.readouterr().err
    assert str(home / FILE) in err
    assert err.count("\n") == 1
    assert (home / FILE).read_bytes() == b"not a database, by far" * 100


def test_no_command_shows_a_secret_seed(home: Path, capsys: Output) -> None:
    with Store() as store:
        run = store.submit(RunConfig())
        secret = store.secret(run)
    for words in (["list"], ["list", "--json"], ["show", run, "--json"], ["show", run]):
        assert main(["runs", *words]) == 0
        out = capsys.readouterr().out
        assert f"{secret:x}" not in out, words
        assert str(secret) not in out, words
    assert re.search(r"^seed +secret$", out, flags=re.M)


def test_jobs_of_other_kinds_are_listed_if_asked_for_and_cancelled(
    home: Path, capsys: Output
) -> None:
    with Store(home) as store:
        run, job = store.submit(RunConfig()), store.submit(Request())
    for option, ids in (("", [run]), ("--kind perturbation", [job]), ("--kind all", [job, run])):
        assert [
            each["id"] for each in printed(capsys, ["runs", "list", *option.split()])["runs"]
        ] == ids
    assert main(["runs", "list", "--kind", "perturbation"]) == 0
    assert re.search(rf"{job}  queued.* Comparison of methods", capsys.readouterr().out)
    assert main(["runs", "cancel", job]) == 0
    assert main(["runs", "show", job]) == 0
    out = capsys.readouterr().out
    assert "cancelled" in out
    assert re.search(r"^seed +secret$", out, flags=re.M)
    assert re.search(r"^rate +largest proven$", out, flags=re.M)


def test_every_combination_is_queued_with_every_seed(home: Path, capsys: Output) -> None:
    grid = ["--grid", "sigma=1,2,4", "--grid", "lr=.1,.5", "--seeds", "3", "--seed", "7"]
    found = printed(capsys, ["runs", "sweep", *grid, "--model", "mlp", "--name", "first"])
    with Store(home) as store:
        runs = store.runs()
        assert sorted(found["runs"]) == sorted(run.id for run in runs)
        assert {run.sweep for run in runs} == {found["sweep"]}
        made = {(run.config.sigma, run.config.lr, run.config.seed) for run in runs}
        assert made == {
            (sigma, lr, seed) for sigma in (1, 2, 4) for lr in (0.1, 0.5) for seed in (7, 8, 9)
        }
        assert {run.config.model for run in runs} == {"mlp"}
        assert all(run.name.startswith("first: sigma ") for run in runs)
        assert sorted(store.queue()) == sorted(found["runs"])


def test_what_is_not_swept_suits_what_is_and_to_choose_costs_privacy(
    home: Path, capsys: Output
) -> None:
    grid = ["--grid", "stop_epsilon=1,2", "--stop-accountant", "rdp", "--optimizer", "adam"]
    assert main(["runs", "sweep", *grid]) == 0
    *runs, last = capsys.readouterr().out.splitlines()
    assert len(runs) == 2
    assert "costs more than that run alone" in last
    with Store(home) as store:
        assert {run.config.stop_accountant for run in store.runs()} == {"rdp"}
        assert {run.config.lr for run in store.runs()} != {0.5}  # that of another optimizer
