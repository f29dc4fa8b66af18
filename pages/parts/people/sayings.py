"""What the classroom's panel answers to the last click in it: a sentence that stays until the next one."""

import streamlit as st

SAID = "classroom_said"


def said(sentence: str) -> None:
    """Answer with a sentence, or with none where it is empty."""
    st.session_state[SAID] = sentence


def answer() -> None:
    """Draw the sentence, if there is one."""
    if sentence := st.session_state.get(SAID):
        st.warning(sentence)
