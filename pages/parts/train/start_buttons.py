"""The buttons of the training page: a private run, and the non-private one beside it."""

import streamlit as st

from dpcore.privacy.report.glossary import help_on
from dpcore.runs.store import Store
from pages.parts.train import run_picker
from pages.parts.train.form import Form, baseline_of

BASELINE_HELP = help_on("baseline")


def start_buttons(form: Form, store: Store) -> None:
    """Draw the buttons, or why nothing can be trained."""
    started = {"on_click": run_picker.start, "width": "stretch", "disabled": not form.configs}
    baselines = [baseline_of(config) for config in form.configs]
    st.button("Start private run", type="primary", args=(store, form.configs), **started)
    st.button("Start non-private baseline", args=(store, baselines), help=BASELINE_HELP, **started)
    if form.obstacle and not form.problem:
        (st.error if form.data.here else st.info)(form.obstacle)
