"""How much privacy do I spend? Sliders in, epsilon of every accountant out, each judged by the certified band."""

import streamlit as st

from dpcore.figures import (
    charted,
    curves_figure,
    epochs_at,
    gaussian_line,
    profile_figure,
    tradeoff_figure,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.cautions import delta_warning
from pages.parts.controls.choice import accountant_pills, choice_of
from pages.parts.controls.mechanism import setting_in
from pages.parts.controls.number import show
from pages.parts.explain.lesson_panel import lesson_menu, lesson_panel
from pages.parts.explain.visitor import on_screen, visitor_line
from pages.parts.results import cache, chart_texts
from pages.parts.results.attack_curves import band_and_clt
from pages.parts.results.downloads import curves_download, curves_table, tradeoff_table
from pages.parts.results.statement_card import card
from pages.parts.results.verdict_table import epsilon_sentence, verdict_table, why_they_differ
from pages.parts.shell.layout import SMALL, page_columns
from pages.parts.shell.menu import link

left, right = page_columns("How much privacy do I spend?")

with right:
    lesson_menu()
    lesson_panel()
setting = setting_in(left, right)
mechanism, delta = setting.mechanism, setting.delta

with right:
    row = st.container(horizontal=True, gap="medium", key="choices")
    chosen = accountant_pills(row.container(width="content"))
    across = choice_of(row, "Against", ("epoch", "delta"), "against")
    log = choice_of(row, "Scale", ("linear", "log"), "scale") == "log"

    on_screen("accountants")
    certain, meant, warned = st.empty(), st.empty(), st.container()
    large, small = st.columns([5, 2], gap="small")
    chart = large.empty()
    names = [name for name in ACCOUNTANTS if name in chosen or name == CERTIFIED]
    if cache.slow(mechanism, delta):  # the cheap curves are there at once, the band follows
        cheap = {name: cache.curve(name, mechanism, delta) for name in names if name != CERTIFIED}
        figure = curves_figure(cheap, epochs_at(mechanism, charted(mechanism)), log=log)
        chart.plotly_chart(figure, key="first_chart", alt=chart_texts.ALT_EPSILON)
        certain.caption(chart_texts.COMING)
    curves = {name: cache.curve(name, mechanism, delta) for name in names}
    certain.markdown(epsilon_sentence(curves[CERTIFIED], setting.after, show(delta)))
    if warning := delta_warning(delta, setting.n):
        warned.warning(warning)
    if across == "epoch":
        figure = curves_figure(curves, epochs_at(mechanism, charted(mechanism)), log=log)
        chart.plotly_chart(figure, key="epsilon_chart", alt=chart_texts.ALT_EPSILON)
    else:
        profiles = {name: cache.profile(name, mechanism) for name in names}
        chart.plotly_chart(profile_figure(profiles, log=log), key="profile_chart", alt=chart_texts.ALT_PROFILE)
    st.html(verdict_table(curves))
    st.markdown(why_they_differ())
    curves_table(mechanism, curves)
    curves_download(mechanism, delta, across)
    card(mechanism, curves[CERTIFIED], CERTIFIED, setting.n, "statement_card")
    with small:  # last, so that the chart beside it is not kept waiting
        mu, band = cache.mu(mechanism), cache.band(mechanism)
        figure = tradeoff_figure(band, [gaussian_line(mu)])
        st.plotly_chart(figure, key="tradeoff_chart", config=SMALL, alt=chart_texts.ALT_TRADEOFF)
        link("pages/tradeoff.py", "What can an attacker do?")
        meaning = chart_texts.NO_BAND if band.empty else chart_texts.TRADEOFF
        st.caption(meaning)
        tradeoff_table(band_and_clt(band, mu), "The numbers in this chart")
    with meant:
        visitor_line(cache.risks(mechanism, delta))
