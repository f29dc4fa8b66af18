"""Does a trainer keep its claimed epsilon?

An audit trains it again, watches each step, and tests the claim.
"""

from functools import partial

import streamlit as st

from dpcore.runs.kinds import AUDIT
from pages.parts.audit.panel import (
    SHOWN,
    asked_on_screen,
    audit_line,
    draw,
    invite,
    request_form,
    settings_taken,
)
from pages.parts.audit.results import WORDS, AuditResults
from pages.parts.jobs import job_store
from pages.parts.layout import page_columns

left, right = page_columns("Does the trainer keep what it claims?")

store, past, _ = job_store(right, AUDIT.name)
with right:
    shown = SHOWN.shown(store, settings_taken) if store else None
with left:
    start = st.container(key="start", gap="xsmall")
    with st.container(key="form", gap="xsmall"):
        asked = request_form(store)
with right:
    SHOWN.choice(past, shown, audit_line)
with left, start:
    SHOWN.button(store, asked, st.error, partial(asked_on_screen, store))
with right:
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption(WORDS["other_settings"])
        SHOWN.follow(store, shown, AuditResults, draw)
    elif store:
        invite(asked.request)
