"""Who may do what with runs, where several people share a server: a run is its owner's, and the teacher's."""

import os
from dataclasses import dataclass

from dpcore.runs.record import Run

SHARED = "DPCORE_SHARED"  # the environment variable that makes a classroom of a server
NOBODY = (
    "This browser is not known here, so it can only look. Reload the page; if that does not help, let it keep the "
    "cookies of this server."
)
NOT_TEACHER = "Only the teacher may do that: sign in with the teacher's key under Classroom."


@dataclass(frozen=True)
class User:
    """Who asks.

    `owner` is what is noted with a run that they start; it is empty where one person uses this machine alone, and for
    a visitor of whom nothing is known.
    """

    owner: str = ""
    teacher: bool = False
    shared: bool = False  # whether others use this server too


def shared() -> bool:
    """Whether several people use this server: DPCORE_SHARED is set, and not to 0."""
    return os.environ.get(SHARED, "").strip() not in ("", "0")


def may_start(user: User) -> bool:
    """Whether they may have something done.

    >>> may_start(User()), may_start(User(shared=True)), may_start(User("ann", shared=True))
    (True, False, True)
    """
    return not user.shared or bool(user.owner)


def may_rule(user: User) -> bool:
    """Whether they may do what concerns everybody: pause the queue, set limits, show all a run, clear the store."""
    return not user.shared or user.teacher


def may_change(user: User, run: Run) -> bool:
    """Whether they may cancel, rename, tag, annotate, resume or delete this run. Anybody may look at it."""
    return may_rule(user) or (bool(user.owner) and run.owner == user.owner)


def why_not(user: User, verb: str) -> str:
    """The sentence for who may not do this with a run.

    >>> why_not(User("ann", shared=True), "cancel")
    "Somebody else's run: only who started it, or the teacher, may cancel it."
    """
    return f"Somebody else's run: only who started it, or the teacher, may {verb} it." if user.owner else NOBODY
