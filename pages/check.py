"""Does a claimed epsilon hold?

Enter a claim; read its verdict, its proof and a sentence for a review.
"""

import streamlit as st

from dpcore.claims.worked import EXAMPLES
from dpcore.runs.plain_text import escaped
from pages.parts.check.entered import entered_claim, pasted_text, show_examples, show_offers
from pages.parts.check.examples import name_of
from pages.parts.check.verdict_card import show_card, show_read, show_review, verdict_on
from pages.parts.layout import page_frame

SHOWN = next(each for each in EXAMPLES if each.name == "clt")  # before the first entry

with page_frame("Does a claimed epsilon hold?"), st.container(key="claim"):
    text = pasted_text()
    answer = st.container(key="claim_answer")
    entered = entered_claim(text)
    verdict = None
    with answer:
        if entered.problem:
            st.error(escaped(entered.problem))
        elif entered.empty:
            st.html(f"<p class=legend>An example. {name_of(SHOWN)}</p>")
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
