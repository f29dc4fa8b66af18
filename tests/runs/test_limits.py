"""Limits and devices: what runs may take, how workers share a machine, and that nobody gets past
it.
"""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.runs import within_limits
from dpcore.runs.limits import FILE, SHARED, TITLES, Limits, limits_of, usual, write
from dpcore.runs.record import Status, StoreError, checkpoint_path, device_path, worker_name
from dpcore.runs.store import Store
from dpcore.runs.worker import warm_up
from dpcore.runs.worker_process import Slots, cores, slots_of
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import plan

RUN = (RunConfig(), "a run")
NO_NUMBERS = (
    "0",
    "-1",
    "nan",
    "inf",
    "2.5",
    "true",
    '"20"',
    "[20]",
    "{}",
    "10000001",
    "1" + "0" * 400,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A home without a file of limits."""
    return tmp_path


def test_where_nobody_has_set_limits_they_are_wide_and_tighter_where_many_share_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits_of(folder) == Limits()
    monkeypatch.setenv(SHARED, "1")
    shared = limits_of(folder)
    assert shared == usual()
    assert shared.steps == 20_000
    assert all(
        getattr(shared, name) <= getattr(Limits(), name)
        for name in ("queued", "steps", "seconds", "batch")
    )


def test_what_the_file_says_is_in_force_as_soon_as_it_is_written_and_the_rest_is_as_usual(
    folder: Path,
) -> None:
    (folder / FILE).write_text("steps = 500\n")
    assert limits_of(folder) == Limits(steps=500)
    (folder / FILE).write_text("steps = 501\nqueued = 3  # each\n")
    assert limits_of(folder) == Limits(steps=501, queued=3)
    (folder / FILE).unlink()
    assert limits_of(folder) == Limits()


def test_what_is_wrong_with_the_file_is_said_in_a_sentence(folder: Path) -> None:
    wrong = [
        (f"steps = {value}\n", rf"^(In {FILE}: )?Expected steps=.* to be a whole number")
        for value in NO_NUMBERS
    ]
    wrong += [
        ("step = 5\n", "'step'"),
        ("k" * 5_000 + " = 5\n", "to be one of: cpu_slots"),
        ("[limits]\nsteps = 5\n", "'limits'"),
        ("steps = \n", "to be TOML"),
        ("steps = 5\nsteps = 6\n", "to be TOML"),
        (b"\xff\xfe\x00", "to be TOML"),
        ("a = " + "[" * 10_000, FILE),
    ]
    for text, words in wrong:
        (folder / FILE).write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(StoreError, match=words) as said:
            limits_of(folder)
        assert len(str(said.value)) < 1_000, words


def test_a_folder_in_place_of_the_file_is_told_of(folder: Path) -> None:
    (folder / FILE).mkdir()
    with pytest.raises(StoreError, match="to be a file"):
        limits_of(folder)
    with pytest.raises(StoreError, match="can be written"):
        write(folder, Limits())


def test_no_limits_are_made_of_what_the_file_may_not_say() -> None:
    for name in TITLES:
        for value in (0, -1, 2.0, float("nan"), True, "5", None, 10**12):
            with pytest.raises(ValueError, match=f"Expected {name}="):
                replace(Limits(), **{name: value})


@pytest.mark.parametrize(
    ("name", "asked"), [("steps", plan(RunConfig()).steps), ("batch", RunConfig().batch)]
)
def test_a_run_that_is_too_large_is_refused_by_the_name_of_the_limit(
    store: Store, name: str, asked: int
) -> None:
    write(store.home, replace(Limits(), **{name: asked}))
    within_limits.submit(store, [RUN])
    write(store.home, replace(Limits(), **{name: asked - 1}))
    small = replace(RunConfig(), batch=16, epochs=1e-3)
    sentence = f"The limit {name} of limits.toml is {asked - 1}, and this would make {asked}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        within_limits.submit(store, [(small, ""), RUN])
    assert len(store.runs()) == 1  # nor the small one


def test_an_owner_queues_so_many_runs_and_no_more_until_one_of_them_has_begun(store: Store) -> None:
    write(store.home, Limits(queued=2))
    within_limits.submit(store, [RUN, (Request(), "")], "ann")  # comparisons count, too
    for _ in range(3):  # however often and fast
        with pytest.raises(
            ValueError, match=r"limit queued of limits\.toml is 2, and this would make 3\. Wait"
        ):
            within_limits.submit(store, [RUN], "ann")
    within_limits.submit(store, [RUN], "bob")
    claimed = store.claim("here:1")
    assert claimed
    within_limits.submit(store, [RUN], claimed.owner)
    assert [run.owner for run in store.runs(Status.QUEUED, kind=None)].count(claimed.owner) == 1 + (
        claimed.owner == "ann"
    )


def test_a_sweep_counts_with_all_its_runs_and_is_queued_whole_or_not_at_all(store: Store) -> None:
    (store.home / FILE).write_text("queued = 0")
    with pytest.raises(StoreError, match="queued=0"):
        within_limits.submit(store, [RUN])
    write(store.home, Limits(queued=3))
    with pytest.raises(ValueError, match="this would make 4"):
        within_limits.submit(store, [RUN] * 4, "ann", sweep="s1")
    assert not store.runs()
    ids = within_limits.submit(
        store, [(RunConfig(), f"run {number}") for number in range(3)], "ann", sweep="s1"
    )
    assert [store.run(run).name for run in ids] == ["run 0", "run 1", "run 2"]
    assert {run.sweep for run in store.runs()} == {"s1"}


def test_who_has_as_many_runs_as_are_kept_is_told_to_delete_some_and_nothing_is_deleted(
    store: Store,
) -> None:
    write(store.home, Limits(kept=2))
    for _ in range(2):
        (run,) = within_limits.submit(store, [RUN], "ann")
        store.cancel(run)
    with pytest.raises(
        ValueError, match=r"limit kept of limits\.toml is 2, and this would make 3\. Delete some"
    ):
        within_limits.submit(store, [RUN], "ann")
    assert len(store.runs()) == 2


def test_resuming_counts_as_asking_for_a_run_and_leaves_no_checkpoint_behind_where_it_is_refused(
    store: Store,
) -> None:
    run = store.submit(RunConfig(), worker=worker_name(os.getpid()), owner="ann")
    store.end(run, Status.CANCELLED)
    write(store.home, Limits(kept=1))
    with pytest.raises(ValueError, match="this would make 2"):
        within_limits.submit_rest(store, run)
    write(store.home, Limits(steps=1))
    with pytest.raises(ValueError, match="this would make 98"):
        within_limits.submit_rest(store, run)
    assert len(store.runs()) == 1
    write(store.home, Limits())
    new = store.run(within_limits.submit_rest(store, run))
    assert (new.owner, new.parent, new.status) == ("ann", run, Status.QUEUED)
    assert not list(checkpoint_path(store.home, run).parent.glob("*"))


def test_eight_who_ask_at_once_do_not_get_past_a_limit_together(store: Store) -> None:
    write(store.home, Limits(queued=20, kept=25))
    go, refused = threading.Barrier(8), []

    def ask(_: int) -> int:
        taken = 0
        with Store(store.home) as own:
            go.wait()
            for _attempt in range(10):
                try:
                    taken += len(within_limits.submit(own, [RUN], "ann"))
                except ValueError as error:
                    refused.append(str(error))
        return taken

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(ask, range(8))) == 20
    assert len(store.queue()) == 20
    assert len(refused) == 60
    assert all("limit queued" in sentence for sentence in refused)


def test_runs_on_the_processor_share_its_cores_and_those_on_the_gpu_its_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    for slots in (2, 3, 7):
        gpu, cpu = slots_of(Limits(cpu_slots=slots, cuda_slots=slots), "cuda")
        assert gpu.memory is not None
        assert 0.8 < gpu.memory * slots < 1
        assert cpu.threads == max(1, 6 // slots)
    (alone,) = slots_of(Limits(), "cpu")
    assert alone == Slots()  # as before there were limits
    for said in ("", "no number", "0", "-2", "4,2"):
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert cores() == len(os.sched_getaffinity(0)), said


def test_a_worker_warms_up_where_its_runs_will_train_and_only_one_that_takes_any_tells_the_device(
    tmp_path: Path,
) -> None:
    asked = []

    def train(config: RunConfig) -> Iterator[Started]:
        asked.append(config.device)
        yield Started(1, 1, 0.5, "cuda" if config.device == "auto" else config.device, 1, "")

    warm_up(train, tmp_path, ("cpu", "mps"))  # type: ignore[arg-type]
    assert not device_path(tmp_path).exists()
    warm_up(train, tmp_path, ("auto", "cuda"))  # type: ignore[arg-type]
    warm_up(train, tmp_path)  # type: ignore[arg-type]
    assert asked == ["cpu", "auto", "auto"]
    assert device_path(tmp_path).read_text() == "cuda"


@pytest.mark.cuda
def test_a_process_cannot_take_more_of_the_gpu_than_its_part() -> None:
    asked = """
import torch
from dpcore.runs.worker import take_part
take_part(0.1)
whole = torch.cuda.get_device_properties(0).total_memory
torch.empty(whole // 20, dtype=torch.uint8, device="cuda")
try:
    torch.empty(whole // 5, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    print("refused")
"""
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True, text=True)
    assert said.stdout == "refused\n"
