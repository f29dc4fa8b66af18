"""Where can the noise go? Four places in learning, what each needs to be private, and what it costs in accuracy."""

import streamlit as st

from dpcore.privacy.report.statement import delta_warning
from dpcore.runs.kinds import PERTURBATION
from pages.parts.jobs import job_store, request_of
from pages.parts.layout import page_columns
from pages.parts.perturbation.before_and_after import before_and_after
from pages.parts.perturbation.conditions import chosen_place, conditions, examples_of, task_of
from pages.parts.perturbation.panel import SHOWN, compare_button, follow, line_of, request_form

OF_SHOWN = "Which conditions held for what is shown above"

left, right = page_columns("Where can the noise go?")

store, past, _ = job_store(right, PERTURBATION.name)
with left:
    start = st.container(key="start", gap="xsmall")
    with st.container(key="form", gap="xsmall"):
        asked = request_form()
        if asked.request and (small := delta_warning(asked.request.delta, examples_of(asked.request))):
            st.warning(small)
with right:
    place = chosen_place()
    shown = SHOWN.shown(store) if store else None
    SHOWN.choice(past, shown, line_of)
with left, start:
    compare_button(asked, store, past)

with right:
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption("The controls say something else than what is shown below: compare again to see that.")
        follow(store, shown, place.methods if place else ())
    elif asked.request:
        st.info("Nothing is compared yet: press Compare, and the methods are drawn here as they are done.")
    compared = request_of(shown)
    try:
        if compared and compared != asked.request:
            st.html(conditions(OF_SHOWN, compared))
        if asked.request:
            st.html(conditions("Which conditions hold", asked.request))
            before_and_after(asked.request, task_of(asked.request))
    except ValueError as error:
        st.error(str(error))
