"""How much privacy do I spend? Sliders in, epsilon of every accountant out, each judged by the certified band."""

import streamlit as st

from dpcore.figures import curves_figure, epochs_at, horizons, schedule_figure
from dpcore.figures.style import BAND_ID, DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts import compute, words
from pages.parts.frame import frame
from pages.parts.settings import mechanism_controls

frame("How much privacy do I spend?")
left, right = st.columns([1, 3], gap="medium")

with left:
    try:
        setting = mechanism_controls()
    except ValueError as error:
        right.error(str(error))
        st.stop()

with right:
    choice, view = st.columns([3, 1])
    chosen = choice.pills(
        "Accountants, over the certified band",
        [name for name in ACCOUNTANTS if name != BAND_ID],
        selection_mode="multi",
        default=[name for name in DEFAULT_ACCOUNTANTS if name in ACCOUNTANTS],
        key="accountants",
        bind="query-params",
        persist_state="session",
    )
    names = [name for name in ACCOUNTANTS if name in chosen or name == BAND_ID]
    curves = {name: compute.curve(name, setting.mechanism, setting.delta) for name in names}
    epochs = epochs_at(setting.mechanism, horizons(setting.mechanism))
    st.plotly_chart(curves_figure(curves, epochs), key="epsilon_chart", alt=words.ALT_EPSILON)
    if setting.schedule != "constant":
        st.plotly_chart(schedule_figure(setting.mechanism), key="schedule_chart", alt=words.ALT_SCHEDULE)
    st.markdown(words.WHY)
