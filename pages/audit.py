"""Does a trainer keep what it claims? It is trained again with eyes on every step, and its claim is put to the test."""

import streamlit as st

from dpcore.runs.kinds import AUDIT
from pages.parts.audit.panel import SHOWN, audit_button, audit_line, follow, request_form, settings_taken
from pages.parts.jobs import job_store
from pages.parts.layout import page_columns

NOTHING = (
    "Nothing is audited yet: press Audit, and the trainer is put to the test here. Ours should pass; each of the "
    "broken ones should fail."
)
MOVED_ON = "The controls say something else than what is shown below: audit again to see that."

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
    audit_button(asked, store, past)
with right:
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption(MOVED_ON)
        follow(store, shown)
    elif store:
        st.info(NOTHING)
