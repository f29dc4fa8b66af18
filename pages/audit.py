"""Does a trainer keep what it claims? It is trained again with eyes on every step, and its claim is put to the test."""

import streamlit as st

from dpcore.runs.kinds import AUDIT
from pages.parts.audit import shown_audit
from pages.parts.audit.earlier_audits import earlier_audits
from pages.parts.audit.request_form import request_form
from pages.parts.audit.watching import watch
from pages.parts.layout import page_columns
from pages.parts.train.run_store import run_store

NOTHING = (
    "Nothing is audited yet: press Audit, and the trainer is put to the test here. Ours should pass; each of the "
    "broken ones should fail."
)
MOVED_ON = "The controls say something else than what is shown below: audit again to see that."

left, right = page_columns("Does the trainer keep what it claims?")

store, past, _ = run_store(right, AUDIT.name)
with right:
    shown = shown_audit.shown(store) if store else None
with left:
    start = st.container(key="start", gap="xsmall")
    with st.container(key="form", gap="xsmall"):
        asked = request_form(store)
with right:
    earlier_audits(past, shown)
with left, start:
    shown_audit.audit_button(asked, store, past)
with right:
    if store and shown:
        if asked.request and shown.settings != asked.request.to_json():
            st.caption(MOVED_ON)
        watch(store, shown)
    elif store:
        st.info(NOTHING)
