"""Workers share the devices of a machine: which runs they take, how much of it each has, and for how long."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from dpcore.runs import pool as pool_module
from dpcore.runs.limits import FILE, Limits, write
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status, device_path
from dpcore.runs.resume import ended_early
from dpcore.runs.slots import Slots, cores, slots_of
from dpcore.runs.store import Store
from dpcore.runs.worker import warm_up
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.memory_share import take_part
from tests.runs.live_workers import pid_of, pool_of, processes

Eventually = Callable[..., None]


@pytest.fixture(autouse=True)
def _no_pause_before_the_next_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "SPARE", 0.0)


@contextmanager
def _pool(store: Store, train: str, device: str, **options: float) -> Iterator[Pool]:
    """A pool of a machine with such a device."""
    device_path(store.home).write_text(device)
    with pool_of(store, train, **options) as pool:
        yield pool


def _told(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def _threads(pid: int) -> str | None:
    """The number of threads that a process finds in its environment."""
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return next((entry.partition("=")[2] for entry in entries if entry.startswith("OMP_NUM_THREADS=")), None)


def _waiting(pool: Pool) -> list[Slots]:
    idle = [worker for worker in pool.workers if worker.busy_since is None and not worker.dismissed]
    return [worker.slots for worker in idle]


@pytest.mark.parametrize("device", ["", "cpu", "cuda", "cuda:0", "mps", "tpu"])
def test_every_device_that_a_run_can_ask_for_is_some_workers(device: str) -> None:
    taken = [slots.devices for slots in slots_of(Limits(), device)]
    assert taken == [()] or sorted(sum(taken, ())) == ["auto", "cpu", "cuda", "mps"]


def test_with_one_slot_a_worker_is_told_what_it_was_told_before_there_were_limits() -> None:
    (slots,) = slots_of(Limits(), "cpu")
    assert (slots.arguments, slots.environment) == (["--slots", "1"], {})
    gpu, cpu = slots_of(Limits(), "cuda")
    assert gpu.arguments == ["--slots", "1", "--devices", "auto,cuda"]
    assert (gpu.environment, cpu.environment) == ({}, {})


@pytest.mark.parametrize("slots", [2, 3, 7])
def test_runs_on_the_processor_share_its_cores_and_those_on_the_gpu_its_memory(
    slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    gpu, cpu = slots_of(Limits(cpu_slots=slots, cuda_slots=slots), "cuda")
    assert gpu.memory is not None
    assert 0.8 < gpu.memory * slots < 1
    assert cpu.environment == {"OMP_NUM_THREADS": str(max(1, 6 // slots))}


@pytest.mark.parametrize("said", ["", "no number", "0", "-2", "4,2"])
def test_where_the_environment_names_no_number_of_threads_there_are_as_many_as_cores(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert cores() == len(os.sched_getaffinity(0))


@pytest.mark.long
def test_a_process_takes_as_many_threads_as_its_slots_say() -> None:
    asked = "import torch; print(torch.get_num_threads())"
    environment = {**os.environ, **Slots(threads=1).environment}
    said = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, check=True, text=True)
    assert said.stdout == "1\n"


@pytest.mark.long
def test_runs_for_the_gpu_and_for_the_processor_do_not_wait_for_each_other(
    store: Store, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    write(store.home, Limits(cpu_slots=2, cuda_slots=2))
    devices = ["auto", "cuda", "cuda", "cpu", "cpu", "cpu"]
    with _pool(store, "endless", "cuda:0"):
        runs = [store.submit(RunConfig(device=device)) for device in devices]
        busy, waits = [runs[place] for place in (0, 1, 3, 4)], [runs[2], runs[5]]
        eventually(lambda: all(store.tail(run) for run in busy), within=90)
        assert [store.run(run).status for run in waits] == [Status.QUEUED] * 2
        told = [(_told(pid), _threads(pid)) for pid in (pid_of(store.run(run)) for run in busy)]
        assert all("--devices auto,cuda --memory 0.45" in words and threads == "5" for words, threads in told[:2])
        assert all("--devices cpu,mps" in words and threads == "2" for words, threads in told[2:])
        store.cancel(runs[1])
        eventually(lambda: store.tail(runs[2]), within=90)
        assert store.run(runs[5]).status is Status.QUEUED


@pytest.mark.long
def test_other_limits_are_in_force_without_a_restart_and_what_trains_goes_on(
    store: Store, eventually: Eventually
) -> None:
    with _pool(store, "endless", "cpu") as pool:
        first, second, third = (store.submit(RunConfig()) for _ in range(3))
        eventually(lambda: store.tail(first) and _waiting(pool) == [Slots()])
        assert store.run(second).status is Status.QUEUED
        write(store.home, Limits(cpu_slots=2))
        eventually(lambda: store.tail(second))
        assert _threads(pid_of(store.run(second))) == str(max(1, cores() // 2))
        assert store.run(third).status is Status.QUEUED
        worker = store.run(first).worker
        write(store.home, Limits())
        eventually(lambda: _waiting(pool) == [Slots()])
        assert pool.trouble is None
        said = store.run(first).sequence
        eventually(lambda: store.run(first).sequence > said)
        assert (store.run(first).worker, store.run(first).attempts) == (worker, 0)


@pytest.mark.long
def test_with_a_bad_file_of_limits_the_pool_says_so_and_goes_on_with_those_it_knew(
    store: Store, eventually: Eventually
) -> None:
    write(store.home, Limits(cpu_slots=2))
    with _pool(store, "endless", "cpu") as pool:
        eventually(lambda: _waiting(pool))
        (store.home / FILE).write_text("cpu_slots = 0")
        eventually(lambda: pool.trouble)
        assert "cpu_slots=0" in (pool.trouble or "")
        runs = [store.submit(RunConfig()) for _ in range(2)]
        eventually(lambda: all(store.tail(run) for run in runs))
        (store.home / FILE).unlink()
        eventually(lambda: pool.trouble is None)


@pytest.mark.long
def test_a_run_that_takes_too_long_is_ended_by_the_name_of_the_limit_and_can_be_resumed(
    store: Store, eventually: Eventually
) -> None:
    write(store.home, Limits(seconds=2))
    with _pool(store, "endless", "cpu"):
        run = store.submit(RunConfig())
        eventually(lambda: not store.run(run).active)
    ended = store.run(run)
    assert ended.status is Status.FAILED
    assert ended.error is not None
    assert ended.error.startswith("It has trained for 2 s, the limit seconds=2 of limits.toml.")
    assert ended_early(ended)
    assert ended.sequence > 10


@pytest.mark.long
def test_a_worker_that_does_not_heed_the_limit_is_killed(store: Store, eventually: Eventually) -> None:
    write(store.home, Limits(seconds=1))
    with _pool(store, "stubborn", "cpu", grace=0.2):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        pid = pid_of(store.run(run))
        eventually(lambda: not store.run(run).active)
        eventually(lambda: pid not in processes(store.home))
    assert store.run(run).status is Status.FAILED
    assert "the limit seconds=1 of limits.toml" in (store.run(run).error or "")


@pytest.mark.long
def test_no_run_ends_because_of_a_mistake_in_the_file_of_limits(store: Store, eventually: Eventually) -> None:
    with _pool(store, "one_second", "cpu"):
        (store.home / FILE).write_text("seconds = 0")
        run = store.submit(RunConfig())
        eventually(lambda: not store.run(run).active)
    assert store.run(run).status is Status.FINISHED


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


def test_a_part_of_the_memory_is_taken_where_there_is_a_gpu_and_nothing_is_done_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = []
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", taken.append)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    take_part(0.45)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    take_part(0.3)
    assert taken == [0.3]


@pytest.mark.cuda
def test_a_process_cannot_take_more_of_the_gpu_than_its_part() -> None:
    asked = """
import torch
from dpcore.training.memory_share import take_part
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
