"""Where can the noise go? Four places in learning, what each needs to be private, and what it costs in accuracy."""

import streamlit as st

from dpcore.runs.kinds import PERTURBATION
from pages.parts.perturbation import comparison
from pages.parts.perturbation.before_and_after import before_and_after
from pages.parts.perturbation.conditions import conditions_table, task_of
from pages.parts.perturbation.panel import watch
from pages.parts.perturbation.picture import chosen_place
from pages.parts.perturbation.request_form import request_form
from pages.parts.shell.layout import page_columns
from pages.parts.train.run_store import run_store

left, right = page_columns("Where can the noise go?")

store, past, _ = run_store(right, PERTURBATION.name)
with left:
    start = st.container(key="start", gap="xsmall")
    with st.container(key="form", gap="xsmall"):
        asked = request_form()
with right:
    place = chosen_place()
    shown = comparison.shown(store) if store else None
with left, start:
    comparison.compare_button(asked, store, past)

with right:
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption("The controls say something else than what is shown below: compare again to see that.")
        watch(store, shown, place.methods if place else ())
    elif asked.request:
        st.info("Nothing is compared yet: press Compare, and the methods are drawn here as they are done.")
    if asked.request:
        try:
            task = task_of(asked.request)
        except ValueError as error:
            st.error(str(error))
        else:
            st.html(f"<h2 class=part>Which conditions hold</h2>{conditions_table(asked.request, task)}")
            before_and_after(asked.request, task)
