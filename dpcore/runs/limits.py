"""The rights of people who share a server, and the limits of runs.

A run belongs to its owner and to the teacher. `limits.toml` in the home may replace default limits.
It is read whenever it is needed, so a change needs no restart. The limits bind the pages; a user of
the command line owns the machine.
"""

import os
import reprlib
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from dpcore import check
from dpcore.regular_file import regular_text
from dpcore.runs.record import Run, StoreError
from dpcore.whole_file import whole_file

SHARED = "DPCORE_SHARED"  # the environment variable that turns a server into a classroom
NOBODY = (
    "The server does not know this browser, so you can only look. Reload the page. If that does not"
    " help, allow the cookies of this server."
)
NOT_TEACHER = "Only the teacher may do that. Sign in with the teacher's key under Classroom."


@dataclass(frozen=True)
class User:
    """A user of the pages.

    Runs note their `owner`. It is empty on a machine with a single user, and for an unknown
    visitor.
    """

    owner: str = ""
    teacher: bool = False
    shared: bool = False  # with other users of this server


def shared() -> bool:
    """True if several people use this server: DPCORE_SHARED is set, and not to 0."""
    return os.environ.get(SHARED, "").strip() not in ("", "0")


def may_start(user: User) -> bool:
    """True if the user may start jobs.

    >>> may_start(User()), may_start(User(shared=True)), may_start(User("ann", shared=True))
    (True, False, True)
    """
    return not user.shared or bool(user.owner)


def may_rule(user: User) -> bool:
    """True if the user may act for everybody: pause the queue, set limits, clear the store."""
    return not user.shared or user.teacher


def may_change(user: User, run: Run) -> bool:
    """True if the user may cancel, rename, tag, annotate, resume or delete the run.

    Anybody may look.
    """
    owns = bool(user.owner) and run.owner == user.owner
    return owns or may_rule(user)


def why_not(user: User, verb: str) -> str:
    """The reason why the user may not do this with a run.

    >>> why_not(User("ann", shared=True), "cancel")
    "This is somebody else's run. Only its owner or the teacher can cancel it."
    """
    if not user.owner:
        return NOBODY
    return f"This is somebody else's run. Only its owner or the teacher can {verb} it."


FILE = "limits.toml"


def _limit(alone: int, among_many: int, most: int, title: str) -> Any:
    """A limit: its default for one user and for many, its greatest value, and its title."""
    return field(default=alone, metadata={"among_many": among_many, "most": most, "title": title})


@dataclass(frozen=True)
class Limits:
    """The limits. Errors: ValueError for anything but whole numbers in their ranges.

    Runs on the processor share its cores, and a run's noise depends on its number of threads. So a
    run can continue from its checkpoint only with the `cpu_slots` with which it began.

    >>> Limits(steps=0)
    Traceback (most recent call last):
    ...
    ValueError: Expected steps=0 to be a whole number from 1 to 10,000,000.
    """

    cpu_slots: int = _limit(1, 1, 64, "runs at once on the processor, which share its cores")
    cuda_slots: int = _limit(1, 2, 64, "runs at once on the GPU, which share its memory")
    mps_slots: int = _limit(1, 1, 64, "runs at once on Apple's GPU")
    queued: int = _limit(2_000, 20, 100_000, "queued runs of one owner")
    steps: int = _limit(10_000_000, 20_000, 10_000_000, "steps of a run")
    seconds: int = _limit(7 * 86_400, 3_600, 366 * 86_400, "seconds of training without a break")
    batch: int = _limit(1_000_000, 10_000, 1_000_000, "expected examples of a batch")
    kept: int = _limit(100_000, 200, 1_000_000, "stored runs of one owner")

    def __post_init__(self) -> None:
        for each in fields(self):
            check.whole(1, each.metadata["most"], **{each.name: getattr(self, each.name)})


TITLES: dict[str, str] = {each.name: each.metadata["title"] for each in fields(Limits)}


def usual() -> Limits:
    """The default limits, which are tighter on a shared server."""
    if not shared():
        return Limits()
    return Limits(**{each.name: each.metadata["among_many"] for each in fields(Limits)})


def limits_of(home: Path) -> Limits:
    """The limits in force. Errors: StoreError names the fault in the file."""
    try:
        values = tomllib.loads(regular_text(home / FILE))
    except FileNotFoundError:
        return usual()
    except OSError as error:
        raise StoreError(f"Expected {FILE} to be a file that can be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"Expected {FILE} to be TOML, lines as steps = 20000, but: {error}."
        ) from error
    for name, value in values.items():
        if name not in TITLES:
            raise StoreError(
                f"Expected {reprlib.repr(name)} in {FILE} to be one of: {', '.join(TITLES)}."
            )
        if not isinstance(value, int | float):
            raise StoreError(
                f"Expected {name}={reprlib.repr(value)} in {FILE} to be a whole number."
            )
    try:
        return replace(usual(), **values)
    except ValueError as error:
        raise StoreError(f"In {FILE}: {error}") from error


def overdue(seconds: float) -> str:
    """The reason why a run that took too long was ended.

    >>> overdue(3600).partition(". ")[0]
    'It has trained for 3,600 s, the limit in limits.toml'
    """
    return (
        f"It has trained for {seconds:,} s, the limit in {FILE}. Resume continues from its last"
        " checkpoint."
    )


def write(home: Path, limits: Limits) -> None:
    """Set the limits for everybody; a reader finds the old ones or the new ones, never a part."""
    lines = [f"{name} = {value}  # {TITLES[name]}\n" for name, value in asdict(limits).items()]
    try:
        with whole_file(home / FILE) as file:
            file.write("".join(lines).encode())
    except OSError as error:
        raise StoreError(f"Expected {FILE} to be a file that can be written: {error}.") from error
