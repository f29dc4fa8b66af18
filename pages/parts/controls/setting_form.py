"""The fields of a mechanism, drawn: on the pages that speak about one without training it."""

from contextlib import suppress
from typing import Any

import streamlit as st

from dpcore.figures import schedule_figure
from dpcore.figures.alt_texts import schedule_alt
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import linked
from dpcore.privacy.report.statement import counting_notes
from pages.parts.components.live_chart import still_chart
from pages.parts.controls import mechanism as controls
from pages.parts.controls import presets
from pages.parts.controls.fields import Fields
from pages.parts.controls.mechanism import (
    LENGTH,
    SAMPLING,
    SCHEDULE,
    ChosenSetting,
    setting_of,
)
from pages.parts.controls.presets import PRESET, PRESETS_DRAWN
from pages.parts.controls.url_state import all_told, fields_on_screen, page_fields, page_text
from pages.parts.controls.widgets import Drawing
from pages.parts.shell.streamlit_internals import uninterrupted

UNCHANGED = "Sigma does not change within so few epochs: train longer to see it fall."
NOTHING = "Nothing to show yet: some settings conflict (see the message in red)."
LAST = "These settings conflict; the charts still show the last valid ones."
GOOD = "last_good_setting"
EITHER = {"batch": SAMPLING, "steps": LENGTH}  # quantities that another may stand in for


def setting_in(column: Any, beside: Any, solved: str = "") -> ChosenSetting:
    """Draw the fields and the schedule's chart in a column; return their setting.

    The field that a page solves for is folded, since it does not change the answer. Values that
    do not go together are a fault at their field, and the page stays with the last setting whose
    values did; without one it stops.
    """
    fields = page_fields()
    try:
        setting = setting_of(fields)
        st.session_state[GOOD] = setting
    except ValueError:
        setting = st.session_state.get(GOOD)
        beside.caption(NOTHING if setting is None else LAST)
    with column:
        with st.container(gap="xsmall"):
            _draw(fields, solved)
        if setting is None:
            all_told()
            st.stop()
        schedule_chart(setting.mechanism, setting.schedule)
    return setting


def setting_on_screen() -> ChosenSetting | None:
    """The setting as the browser shows it; None if its values conflict. For a callback."""
    try:
        return setting_of(fields_on_screen())
    except ValueError:
        return None


def _draw(fields: Fields, solved: str) -> None:
    drawing = Drawing(fields, read=_read)
    drawing.draw("n")
    last = "batch" if solved == "q" else solved
    for name in ("batch", "sigma", "steps"):
        if name != last:
            _draw_quantity(drawing, name)
    drawing.draw("delta")
    rest = st.container(gap="xsmall")
    title = "Schedule, clipping, optimizer"
    if last:
        rest.markdown(f"**{solved}** is being solved.")
        title = f"Your present {solved}, schedule, clipping, optimizer"
    with rest, st.expander(title, expanded=drawing.opened("schedule_open")):
        if last:
            st.caption("The mark “now” on the map.")
            _draw_quantity(drawing, last)
        drawing.draw_rest()
    drawing.say_problem()
    preset_choice()


def _draw_quantity(drawing: Drawing, name: str) -> None:
    if name in EITHER:
        drawing.draw_either(EITHER[name])
    else:
        drawing.draw(name)


def _read(fields: Fields) -> None:
    """Read the fields as far as they go together."""
    with suppress(ValueError):
        setting_of(fields)


def schedule_chart(mechanism: Mechanism | None, schedule: str) -> None:
    """Draw sigma over the epochs, where it changes."""
    if schedule == "constant" or mechanism is None:
        return
    figure = schedule_figure(mechanism)
    still_chart(figure, key="schedule_chart", alt=schedule_alt(mechanism))
    if len(mechanism.releases) == 1:
        st.caption(UNCHANGED)


def preset_choice() -> None:
    """Draw the choice of settings to start from; once the fields are drawn."""
    found = _preset_of_fields()
    if st.session_state.get(PRESET) != found:
        presets.choose(found)
    titles = [presets.CUSTOM, *presets.PRESETS]
    key = _preset_key()
    st.selectbox(
        "Start from",
        titles,
        index=titles.index(found),
        key=key,
        on_change=_fill_in,
        args=(key,),
    )
    if found in presets.PRESETS:
        st.caption(f"Source: {linked(presets.PRESETS[found]['source'])}.")


def _preset_of_fields() -> str:
    """The preset that the fields match, or the custom entry."""
    asked = (*presets.FIELDS, SAMPLING.key, LENGTH.key)
    texts = {key: page_text(key, "") for key in asked}
    if texts[SAMPLING.key] != "batch" or texts[LENGTH.key] != "epochs":
        return presets.CUSTOM
    texts["rate"] = page_text(f"rate_{texts[SCHEDULE.key]}", "")
    return presets.current(texts, st.session_state.get(PRESET, presets.CUSTOM))


@uninterrupted
def _fill_in(key: str) -> None:
    """Fill in the chosen preset, unless a change made another widget meanwhile."""
    if key == _preset_key():
        presets.apply(st.session_state[key])


def _preset_key() -> str:
    return f"{PRESET}_{st.session_state.get(PRESETS_DRAWN, 0)}"


def sampler_choice(n: int) -> str:
    """Draw the choice of the sampler; return its id with its numbers."""
    fields = page_fields()
    sampler = controls.sampler_in(fields, n)
    Drawing(fields).draw_rest()
    return sampler


def counting_mistakes(q: float) -> None:
    """Draw notes on common mistakes with any sampler, behind a button."""
    with st.popover("Common mistakes", type="tertiary", icon=":material/warning:", key="mistakes"):
        for note in counting_notes(q):
            st.markdown(f"- {note}")
