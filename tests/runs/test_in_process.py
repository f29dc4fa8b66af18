"""A run that this process trains ends in the store as it ended here."""

from collections.abc import Iterator

import pytest

from dpcore.runs.in_process import begun, recorded
from dpcore.runs.out_of_memory import WAY_OUT
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Finished, Started, Stepped

STARTED = Started(10_000, 98, 0.05, "cpu", 26_010, "book-keeping")


def failing(error: BaseException) -> Iterator[Event]:
    yield STARTED
    raise error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (RuntimeError("the loss\nis gone"), "the loss is gone"),
        (ValueError("Expected so."), "Expected so."),
        (KeyError("sigma"), "KeyError: 'sigma'"),
        (ZeroDivisionError(), "ZeroDivisionError: "),
        (MemoryError("all of it"), f"Memory does not hold this run. {WAY_OUT}"),
        (OSError(28, "No space left"), "OSError: [Errno 28] No space left"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_goes_wrong_fails_the_run_with_its_traceback_and_one_line(
    store: Store, error: Exception, line: str
) -> None:
    run = store.submit(RunConfig(), worker="here:1")
    assert recorded(store, run, failing(error), lambda _: None) == (Status.FAILED, line)
    failed = store.run(run)
    assert failed.status is Status.FAILED
    assert "Traceback" in (failed.error or "")
    assert type(error).__name__ in (failed.error or "")
    assert failed.sequence == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BrokenPipeError()], ids=repr)
def test_who_interrupts_it_or_stops_reading_cancels_it(store: Store, error: BaseException) -> None:
    run = store.submit(RunConfig(), worker="here:1")
    with pytest.raises(type(error)):
        recorded(store, run, failing(error), lambda _: None)
    assert (store.run(run).status, store.run(run).error) == (Status.CANCELLED, None)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_fails_the_run(store: Store, number: float) -> None:
    run = store.submit(RunConfig(), worker="here:1")
    events = iter([STARTED, Stepped(1, 0.1, 1.0, 0.5, (0.1, 0.1, 0.1, 0.1, number), 9.0), Finished(1, 1.0, 0.5)])
    status, line = recorded(store, run, events, lambda _: None)
    assert status is Status.FAILED
    assert line.startswith("Expected every number to be finite in Stepped(step=1")
    assert [event for _, event in store.tail(run)] == [STARTED]


def test_bad_input_is_raised_before_anything_is_recorded_and_another_error_when_the_run_is(store: Store) -> None:
    def at_once(error: Exception) -> Iterator[Event]:
        raise error
        yield STARTED

    with pytest.raises(ValueError, match="Expected"):
        begun(at_once(ValueError("Expected so.")))
    events = begun(at_once(RuntimeError("no memory for it")))
    run = store.submit(RunConfig(), worker="here:1")
    assert recorded(store, run, events, lambda _: None) == (Status.FAILED, "no memory for it")
    assert "at_once" in (store.run(run).error or "")
    assert list(begun(iter([STARTED]))) == [STARTED]
