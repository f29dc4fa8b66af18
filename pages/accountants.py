"""The lab. Sliders in, epsilon of every accountant out, each judged by the certified band; and below, what it buys."""

import streamlit as st

from dpcore.figures import gaussian_line, profile_figure, tradeoff_figure
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.cautions import delta_warning
from pages.parts.controls.choice import accountant_pills, choice_of
from pages.parts.controls.number import show
from pages.parts.explain.lesson_panel import lesson_menu, lesson_panel
from pages.parts.explain.odds import alternative
from pages.parts.explain.visitor import on_screen, visitor_line
from pages.parts.lab.chart import View, first_chart, lab_chart
from pages.parts.lab.start import start_button
from pages.parts.results import cache, chart_texts
from pages.parts.results.attack_curves import band_and_clt
from pages.parts.results.downloads import curves_download, curves_table, tradeoff_table
from pages.parts.results.statement_card import card
from pages.parts.results.verdict_table import epsilon_sentence, verdict_table, why_they_differ
from pages.parts.shell.layout import SMALL, page_columns
from pages.parts.shell.menu import link
from pages.parts.train import run_picker
from pages.parts.train.form import last_good, settings_form
from pages.parts.train.run_store import run_store

left, right = page_columns("What does privacy cost, and what does it buy?")

with right:
    lesson_menu()
    lesson_panel()
    told = st.container(key="told", gap="xsmall")
    large, small = st.container(key="pictures").columns([5, 2], gap="small")
    sight = large.container(key="in_sight")
    early, chart = sight.empty(), sight.container()  # emptied, a chart would be torn down and made anew by every run
    row = st.container(horizontal=True, gap="medium", key="choices")
    shown, below = st.container(), st.container()

store, past, device = run_store(told)
with left:
    form, place = settings_form(device)
form = last_good(form, told)
mechanism, delta = form.mechanism, form.delta
chosen = accountant_pills(row.container(width="content"))
against = choice_of(row, "Against", ("epoch", "delta"), "against")
across = choice_of(row, "Accuracy against", ("epoch", "epsilon"), "x")
log = choice_of(row, "Scale", ("linear", "log"), "scale") == "log"
with shown:
    ids = run_picker.choose(past, store)

names = [name for name in ACCOUNTANTS if name in chosen or name == CERTIFIED] if mechanism else []
with told:
    on_screen("accountants")
    certain, meant = st.empty(), st.empty()
if mechanism and cache.slow(mechanism, delta):  # the cheap curves are there at once, the band follows
    first_chart(form, names, early, log=log)
    certain.caption(chart_texts.COMING)
curves = {name: cache.curve(name, mechanism, delta) for name in names}
certain.markdown(epsilon_sentence(curves[CERTIFIED], form.after, show(delta)) if mechanism else form.unaccounted)
if warning := delta_warning(delta, form.n):
    told.warning(warning)
early.empty()
with chart:
    if against == "epoch":
        lab_chart(form, curves, store, ids, View(log, across))
    else:
        profiles = {name: cache.profile(name, mechanism) for name in names}
        st.plotly_chart(profile_figure(profiles, log=log), key="profile_chart", alt=chart_texts.ALT_PROFILE)
with left, place:
    start_button(form, store, past)
if mechanism:
    with small:
        mu, band = cache.mu(mechanism), cache.band(mechanism)
        figure = tradeoff_figure(band, [gaussian_line(mu)], height=250)
        st.plotly_chart(figure, key="tradeoff_chart", config=SMALL, alt=chart_texts.ALT_TRADEOFF)
        link("pages/tradeoff.py", "What can an attacker do?")
        st.caption(chart_texts.NO_BAND if band.empty else chart_texts.TRADEOFF)
        visitor_line(found := cache.risks(mechanism, delta))
    meant.markdown(f"Of {alternative(found)}")
    with below:
        st.html(verdict_table(curves))
        st.markdown(why_they_differ())
        curves_table(mechanism, curves)
        tradeoff_table(band_and_clt(band, mu), "The numbers in the trade-off chart")
        curves_download(mechanism, delta, against)
        card(mechanism, curves[CERTIFIED], CERTIFIED, form.n, "statement_card")

run_picker.started_is_seen()
