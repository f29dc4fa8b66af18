"""The steps that an engine of Opacus has counted, read from its history, which stays as it is."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple, Protocol


class Engine(Protocol):
    """An engine that counts its own steps, as `PrivacyEngine` of Opacus does."""

    accountant: Any  # its `history` is a list of (noise multiplier, sampling rate, steps)


class Taken(NamedTuple):
    """Equal steps, one after another."""

    sigma: Any
    q: Any  # of Opacus: 1 / len(loader), times the batches that were gathered for one step
    count: int


class Reader:
    """Reads an engine's history from where it was read last."""

    def __init__(self, engine: Engine, known: int) -> None:
        """`known` are the steps that the run has counted already, among them those of a checkpoint
        that the engine has loaded. Errors: ValueError for an engine without such a history.
        """
        self._engine = engine
        self.seen = min(known, total_of(history_of(engine)))

    def fresh(self) -> list[Taken]:
        """The steps since the last call, in order.

        A history that has become shorter has begun anew: all of its steps are fresh, so that none
        is missed. Errors: ValueError if it cannot be read.
        """
        history = history_of(self._engine)
        total = total_of(history)
        seen = self.seen if total >= self.seen else 0
        self.seen = total
        return list(_after(history, seen))


def history_of(engine: Engine) -> list[Taken]:
    """The engine's history as it is now.

    >>> from types import SimpleNamespace as Of
    >>> history_of(Of(accountant=Of(history=[(1.1, 0.01, 100)])))
    [Taken(sigma=1.1, q=0.01, count=100)]
    >>> history_of(5)
    Traceback (most recent call last):
    ...
    ValueError: Expected a name, or a PrivacyEngine of Opacus with an accountant's history, not 5.
    """
    history = getattr(getattr(engine, "accountant", None), "history", None)
    if not isinstance(history, list):
        raise ValueError(
            "Expected a name, or a PrivacyEngine of Opacus with an accountant's history, not"
            f" {engine!r:.80}."
        )
    found = []
    for each in list(history):  # a copy: its program may go on
        sigma, q, count = each
        if not isinstance(count, Integral) or count < 0:
            raise ValueError(f"Expected {each!r:.80} of a history to end in a number of steps.")
        found.append(Taken(sigma, q, int(count)))
    return found


def examples_of(engine: Any) -> int | None:
    """The number of examples of the data set that an engine of Opacus keeps, if it keeps one."""
    data = getattr(engine, "dataset", None)
    try:
        return len(data)  # type: ignore[arg-type]
    except TypeError:
        return None


def total_of(history: list[Taken]) -> int:
    """All steps of a history."""
    return sum(each.count for each in history)


def _after(history: list[Taken], seen: int) -> Iterator[Taken]:
    """The steps of a history without the first ones."""
    for each in history:
        known = min(seen, each.count)
        seen -= known
        if each.count > known:
            yield each._replace(count=each.count - known)
