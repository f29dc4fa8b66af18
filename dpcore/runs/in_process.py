"""Record the runs that this process trains itself, as the command line does, like a worker's."""

import _thread
import contextlib
import itertools
from collections.abc import Callable, Iterator

from dpcore.runs.lifecycle import Status
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.runs.worker import Pulse, ended_by, shortage
from dpcore.training.events import Event


def with_first_event(events: Iterator[Event]) -> Iterator[Event]:
    """Try the first event: bad input raises ValueError here, other errors come with that event."""
    try:
        first = next(events)
    except ValueError:
        raise
    except Exception as error:  # the run fails by it once it is recorded
        return _raising(error)
    return itertools.chain([first], events)


def _raising(error: Exception) -> Iterator[Event]:
    raise error
    yield


def recorded(
    store: Store, run: str, events: Iterator[Event], say: Callable[[Event], None]
) -> tuple[Status, str]:
    """Record and say the events of a running run.

    Return its final status, and the reason of a failure in one line. KeyboardInterrupt cancels it
    and is raised; so is BrokenPipeError, if nobody reads its output.
    """
    status = Status.CANCELLED
    error = None
    try:
        with Pulse(store, run, None, _thread.interrupt_main):  # a cancellation acts like Ctrl-C
            for event in events:
                stop = store.append(run, event)
                say(event)
                if stop:
                    return status, ""
        status = Status.FINISHED
        return status, ""
    except BrokenPipeError:
        raise
    except Exception as failure:  # the store keeps it, and it is said in one line
        status, error = ended_by(failure)
        return status, _line(failure)
    finally:
        with contextlib.suppress(StoreError, OSError):  # a failing store has been reported
            store.end(run, status, error)


def _line(failure: Exception) -> str:
    """The error in one line; errors of other programs have their name before them.

    >>> _line(RuntimeError("loss is not finite")), _line(KeyError("sigma"))
    ('loss is not finite', "KeyError: 'sigma'")
    """
    short = shortage(failure)
    if short:
        return short
    text = " ".join(str(failure).split())
    own_words = type(failure) in (RuntimeError, ValueError, StoreError)
    if text and own_words:
        return text
    return f"{type(failure).__name__}: {text}"
