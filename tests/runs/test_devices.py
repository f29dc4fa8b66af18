"""Workers share the devices of a machine: which runs they take, and how much of it each has."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from dpcore.runs.limits import Limits
from dpcore.runs.record import Status, device_path
from dpcore.runs.slots import Slots, cores, slots_of
from dpcore.runs.store import Store
from dpcore.runs.worker import warm_up
from dpcore.runs.worker_process import Worker
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.memory_share import take_part


def test_every_device_that_a_run_can_ask_for_is_some_workers() -> None:
    for device in ("", "cpu", "cuda", "cuda:0", "mps", "tpu"):
        taken = [slots.devices for slots in slots_of(Limits(), device)]
        assert taken == [()] or sorted(sum(taken, ())) == ["auto", "cpu", "cuda", "mps"], device


def test_runs_on_the_processor_share_its_cores_and_those_on_the_gpu_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    for slots in (2, 3, 7):
        gpu, cpu = slots_of(Limits(cpu_slots=slots, cuda_slots=slots), "cuda")
        assert gpu.memory is not None
        assert 0.8 < gpu.memory * slots < 1
        assert cpu.environment == {"OMP_NUM_THREADS": str(max(1, 6 // slots))}
    (alone,) = slots_of(Limits(), "cpu")
    assert (alone.arguments, alone.environment) == (["--slots", "1"], {})  # as before there were limits
    for said in ("", "no number", "0", "-2", "4,2"):
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert cores() == len(os.sched_getaffinity(0)), said


@pytest.mark.long
def test_a_worker_process_has_the_slots_of_its_pool(store: Store, eventually: Callable[..., None]) -> None:
    slots = Slots(2, ("cpu", "mps"), threads=1)
    with open(store.home / "log", "wb") as log:
        worker = Worker(store.home, log, "train_doubles:endless", slots, 0.0)
    try:
        runs = [store.submit(RunConfig(device=device)) for device in ("cuda", "cpu")]
        eventually(lambda: store.tail(runs[1]))
        entries = Path(f"/proc/{worker.process.pid}/environ").read_text().split("\0")
        assert "OMP_NUM_THREADS=1" in entries
        assert store.run(runs[0]).status is Status.QUEUED
    finally:
        worker.kill(signal.SIGKILL)
        worker.process.wait()


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
