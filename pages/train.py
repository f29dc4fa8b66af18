"""The page Train: every setting and measurement of one run, its resumption and its export."""

from functools import partial

import streamlit as st

from pages.parts.controls.widgets import accountant_choice, choice_of
from pages.parts.explain.lesson_panel import start_over
from pages.parts.jobs import job_store
from pages.parts.layout import page_columns
from pages.parts.runs.exporting import export_box
from pages.parts.train import run_picker
from pages.parts.train.buttons import start_buttons
from pages.parts.train.estimate import estimate, expected
from pages.parts.train.live import watch
from pages.parts.train.run_charts import WORDS
from pages.parts.train.settings_form import form_on_screen, last_good, settings_form

left, right = page_columns("Train one model: every setting, every measurement")

store, past, device = job_store(right)
if store is None:
    st.stop()
with left:
    form, place, _ = settings_form(device, lab=False)
with right:
    st.caption(WORDS["about"])
    form = last_good(form, st)
with left:
    st.button(
        "Reset",
        type="tertiary",
        on_click=start_over,
        key="reset",
        help="Sets every setting to its default.",
    )
with left, place:
    start_buttons(form, store, partial(form_on_screen, device, lab=False))
with right:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with row:
        ids = run_picker.choose(past, store)
    with row.popover("Chart options", icon=":material/tune:"):
        x = choice_of(st, "Accuracy against", ("epoch", "epsilon"), "x")
        accountant = accountant_choice("Epsilon by", "by")
    if ids:
        watch(store, ids, accountant, x, "in_sight")
        export_box(store, ids)
        with left:
            estimate(form.configs, store)
    else:
        expected(form, store)
