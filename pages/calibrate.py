"""The Calibrate page: the sigma, steps, batch or q that keeps a target, by every accountant."""

import streamlit as st

from pages.parts.calibrate import answers, question
from pages.parts.calibrate.epsilon_map import Shown, show_map
from pages.parts.controls.fields import labelled
from pages.parts.controls.setting_form import (
    counting_mistakes,
    sampler_choice,
    setting_in,
    setting_on_screen,
)
from pages.parts.layout import page_columns
from pages.parts.page_change import move_on
from pages.parts.results import cache
from pages.parts.results.exports import address, origin_of_any
from pages.parts.results.pinned_setting import difference, pin_controls
from pages.parts.results.tables import card

left, right = page_columns("Which noise fits my budget?")
move_on()

with left:  # the question comes first
    asking = st.container(key="question", gap="xsmall")
with right:
    result = st.container()
    map_ = st.container(key="answer")
    below = st.container()
with asking:
    solved = question.solved_choice()
setting = setting_in(left, right, solved)
delta = setting.delta
with left:
    rest = st.container(gap="xsmall")
    with rest:
        by = question.counted_by()
    sampler = sampler_choice(setting.n)
    counting_mistakes(setting.q)
    pinned = pin_controls(setting, setting_on_screen)

asked = found = target = None
with asking:
    try:
        target = question.target_controls(delta, rest)
    except ValueError as error:
        st.error(labelled(str(error), question.MU), icon=":material/edit:")
with result:
    if target is None:
        st.info(question.NO_TARGET)
    else:
        asked = question.asked_of(solved, target, setting)
        found = question.settable(asked, by)
        answers.show_sampled(sampler, asked, setting, found)
    if isinstance(found, str):
        st.error(found)
    elif found is not None and asked is not None:
        answers.show_answer(found, asked, setting, by, sampler)
with map_:  # before the tables, which ask every accountant: the map follows the slider
    st.subheader("Epsilon over sigma and epochs", anchor=False)
    if pinned:
        st.markdown(difference(pinned, setting))
    show_map(Shown(setting, solved, target, by, pinned))
with below:
    if asked is not None:
        answers.show_answers(asked, by, origin_of_any(setting, address()))
    if found is not None and not isinstance(found, str):
        card(found.mechanism, cache.final(by, found.mechanism, delta), by, setting.n)
    answers.show_less_noise(setting)
