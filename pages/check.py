"""Does a claimed epsilon hold?

Enter a claim; read its verdict, its proof and a sentence for a review.
"""

import streamlit as st

from dpcore.claims.worked import EXAMPLES
from dpcore.runs.plain_text import escaped
from pages.parts.check.entered import entered_claim, show_examples, show_offers
from pages.parts.check.verdict_card import show_card, show_read, show_review, verdict_on
from pages.parts.layout import page_columns

NOTHING = (
    "Type or paste the claim of a paper, a model card or a training log, or try a published claim."
)
SHOWN = next(each for each in EXAMPLES if each.name == "clt")  # before the first entry

left, right = page_columns("Does a claimed epsilon hold?")

with left:
    entered = entered_claim()
with right:
    verdict = None
    with st.container(key="answer"):
        if entered.problem:
            st.error(escaped(entered.problem))
        elif entered.empty:
            st.markdown(NOTHING)
            st.html(f"<h2 class=part>An example: {SHOWN.title}</h2>")
            show_card(verdict_on(SHOWN.claim))
        else:
            verdict = verdict_on(entered.claim)
            show_card(verdict)
    if entered.read:
        show_read(entered.read, entered.text)
        show_offers(entered.read)
    if verdict:
        show_review(verdict)
    show_examples()
