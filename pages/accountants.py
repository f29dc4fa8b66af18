"""How much privacy do I spend? Sliders in, epsilon of every accountant out, each judged by the certified band."""

import streamlit as st

from dpcore.figures import (
    curves_figure,
    epochs_at,
    horizons,
    profile_figure,
    schedule_figure,
    tradeoff_figure,
)
from dpcore.figures.style import BAND_ID, DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts import compute, words
from pages.parts.controls import keep, recall, show
from pages.parts.data import curves_table, download
from pages.parts.frame import SMALL, frame
from pages.parts.settings import choice_of, mechanism_controls
from pages.parts.verdicts import headline, verdict_table

frame("How much privacy do I spend?")
left, right = st.columns([1, 3], gap="medium")

with left:
    try:
        setting = mechanism_controls()
    except ValueError as error:
        right.error(str(error))
        st.stop()
    if setting.schedule != "constant":
        st.plotly_chart(schedule_figure(setting.mechanism), key="schedule_chart", config=SMALL, alt=words.ALT_SCHEDULE)
mechanism, delta = setting.mechanism, setting.delta

with right:
    lines, view, scale = st.columns([6, 3, 2], gap="small")
    recall("accountants", list(DEFAULT_ACCOUNTANTS))
    chosen = lines.pills(
        "Accountants, over the certified band",
        [name for name in ACCOUNTANTS if name != BAND_ID],
        selection_mode="multi",
        default=DEFAULT_ACCOUNTANTS,
        key="accountants",
        bind="query-params",
        persist_state="session",
    )
    keep("accountants", chosen)
    across = choice_of(view, "Against", ("epoch", "delta"), "against")
    log = choice_of(scale, "Scale", ("linear", "log"), "scale") == "log"

    certain = st.container()
    large, small = st.columns([5, 2], gap="small")
    chart = large.empty()
    names = [name for name in ACCOUNTANTS if name in chosen or name == BAND_ID]
    if compute.slow(mechanism):  # the cheap curves are there at once, the band follows
        cheap = {name: compute.curve(name, mechanism, delta) for name in names if name != BAND_ID}
        figure = curves_figure(cheap, epochs_at(mechanism, horizons(mechanism)), log=log)
        chart.plotly_chart(figure, key="first_chart", alt=words.ALT_EPSILON)
    curves = {name: compute.curve(name, mechanism, delta) for name in names}
    certain.markdown(headline(curves[BAND_ID], setting.epochs, mechanism.steps, show(delta)))
    if delta * setting.n >= 1:
        certain.warning(words.delta_warning(delta, setting.n))
    if across == "epoch":
        figure = curves_figure(curves, epochs_at(mechanism, horizons(mechanism)), log=log)
        chart.plotly_chart(figure, key="epsilon_chart", alt=words.ALT_EPSILON)
    else:
        profiles = {name: compute.profile(name, mechanism) for name in names}
        chart.plotly_chart(profile_figure(profiles, log=log), key="profile_chart", alt=words.ALT_PROFILE)
    st.html(verdict_table(curves))
    st.markdown(words.WHY)
    curves_table(mechanism, curves)
    download(mechanism, delta, across)
    with small:  # last, so that the chart beside it is not kept waiting
        mu, certified = compute.mu(mechanism), float(curves[BAND_ID].epsilon[-1])
        st.plotly_chart(
            tradeoff_figure(mu, certified, delta), key="tradeoff_chart", config=SMALL, alt=words.ALT_TRADEOFF
        )
        st.caption(words.TRADEOFF)
