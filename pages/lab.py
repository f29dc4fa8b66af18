"""The lab.

Sliders in; out come what the network learns, what it keeps secret, and the epsilon of every
accountant, each judged by the certified band.
"""

from functools import partial

import streamlit as st

from dpcore.figures import profile_figure
from dpcore.figures.alt_texts import profile_alt
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.training.slider_stops import show
from pages.parts.controls.setting_form import counting_mistakes
from pages.parts.controls.widgets import accountant_pills, choice_of
from pages.parts.explain.lesson_panel import lesson_menu, lesson_panel, offer_runs, start_over
from pages.parts.jobs import job_store, with_followed
from pages.parts.lab import (
    RECIPES,
    Shown,
    attack_beside,
    draw_statuses,
    first_chart,
    gradients,
    lab_chart,
    numbers_below,
)
from pages.parts.lab_file import lab_file_button
from pages.parts.layout import page_columns
from pages.parts.results import cache, odds, sampled
from pages.parts.results.exports import address, origin_of
from pages.parts.results.pinned_setting import (
    difference,
    ghost_over_delta,
    ghost_over_epochs,
    pin_controls,
    pinned_setting,
)
from pages.parts.results.tables import epsilon_sentence
from pages.parts.step import noise_beside
from pages.parts.train import run_picker
from pages.parts.train.buttons import baseline_button, start_button
from pages.parts.train.live import draw_apart
from pages.parts.train.settings_form import form_on_screen, last_good, settings_form

QUESTION = "Can a network learn from people's digits without giving any one of them away?"

left, right = page_columns(QUESTION)

with right:
    lesson_menu()
    beside_lesson = lesson_panel()
    notes = st.container(key="notes", gap="xsmall")
    # Emptied, a chart would be torn down and made anew by every run.
    early = st.empty()
    picture = st.container(key="hero", gap="xsmall")
    st.toggle("Show the numbers and the rest", key="whole_page")  # a phone alone asks for them
    rest = st.container(key="rest")
with rest:
    row = st.container(horizontal=True, gap="small", key="choices", vertical_alignment="center")
    certain_place = st.container()
    shown = st.container()
    below = st.container()

store, past, device = job_store(notes)
offer_runs(beside_lesson, store)
with left:
    form, places = settings_form(device)
on_screen = partial(form_on_screen, device)
pinned = pinned_setting()
with places.keep:
    if form.pinnable:
        pinned = pin_controls(form.pinnable, lambda: on_screen().pinnable)
    st.button("Reset", type="tertiary", on_click=start_over, key="reset")
form = last_good(form, notes)
mechanism = form.mechanism
delta = form.delta
if mechanism:
    with places.keep:
        counting_mistakes(form.q)
with row.popover("Chart options", icon=":material/tune:", key="chart_options"):
    against = choice_of(st, "Epsilon against", ("epoch", "delta"), "against")
    across = choice_of(st, "Accuracy against", ("epoch", "epsilon", RECIPES), "x")
    log = choice_of(st, "Scale", ("log", "linear"), "scale") == "log"
    chosen = accountant_pills()
with shown:
    ids = run_picker.choose(with_followed(store, past), store)

names = []
other_sampler = False  # with numbers of its own
if mechanism:
    names = [name for name in ACCOUNTANTS if name in chosen or name == CERTIFIED]
    other_sampler = sampled.answers(form.sampler, mechanism)
# First the cheap ones.
if mechanism and (cache.slow(mechanism, delta) or sampled.takes_long(form.sampler, mechanism)):
    with early.container():
        first_chart(form, names, log=log)
curves = {name: cache.curve(name, mechanism, delta) for name in names}
certain = form.unaccounted
risks = None
others = None
if mechanism:
    with notes:  # the range itself stands above the ruler
        spent = curves[CERTIFIED].last
        sampled.say_sampled(form.sampler, mechanism, delta, spent, rest=certain_place)
    certain = epsilon_sentence(curves[CERTIFIED], show(delta), apart=other_sampler)
    if pinned and form.pinnable:
        certain = f"{certain} {difference(pinned, form.pinnable)}"
    risks = sampled.risks_with(form.sampler, mechanism, delta)
    others = sampled.sampled_of(form.sampler, mechanism, delta)
certain_place.markdown(certain)
early.empty()
charts = Shown(form, curves, store, tuple(ids), risks, log, across, otherwise=others)
if against == "delta":
    ghost = ghost_over_delta(pinned) if pinned else None
    profiles = {name: cache.profile(name, mechanism) for name in names} if mechanism else {}
    other_profile = sampled.sampled_profile_of(form.sampler, mechanism) if mechanism else None
    figure = profile_figure(profiles, other_profile, log=log, ghost=ghost)
    origin = origin_of(mechanism, delta, form.n, address()) if mechanism else None
    alt = profile_alt(profiles, other_profile)
    profile = (figure, "profile_chart", alt, "Privacy profile", origin)
    charts = charts._replace(profile=profile)
elif pinned:
    charts = charts._replace(ghost=ghost_over_epochs(pinned))
with picture:
    going_on = lab_chart(charts)
with left, places.start:
    start_button(form, store, past, on_screen, places.end)
with left, places.status:
    draw_apart(store, ids, partial(draw_statuses, store, going_on))
with left, places.end:
    baseline_button(form, store, on_screen)
with left, places.beside_sigma:
    noise_beside(form)
with certain_place:
    odds.on_screen("lab")
with below:
    if mechanism:
        sampled.say_more(form.sampler, mechanism, delta)
        if other_sampler:
            st.caption("For Poisson batches:")
        attack_beside(mechanism, origin_of(mechanism, delta, form.n, address()))
    gradients(form, store, ids)
    if mechanism:
        numbers_below(mechanism, curves, delta, form.n, against)
    lab_file_button(form.data.dataset)
