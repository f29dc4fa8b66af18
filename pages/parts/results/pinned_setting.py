"""Pin a setting: it stays on the charts as a ghost, in the session, and in the address (`pin=`) of
every page.
"""

import math
from collections.abc import Callable

import streamlit as st

from dpcore.check import verbatim
from dpcore.figures import Line, charted, epochs_at
from dpcore.figures.epsilon import GHOST_NAME, Ghost, ghost_style
from dpcore.privacy.accountants import CERTIFIED, Kind
from dpcore.privacy.report.numbers import epochs_of, marked, nearest, plain, raised, short
from dpcore.privacy.schedule import SCHEDULES, Recipe
from dpcore.training.settings import Slider
from pages.parts.controls.fields import Quantity, epochs_text, read
from pages.parts.controls.mechanism import DELTA, SIGMA, STEPS, ChosenSetting, N, Q
from pages.parts.controls.url_state import Remembered
from pages.parts.results import cache
from pages.parts.shell.streamlit_internals import uninterrupted

PINNED = Remembered("pin")  # the text of a setting; empty where nothing is pinned
BETWEEN = "~"  # fields; stands in an address as it is
MAX_CHARS = 200
RATE = Quantity("rate", "Rate k", "0", Slider(0, 1), lambda rate: None)  # of any schedule
QUANTITIES = (N, Q, SIGMA, STEPS, DELTA, RATE)


def pin_controls(
    setting: ChosenSetting, on_screen: Callable[[], ChosenSetting | None]
) -> ChosenSetting | None:
    """Draw the buttons that pin and unpin, and return the pinned setting.

    `on_screen` reads the setting that the fields show when the button is pressed.
    """
    pinned = pinned_setting()
    row = st.container(horizontal=True, gap="small", key="pin")
    same = pinned == setting
    row.button("Pin this setting", on_click=_pin, args=(on_screen,), key="pin_this", disabled=same)
    if pinned:
        row.button("Unpin", type="tertiary", on_click=_unpin, key="unpin")
    return pinned


@uninterrupted
def _pin(on_screen: Callable[[], ChosenSetting | None]) -> None:
    setting = on_screen()
    if setting:
        PINNED.set(written(setting))


@uninterrupted
def _unpin() -> None:
    PINNED.set("")


def pinned_setting() -> ChosenSetting | None:
    """The pinned setting of the session or, for a link and after going back, of the address."""
    if not (text := PINNED.value):
        return None
    try:
        return understood(text)
    except (ValueError, RuntimeError):
        st.warning(
            f"The address pins no setting: {verbatim(text)}. Press “Pin this setting” to pin the"
            " present one."
        )
        PINNED.set("")
        return None


def written(setting: ChosenSetting) -> str:
    """A setting as a compact and exact text.

    >>> written(understood("10_000~256/10000~1.23~196~1e-5~constant~0"))
    '10000~0.0256~1.23~196~1e-05~constant~0.0'
    """
    values = (
        setting.n,
        setting.q,
        setting.sigma,
        setting.mechanism.steps,
        setting.delta,
        setting.schedule,
    )
    return BETWEEN.join(str(each) for each in (*values, setting.rate))


def understood(text: str) -> ChosenSetting:
    """The setting of such a text; ValueError if there is none."""
    fields = text[:MAX_CHARS].split(BETWEEN)
    if len(fields) != 7 or fields[5] not in SCHEDULES:
        raise ValueError(f"Expected {text[:40]!r} to be a setting.")
    schedule = fields.pop(5)
    n, q, sigma, steps, delta, rate = (
        read(each, field) for each, field in zip(QUANTITIES, fields, strict=True)
    )
    mechanism = Recipe(schedule, rate).mechanism(q, sigma, int(steps))
    return ChosenSetting(mechanism, int(n), q, sigma, delta, schedule, rate)


def words_of(setting: ChosenSetting) -> str:
    """A setting in a few words.

    >>> words_of(understood("10000~0.0256~1.23~196~1e-05~constant~0.0"))
    'sigma 1.23, q 0.0256, 5 epochs'
    """
    epochs = float(epochs_text(setting.mechanism.steps, setting.q))
    changing = (
        ""
        if setting.schedule == "constant"
        else f" ({setting.schedule}, k {nearest(setting.rate)})"
    )
    return f"sigma {nearest(setting.sigma)}{changing}, q {nearest(setting.q)}, {epochs_of(epochs)}"


def ghost_over_epochs(pinned: ChosenSetting) -> Ghost:
    """The certified epsilon of a pinned setting against epoch."""
    steps, mechanism = charted(pinned.mechanism), pinned.mechanism
    return Ghost(
        _label(pinned), cache.curve(CERTIFIED, mechanism, pinned.delta), epochs_at(mechanism, steps)
    )


def ghost_over_delta(pinned: ChosenSetting) -> Ghost:
    return Ghost(_label(pinned), cache.profile(CERTIFIED, pinned.mechanism))


def pinned_line(pinned: ChosenSetting) -> list[Line]:
    """The certified lower trade-off curve of a pinned setting, if there is one."""
    band = cache.band(pinned.mechanism)
    return [] if band.empty else [Line(ghost_style(_label(pinned)), band.lower, Kind.CERTIFIED)]


def difference(pinned: ChosenSetting, setting: ChosenSetting) -> str:
    """The pinned setting and its certified epsilon, beside the present one."""
    before = cache.final(CERTIFIED, pinned.mechanism, pinned.delta).last.value
    now = cache.final(CERTIFIED, setting.mechanism, setting.delta).last.value
    spent = marked(before, Kind.CERTIFIED)
    first = f"**Pinned:** {words_of(pinned)}, delta {plain(raised(pinned.delta))}: epsilon {spent}."
    second = f"**Now** {marked(now, Kind.CERTIFIED)}"
    if pinned.delta != setting.delta:
        second += f" at delta = {plain(raised(setting.delta))}"
    if before == now:
        return f"{first} {second}, the same."
    if not (math.isfinite(before) and math.isfinite(now) and before):
        return f"{first} {second}."
    word = "more" if now > before else "less"
    return (
        f"{first} {second}: {short(abs(now - before))} {word}, {short(now / before)} times the"
        " pinned value."
    )


def _label(pinned: ChosenSetting) -> str:
    return f"{GHOST_NAME}: {words_of(pinned)}"
