"""A run that memory does not hold fails by a sentence, not by a traceback alone."""

import os
import signal
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
import torch

from dpcore.runs.in_process import recorded
from dpcore.runs.out_of_memory import WAY_OUT, shortage, with_advice
from dpcore.runs.record import Status, worker_name
from dpcore.runs.store import Store
from dpcore.runs.worker import Interrupts, perform
from dpcore.training.config import RunConfig
from dpcore.training.events import Event

TOO_MUCH = 10**15  # bytes


def _raised(work: Callable[[], object]) -> BaseException:
    with pytest.raises((MemoryError, RuntimeError)) as said:
        work()
    return said.value


@pytest.mark.parametrize("empty", [np.empty, torch.empty])
def test_what_numpy_and_torch_say_of_a_full_memory_is_understood_with_how_much_did_not_fit(empty: Any) -> None:
    said = shortage(_raised(lambda: empty(TOO_MUCH)))
    assert said.startswith("Memory does not hold this run: there was no room for ")
    assert said.endswith(f" more. {WAY_OUT}")


@pytest.mark.parametrize(
    ("error", "room"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has"), "2.00 GiB"),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB). Tried to allocate 12 bytes"), "12 bytes"),
        (RuntimeError("CUDA error: out of memory"), ""),
        (MemoryError(), ""),
    ],
)
def test_other_devices_are_understood_too(error: BaseException, room: str) -> None:
    assert (f": there was no room for {room} more." if room else "hold this run. Choose") in shortage(error)


def test_the_way_out_names_the_views_which_are_most_of_what_lies_on_a_device() -> None:
    assert shortage(MemoryError()).startswith("Memory does not hold this run. Choose fewer views, a smaller model or ")


@pytest.mark.parametrize("error", [RuntimeError("loss is not finite"), ValueError("out of memory"), KeyError("sigma")])
def test_no_other_error_is_taken_for_it(error: Exception) -> None:
    assert shortage(error) == ""
    assert with_advice(error, "Traceback") == "Traceback"


def _too_large(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
    torch.empty(TOO_MUCH)
    yield from ()


def test_a_worker_keeps_the_sentence_below_the_traceback(store: Store) -> None:
    run = store.run(store.submit(RunConfig(), worker=worker_name(os.getpid())))
    before = signal.getsignal(signal.SIGTERM)
    try:
        perform(store, run, _too_large, Interrupts())
    finally:
        signal.signal(signal.SIGTERM, before)
    failed = store.run(run.id)
    assert failed.status is Status.FAILED
    lines = (failed.error or "").splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("Memory does not hold this run")


def test_the_command_line_says_the_sentence(store: Store) -> None:
    run = store.submit(RunConfig(), worker=worker_name(os.getpid()))
    before = signal.getsignal(signal.SIGINT)
    try:
        status, line = recorded(store, run, _too_large(RunConfig()), lambda event: None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert status is Status.FAILED
    assert line.startswith("Memory does not hold this run: there was no room for")
