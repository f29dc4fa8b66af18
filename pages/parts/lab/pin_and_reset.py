"""Keep the settings as they are on the chart, or begin anew."""

import streamlit as st

from pages.parts.controls.mechanism import Setting
from pages.parts.explain.lesson_panel import start_over
from pages.parts.results.pinned_setting import pin_controls, pinned_setting
from pages.parts.train.form import Form


def pin_and_reset(form: Form) -> Setting | None:
    """Draw the buttons; the setting that is pinned."""
    row = st.container(horizontal=True, gap="small", key="keep")
    with row:
        pinned = pin_controls(form.pinnable) if form.pinnable else pinned_setting()
    row.button("Reset", type="tertiary", on_click=start_over, key="reset")
    return pinned
