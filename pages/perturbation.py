"""Where can the noise go?

Four places in learning, what each needs to be private, and what it costs in accuracy.
"""

from functools import partial

import streamlit as st

from dpcore.privacy.report.statement import delta_warning
from dpcore.runs.kinds import PERTURBATION
from dpcore.training.perturbation.request import Request
from pages.parts.jobs import job_store
from pages.parts.layout import page_columns
from pages.parts.perturbation.before_and_after import before_and_after
from pages.parts.perturbation.conditions import chosen_place, conditions, examples_of, task_of
from pages.parts.perturbation.panel import (
    SHOWN,
    asked_on_screen,
    draw,
    line_of,
    request_form,
    show_example,
)
from pages.parts.perturbation.results import Results, finished
from pages.parts.shown_job import request_of


def fold(title: str, request: Request) -> None:
    """Draw the conditions of a request's methods, folded."""
    table = conditions(title, request)
    with st.expander(title):
        st.html(table)


left, right = page_columns("Where can the noise go?")

store, past, _ = job_store(right, PERTURBATION.name)
with left:
    start = st.container(key="start", gap="xsmall")
    with st.container(key="form", gap="xsmall"):
        asked = request_form()
        if asked.request:
            too_large = delta_warning(asked.request.delta, examples_of(asked.request))
            if too_large:
                st.warning(too_large)
with right:
    with st.container(key="answer"):
        place = chosen_place()
    shown = SHOWN.shown(store) if store else None
    shown = shown or finished(past, asked.request)
    SHOWN.choice(past, shown, line_of)
with left, start:
    SHOWN.button(store, asked, st.info, asked_on_screen)

with right:
    picked = place["methods"] if place else ()
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption(
                "The controls differ from the comparison below. Press Compare to measure their"
                " settings."
            )
        SHOWN.follow(store, shown, Results, partial(draw, picked=picked))
    else:
        show_example(picked)
    compared = request_of(shown)
    try:
        if asked.request:
            before_and_after(asked.request, task_of(asked.request))
        if compared and compared != asked.request:
            fold("Conditions of the comparison above", compared)
        if asked.request:
            fold("Which conditions hold", asked.request)
    except ValueError as error:
        st.error(str(error))
