"""Callbacks that a later click does not break off half way."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

P = ParamSpec("P")
R = TypeVar("R")
LOOK = "on_scriptrunner_yield"  # what Streamlit calls to see whether the browser has asked for something newer


def whole(callback: Callable[P, R]) -> Callable[P, R]:
    """The callback, done to its end before a newer request of the browser is looked at.

    Streamlit looks for one whenever the session's state is touched, inside of callbacks too, and leaves what it finds
    running. The second click of a double click could so come between queueing a run and showing it.
    """

    @wraps(callback)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        context = get_script_run_ctx(suppress_warning=True)
        requests = context.script_requests if context else None
        if requests is None or LOOK in vars(requests):  # there is no browser, or another callback calls this one
            return callback(*args, **kwargs)
        setattr(requests, LOOK, lambda: None)
        try:
            return callback(*args, **kwargs)
        finally:
            delattr(requests, LOOK)

    return run
