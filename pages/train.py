"""Train a private model and watch it: settings, what to expect, and accuracy and epsilon while they happen."""

import streamlit as st

from pages.parts.controls.widgets import accountant_choice, choice_of
from pages.parts.jobs import job_store
from pages.parts.layout import page_columns
from pages.parts.train import run_picker
from pages.parts.train.buttons import start_buttons
from pages.parts.train.estimate import estimate, expected
from pages.parts.train.live import watch
from pages.parts.train.settings_form import last_good, settings_form

left, right = page_columns("Train a private model and watch it")

store, past, device = job_store(right)
if store is None:
    st.stop()
with left:
    form, place, _ = settings_form(device, lab=False)
with right:
    form = last_good(form, st)
with left, place:
    start_buttons(form, store)
with right:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    x = choice_of(row, "Accuracy against", ("epoch", "epsilon"), "x")
    with row.container(width=250):
        accountant = accountant_choice("Epsilon by", "by")
    ids = run_picker.choose(past, store)
    if ids:
        watch(store, ids, accountant, x)
        with left:
            estimate(form.configs, store)
    else:
        expected(form, store)
