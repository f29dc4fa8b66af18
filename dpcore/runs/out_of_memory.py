"""Errors by which a run ends that memory does not hold, in words."""

import re

WORDS = ("out of memory", "can't allocate memory", "not enough memory")
SIZE = re.compile(r"allocate ([\d.,]+ ?(?:bytes|[KMGTP]i?B))")
WAY_OUT = (
    "Choose fewer views, a smaller model or a smaller batch, let fewer runs share the device, or end other programs; "
    "resumed, it goes on from its last checkpoint."
)


def shortage(error: BaseException) -> str:
    """What did not fit and what to do, where an error says that memory was short; "" for any other.

    Where it was short while a batch was summed on a GPU, the parts of that were as small as they can be by then. Where
    it was short before, a smaller batch does not help: all data lie there with their views, and fewer of these take
    less.

    >>> shortage(MemoryError("Unable to allocate 3.2 GiB for an array"))[:69]
    'Memory does not hold this run: there was no room for 3.2 GiB more. Ch'
    """
    text = str(error)
    short = isinstance(error, RuntimeError) and any(word in text.lower() for word in WORDS)
    if not (short or isinstance(error, MemoryError)):
        return ""
    found = SIZE.search(text)
    return f"Memory does not hold this run{f': there was no room for {found[1]} more' if found else ''}. {WAY_OUT}"


def with_advice(error: BaseException, traceback: str) -> str:
    """What is kept of an error with the run that failed by it: its traceback, and last what to do, if that is known."""
    return f"{traceback.rstrip()}\n{shortage(error)}\n" if shortage(error) else traceback
