"""The frame of every page: its turn on the processor, its title, two columns, projector mode."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Any

import numpy  # noqa: F401  # a library that is loaded later would not be limited to one thread
import scipy.linalg  # noqa: F401
import streamlit as st
from threadpoolctl import threadpool_limits

from pages.parts.components.elements import FRAME, LEAVING, mount
from pages.parts.controls.url_state import Remembered, no_faults, note_arrival, say_unknown
from pages.parts.serving.files import served
from pages.parts.shell.menu import (
    DRAWER,
    ON,
    PAGES,
    PRESENT_MODE,
    presenting,
    through_the_app,
    unknown_page,
)
from pages.parts.shell.page_of_style import style
from pages.parts.shell.streamlit_internals import uninterrupted

# Seconds that a page waits for those before it; then it runs together with a slow one.
MAX_WAIT = 1.0
THREADS = "OPENBLAS_NUM_THREADS"  # who sets it has chosen
ENTER = ("Present", "Large type, thick lines and the full screen, for a projector")
LEAVE = ("✕ Leave", "Back to the ordinary page")
_mode = Remembered(PRESENT_MODE)
_pages_at_once = BoundedSemaphore(2)
_frozen_modules: list[int] = [0]  # how many there were at the last freeze


@contextmanager
def throttle(
    places: BoundedSemaphore = _pages_at_once, longest: float = MAX_WAIT
) -> Iterator[None]:
    """Wait for a place to run a page, though not for long, and have it while the block runs.

    Python runs one thread at a time: if a class moves its sliders and a hundred pages are run at
    once, each takes a hundred times as long. Two at a time, the first are soon done.
    """
    mine = places.acquire(timeout=longest)
    try:
        yield
    finally:
        if mine:
            places.release()


def page_columns(question: str, opened: Callable[[], None] | None = None) -> list[Any]:
    """Draw the page's question as its title; return the columns of its controls and answers.

    For `opened` see `page_frame`.
    """
    return page_frame(question, opened).columns([1, 3], gap="medium")


def page_frame(question: str, opened: Callable[[], None] | None = None) -> Any:
    """Draw the page's question as its title; return the container of all that follows.

    `opened` is called for a click on a link that is marked with `data-opens`, and finds its
    address.
    """
    one_thread_for_products()
    if served():
        freeze_new_modules()
    through_the_app()
    note_arrival(question)
    _mode.set(ON if _mode.value == ON else "")
    mount(FRAME, FRAME, {"leaving": LEAVING, "presenting": presenting()}, opened=opened)
    _present_button()
    if not served():  # else the server has sent it before the scripts
        st.html(style())
    st.title(question, anchor=False)
    no_faults()
    say_unknown("page", unknown_page(), [page.title for page in PAGES], [PAGES[0].title])
    return st.container(key="page")


def _present_button() -> None:
    """Draw the button in the row of the menu; frame.js fills the screen, style.css enlarges."""
    label, help = LEAVE if presenting() else ENTER
    mode = "presenting" if presenting() else "at_the_desk"
    with st.container(key="present_place"), st.container(key=mode):
        st.button(label, type="tertiary", key="present_button", help=help, on_click=_turn_mode)
    if presenting():
        st.toggle("Controls", key=DRAWER)  # style.css hides the first column until it is on


@uninterrupted
def _turn_mode() -> None:
    _mode.set("" if presenting() else ON)


@lru_cache(maxsize=1)
def one_thread_for_products() -> None:
    """Let every BLAS product of this process run on one thread.

    Training workers are processes of their own, and keep their threads.
    A page's products are small. With more threads each product waits for all of them: while another
    core was busy, the certified curve at q = 256/60000, sigma = 0.7, T = 10546 took 629 ms with two
    threads on two cores, 220 with one.
    """
    if THREADS not in os.environ:
        threadpool_limits(1, user_api="blas")


def freeze_new_modules() -> None:
    """Freeze current objects (`gc.freeze`) if new modules were imported since the last call.

    They are most of a million objects, none of which is ever garbage. With them a full garbage
    collection takes a tenth of a second, in which every page waits. Python collects often, since
    each run of a page leaves hundreds of objects that refer to one another.
    """
    if _frozen_modules[0] != len(sys.modules):
        _frozen_modules[0] = len(sys.modules)
        gc.collect()
        gc.freeze()
