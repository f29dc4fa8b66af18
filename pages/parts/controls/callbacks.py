"""Callbacks that a later click neither breaks off half way nor overtakes."""

from collections.abc import Callable
from functools import wraps
from threading import Lock, RLock
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from streamlit.runtime.scriptrunner import get_script_run_ctx

P = ParamSpec("P")
R = TypeVar("R")
LOOK = "on_scriptrunner_yield"  # what Streamlit calls to see whether the browser has asked for something newer
_ADDING = Lock()
_TURNS: WeakValueDictionary[str, RLock] = WeakValueDictionary()  # session id -> held by the callback whose turn it is


def _turn_of(session: str) -> RLock:
    with _ADDING:
        return _TURNS.setdefault(session, RLock())


def whole(callback: Callable[P, R]) -> Callable[P, R]:
    """The callback, done to its end before a newer request of the browser is looked at or answered.

    Streamlit looks for one whenever the session's state is touched, inside of callbacks too, and leaves what it finds
    running. The second click of a double click could so come between queueing a run and showing it. Nor does Streamlit
    wait for a callback: it answers the next click in a thread of its own, where the callback of that click would read a
    state that the one before it is about to change, and the later of the two would undo what the other had shown.
    """

    @wraps(callback)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        context = get_script_run_ctx(suppress_warning=True)
        requests = context.script_requests if context else None
        if requests is None or LOOK in vars(requests):  # there is no browser, or another callback calls this one
            return callback(*args, **kwargs)
        with _turn_of(context.session_id):
            setattr(requests, LOOK, lambda: None)
            try:
                return callback(*args, **kwargs)
            finally:
                delattr(requests, LOOK)

    return run
