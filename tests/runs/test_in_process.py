"""A run that this process trains ends in the store as it ended here; a full memory is said in a
sentence.
"""

import traceback
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from dpcore.runs.in_process import recorded, with_first_event
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.worker import WAY_OUT, ended_by, shortage
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Started

STARTED = Started(10_000, 98, 0.05, "cpu", 26_010, "book-keeping")
TOO_MUCH = 10**15  # bytes


def failing(error: BaseException) -> Iterator[Event]:
    yield STARTED
    raise error


def test_whatever_goes_wrong_fails_the_run_with_its_traceback_and_one_line(store: Store) -> None:
    for error, line in (
        (RuntimeError("the loss\nis gone"), "the loss is gone"),
        (ValueError("Expected so."), "Expected so."),
        (KeyError("sigma"), "KeyError: 'sigma'"),
        (ZeroDivisionError(), "ZeroDivisionError: "),
        (MemoryError("all of it"), f"This run does not fit into memory. {WAY_OUT}"),
        (OSError(28, "No space left"), "OSError: [Errno 28] No space left"),
    ):
        run = store.submit(RunConfig(), worker="here:1")
        assert recorded(store, run, failing(error), lambda _: None) == (Status.FAILED, line)
        failed = store.run(run)
        assert (failed.status, failed.sequence) == (Status.FAILED, 1)
        assert "Traceback" in (failed.error or "")
        assert type(error).__name__ in (failed.error or "")


def test_who_interrupts_it_or_stops_reading_cancels_it(store: Store) -> None:
    for error in (KeyboardInterrupt(), BrokenPipeError()):
        run = store.submit(RunConfig(), worker="here:1")
        with pytest.raises(type(error)):
            recorded(store, run, failing(error), lambda _: None)
        assert (store.run(run).status, store.run(run).error) == (Status.CANCELLED, None)


def test_bad_input_is_raised_before_anything_is_recorded_and_another_error_when_the_run_is(
    store: Store,
) -> None:
    def at_once(error: Exception) -> Iterator[Event]:
        raise error
        yield STARTED

    with pytest.raises(ValueError, match="Expected"):
        with_first_event(at_once(ValueError("Expected so.")))
    events = with_first_event(at_once(RuntimeError("no memory for it")))
    run = store.submit(RunConfig(), worker="here:1")
    assert recorded(store, run, events, lambda _: None) == (Status.FAILED, "no memory for it")
    assert "at_once" in (store.run(run).error or "")
    assert list(with_first_event(iter([STARTED]))) == [STARTED]


def raised(work: Callable[[], object]) -> BaseException:
    with pytest.raises((MemoryError, RuntimeError)) as said:
        work()
    return said.value


def test_errors_of_a_full_memory_by_numpy_torch_and_devices_are_understood_and_no_others() -> None:
    for empty in (np.empty, torch.empty):
        said = shortage(raised(lambda empty=empty: empty(TOO_MUCH)))
        assert said.startswith("This run does not fit into memory, which lacks ")
        assert said.endswith(f". {WAY_OUT}")
    for error, room in (
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has"),
            "2.00 GiB",
        ),
        (
            RuntimeError(
                "MPS backend out of memory (MPS allocated: 1 GB). Tried to allocate 12 bytes"
            ),
            "12 bytes",
        ),
        (RuntimeError("CUDA error: out of memory"), ""),
        (MemoryError(), ""),
    ):
        words = (
            f", which lacks {room}." if room else "fit into memory. Choose fewer views, a smaller"
        )
        assert words in shortage(error)
    for error in (
        RuntimeError("loss is not finite"),
        ValueError("out of memory"),
        KeyError("sigma"),
    ):
        assert shortage(error) == ""
        assert ended_by(error) == (Status.FAILED, "".join(traceback.format_exception(error)))
