"""Runs that this process trains itself, as the command line does: recorded like those of a worker."""

import _thread
import contextlib
import itertools
import signal
import traceback
from collections.abc import Callable, Iterator

from dpcore.runs.record import Status, StoreError, checkpoint_path
from dpcore.runs.store import Store
from dpcore.runs.worker import Interrupts, Pulse, shortage, with_advice
from dpcore.training.events import Event


def with_first_event(events: Iterator[Event]) -> Iterator[Event]:
    """The events, the first of them tried: ValueError, for bad input, is raised here, any other error at the first."""
    try:
        first = next(events)
    except ValueError:
        raise
    except Exception as error:  # whatever it is, the run fails by it once it is recorded
        return _raising(error)
    return itertools.chain([first], events)


def _raising(error: Exception) -> Iterator[Event]:
    raise error
    yield


def recorded(store: Store, run: str, events: Iterator[Event], say: Callable[[Event], None]) -> tuple[Status, str]:
    """Record and say a running run's events; how it ended, and for a failed one why, in one line.

    It ends in the store however it ends here: KeyboardInterrupt and BrokenPipeError, where nobody reads what is said,
    cancel it and are raised.
    """
    status, error = Status.CANCELLED, None
    interrupts = Interrupts(signal.SIGINT, KeyboardInterrupt, always=True)  # a callback may swallow the error
    try:
        with Pulse(store, run, None, _thread.interrupt_main):  # cancelled from elsewhere: as by Ctrl-C
            for event in events:
                stop = store.append(run, event)
                say(event)
                if stop or interrupts.asked:
                    return status, ""
        status = Status.FINISHED
        return status, ""
    except BrokenPipeError:
        raise
    except Exception as failure:  # whatever it is, it is kept with the run, and said in one line
        status, error = Status.FAILED, with_advice(failure, traceback.format_exc())
        return status, _line(failure)
    finally:
        with contextlib.suppress(StoreError, OSError):  # said already, if it is the store that fails
            store.end(run, status, error)
            if status is Status.FINISHED:
                checkpoint_path(store.home, run).unlink(missing_ok=True)


def _line(failure: Exception) -> str:
    """The error in one line: this program's own kinds are sentences, others need their name.

    >>> _line(RuntimeError("loss is not finite")), _line(KeyError("sigma"))
    ('loss is not finite', "KeyError: 'sigma'")
    """
    if short := shortage(failure):
        return short
    text, kind = " ".join(str(failure).split()), type(failure)
    return text if text and kind in (RuntimeError, ValueError, StoreError) else f"{kind.__name__}: {text}"
