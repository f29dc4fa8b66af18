"""Does a claimed epsilon hold? Its numbers typed or pasted, a verdict with its certificate, a sentence for a review."""

import streamlit as st

from dpcore.runs.in_words import escaped
from pages.parts.check.entered import entered_claim, show_examples
from pages.parts.check.verdict_card import show_verdict
from pages.parts.layout import page_columns

NOTHING = "Type or paste what a paper, a model card or a training log claims, or open one of the printed claims below."

left, right = page_columns("Does a claimed epsilon hold?")

with left:
    entered = entered_claim()
with right:
    if entered.problem:
        st.error(escaped(entered.problem))
    elif entered.empty:
        st.info(NOTHING)
    else:
        show_verdict(entered.claim, entered.read, entered.text)
    show_examples()
