"""A number as a slider with an exact field beside it: the field is the value, and the address bar holds it."""

import math
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dpcore import check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.training.slider_stops import grid, show
from pages.parts.components.slider import LONGEST, moved_to, slider
from pages.parts.controls.faults import place_of, verbatim
from pages.parts.controls.url_state import keep, recall
from pages.parts.shell.streamlit_internals import uninterrupted

FIELD = 106  # pixels of the exact field
FRACTION = re.compile(r"([^/]+)/([^/]+)")


@dataclass(frozen=True)
class Quantity:
    """One number that a reader may choose: its name in the URL, its words, its slider and its condition."""

    key: str
    label: str
    default: str
    low: float
    high: float
    accept: Callable[[float], None]  # raises ValueError naming the thing, its value and the condition
    left: str = ""  # what it means to go left, and right
    right: str = ""
    help: str = ""
    whole: bool = False
    coarse: bool = False
    stops: tuple[float, ...] = ()  # of the slider, where round numbers from low to high do not suit
    name: str = ""  # what sentences call it, where that is not its key


def number(quantity: Quantity, *, label: bool = True) -> float:
    """Draw the quantity and return its value; what cannot be read is said, and the last good value used."""
    box = st.container(horizontal=True, gap="small", key=f"{quantity.key}_number")  # one line, below the label
    if label:
        box.markdown(quantity.label, help=quantity.help or None)
    recall(quantity.key, quantity.default)
    if (moved := st.session_state.pop(f"{quantity.key}_moved", None)) is not None:
        st.session_state[quantity.key] = moved
    wanted = box.text_input(
        f"{quantity.label}, exact",
        quantity.default,
        key=quantity.key,
        max_chars=LONGEST,
        label_visibility="collapsed",
        width=FIELD,
        bind="query-params",
        persist_state="session",
    )
    keep(quantity.key, wanted)
    text, problem = _valid(quantity, wanted)
    with box:
        _slider(quantity, text)
    place = place_of(quantity.name or quantity.key)
    if problem:
        place.error(f"{problem} Showing {text}.", icon=":material/edit:")
    return read(quantity, text)


def at_fault(quantity: Quantity) -> bool:
    """Whether the text in the quantity's field is none of its values."""
    try:
        read(quantity, st.session_state[quantity.key])
    except ValueError:
        return True
    return False


def read(quantity: Quantity, text: str) -> float:
    """The number that a text stands for: 4, 1e-5, 60_000, 60,000 or 256/60000; ValueError says what is wrong with it.

    >>> read(Quantity("q", "q", "1", 0, 1, lambda q: None), "256/60000")
    0.004266666666666667
    """
    value = _parse(quantity.name or quantity.key, text)
    quantity.accept(int(value) if value.is_integer() and abs(value) < 1e15 else value)  # a message says 0, not 0.0
    return value


def epochs_text(steps: int, q: float) -> str:
    """The shortest number of epochs that makes exactly so many steps where epochs are rounded up to steps.

    >>> epochs_text(196, 256 / 10_000), epochs_text(734, 256 / 10_000)
    ('5', '18.79')
    """
    check.whole(1, MAX_STEPS, steps=steps)
    for digits in range(1, 13):
        text = show(float(f"{steps * q:.{digits}g}"))
        if math.ceil(float(text) / q - 1e-9) == steps:
            return text
    return show((steps - 0.5) * q)


def _slider(quantity: Quantity, text: str) -> None:
    """A logarithmic slider that follows the exact field; where the value lies between two stops it gets its own."""
    stops = list(quantity.stops or grid(quantity.low, quantity.high, quantity.whole, quantity.coarse))
    value = read(quantity, text)
    place = bisect_left(stops, value)
    if place == len(stops) or stops[place] != value:
        stops.insert(place, value)
    key, ends = f"{quantity.key}_slider", (quantity.left, quantity.right)
    moved = partial(_follow, quantity.key, key)
    slider(quantity.label, [show(stop) for stop in stops], show(value), ends, field=quantity.key, key=key, moved=moved)


@uninterrupted
def _follow(key: str, slider_key: str) -> None:
    """Give the field what the slider was moved to.

    Where something else is pressed at once, that ends the run before the browser has heard of the field's new text, and
    the next run begins with the old one: so the field is told once more when it is drawn.
    """
    if (text := moved_to(slider_key)) is not None:
        st.session_state[key] = st.session_state[f"{key}_moved"] = text


def _valid(quantity: Quantity, wanted: str) -> tuple[str, str]:
    """The text to use and, if it is not the one that was asked for, why."""
    good = f"{quantity.key}_good"
    try:
        read(quantity, wanted)
    except ValueError as error:
        return st.session_state.get(good, quantity.default), str(error)
    st.session_state[good] = wanted
    return wanted, ""


def _parse(name: str, text: str) -> float:
    plain = check.ungrouped(text.strip().replace("_", "").replace(" ", ""))
    fraction = FRACTION.fullmatch(plain)
    try:
        value = float(fraction[1]) / float(fraction[2]) if fraction else float(plain)
    except (ValueError, ZeroDivisionError, OverflowError):
        hint = check.COMMAS if "," in text else ""
        raise ValueError(f"Expected {name}={verbatim(text)} to be a number{hint}.") from None
    check.finite(**{name: value})
    return value
