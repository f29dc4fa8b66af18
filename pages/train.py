"""Train a private model and watch it: form, estimate, run, and its accuracy and epsilon while they happen."""

import streamlit as st

from dpcore.privacy.report.glossary import help_on
from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import StoreError, device_here
from pages.parts.controls.choice import accountant_choice, choice_of
from pages.parts.shell.layout import page_columns
from pages.parts.train import run_picker
from pages.parts.train.estimate import estimate
from pages.parts.train.form import baseline_of, config_form
from pages.parts.train.live import watch

left, right = page_columns("Train a private model and watch it")

try:
    pool = ensure_pool()
    past = pool.store.runs()
except StoreError as error:
    st.error(str(error))
    st.stop()
if pool.trouble:
    right.warning(pool.trouble)

with left:
    try:
        configs = config_form(device_here(pool.store.home))
    except (ValueError, RuntimeError) as error:  # RuntimeError: the accountant to stop by has no answer
        st.error(str(error))
        st.button("Start private run", type="primary", disabled=True, width="stretch")
    else:
        estimate(configs, past)
        started = {"on_click": run_picker.start, "width": "stretch"}
        st.button("Start private run", type="primary", args=(pool.store, configs), **started)
        st.button(
            "Start non-private baseline",
            args=(pool.store, [baseline_of(config) for config in configs]),
            help=help_on("baseline"),
            **started,
        )

with right:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    x = choice_of(row, "Accuracy against", ("epoch", "epsilon"), "x")
    with row.container(width=250):
        accountant = accountant_choice("Epsilon by", "by")
    ids = run_picker.choose(past, pool.store)
    if ids:
        watch(pool.store, ids, accountant, x)
    else:
        st.info("No run is shown. Choose settings and press start, or pick a run above: its accuracy arrives here.")

run_picker.started_is_seen()
