"""A button that starts something starts it once: the later clicks of a double click, and of an impatient one."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

STARTED = "started_last"
AGAIN = 5.0  # seconds without a click, from when what was started is on the page to when a click may start it again
BUSY = 3.0  # times what it took to show it, where that is more: a busy server hears of clicks as late as it shows them


class Started(NamedTuple):
    """What a click has started last."""

    wish: Sequence[object]
    began: float  # monotonic time
    seen: float | None = None  # at which the page had shown it, or of a later click; None before that
    wait: float = AGAIN  # seconds from then on in which no click counts


def is_second_click(wish: Sequence[object]) -> bool:
    """Whether a click wishes for nothing that the one before it has not started, too soon to be another wish.

    However often a reader clicks, no click counts before there was none for a while. A part of the last wish is no new
    one: when a short run has ended, the page asks for its non-private twin no more, and a late second click then wishes
    for the run alone. In a callback.
    """
    last, now = st.session_state.get(STARTED), time.monotonic()
    if (
        not last
        or any(part not in last.wish for part in wish)
        or (last.seen is not None and now - last.seen >= last.wait)
    ):
        return False
    st.session_state[STARTED] = last._replace(seen=last.seen and now)
    return True


def note_started(wish: Sequence[object]) -> None:
    """Note what a click has started; where nothing came of it, the next click may try again."""
    st.session_state[STARTED] = Started(wish, time.monotonic())


def started_is_seen() -> None:
    """Note that the page is drawn: from now on what a click has started is before the reader's eyes."""
    last = st.session_state.get(STARTED)
    if last and last.seen is None:
        now = time.monotonic()
        st.session_state[STARTED] = last._replace(seen=now, wait=max(AGAIN, BUSY * (now - last.began)))
