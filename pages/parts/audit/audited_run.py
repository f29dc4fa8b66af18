"""The recorded run whose settings are audited: an address, or a link of another page, may name it."""

import streamlit as st

AUDITED = "audited"  # in the session, and in the address
OWN_SETTINGS = "here"  # the settings of the controls


def take_settings_of(run: str) -> None:
    """Have the form that comes next choose the settings of this run."""
    st.session_state[AUDITED] = run
