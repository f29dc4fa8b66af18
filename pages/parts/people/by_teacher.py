"""Callbacks of clicks that only the teacher may make."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from dpcore.runs.access import NOT_TEACHER, may_rule
from dpcore.runs.record import StoreError
from pages.parts.controls.callbacks import whole
from pages.parts.people.sayings import said
from pages.parts.people.visitor import current_user

P = ParamSpec("P")


def by_teacher(action: Callable[P, None]) -> Callable[P, None]:
    """The action as a callback, done to its end; who is no teacher at that moment gets a sentence instead."""

    @whole
    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if not may_rule(current_user()):
            said(NOT_TEACHER)
            return
        said("")
        try:
            action(*args, **kwargs)
        except StoreError as error:
            said(str(error))

    return run
