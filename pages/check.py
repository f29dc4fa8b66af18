"""Does a claimed epsilon hold?

Enter a claim; read its verdict, its proof and a sentence for a review.
"""

import streamlit as st

from dpcore.claims import ClaimVerdict
from dpcore.claims.certificate import certificate_of
from dpcore.claims.reading import Read
from dpcore.claims.vocabulary import REASONS
from dpcore.claims.worked import EXAMPLES
from dpcore.runs.plain_text import escaped
from pages.parts.check.claim_fields import label_of
from pages.parts.check.entered import Entered, entered_claim, pasted_text, show_examples
from pages.parts.check.examples import name_of
from pages.parts.check.marked_text import show_text
from pages.parts.check.several_runs import name_of_run, show_runs
from pages.parts.check.verdict_card import show_card, show_review, verdict_on
from pages.parts.layout import page_frame

SHOWN = next(each for each in EXAMPLES if each.name == "clt")  # before the first entry
NOTHING = (
    "No value of a claim stands in this text beside its name. Paste the lines that state epsilon,"
    " delta, the noise, the batches and the steps{}."
)
SEVERAL = (
    "The text may speak of several trainings, corrects or contradicts itself, or says no whole one:"
    " press below what holds."
)
LEFT_OUT = "Left out until there is a value in its field: {names}."
UNSETTLED = tuple(REASONS[name] for name in ("several", "taken_back", "incomplete", "clash"))
ASK = ", or press a framed number below and say what it is"
TYPE = ", or type the values below"


def show_answer(entered: Entered) -> ClaimVerdict | None:
    """Draw the verdicts on all runs and on the open one; return that."""
    several = len(entered.runs) > 1
    if several:
        told = [each.told for each in entered.runs]
        verdicts = [verdict_on(*each) for each in zip(entered.claims(), told, strict=True)]
        show_runs(entered, verdicts)
    if entered.problem:
        st.error(escaped(entered.problem))
        return None
    if entered.left_out:
        names = ", ".join(map(label_of, entered.left_out))
        st.html(f"<p class=legend>{LEFT_OUT.format(names=names)}</p>")
    if entered.empty:
        st.html(f"<p class=legend>An example. {name_of(SHOWN)}</p>")
        show_card(verdict_on(SHOWN.claim))
        return None
    if entered.says_nothing and entered.read:
        st.info(_why_nothing(entered.read))
        return None
    verdict = verdict_on(entered.claim, entered.told)
    run = name_of_run(entered.runs[entered.opened], entered.opened) if several else ""
    show_card(verdict, entered.by_hand, run)
    return verdict


def _why_nothing(found: Read) -> str:
    """Why nothing was taken from a text, and what to do."""
    if any(each.why in UNSETTLED for each in found.passed):
        return SEVERAL
    numbers = any(not each.field for each in found.passed)
    return NOTHING.format(ASK if numbers else TYPE)


with page_frame("Does a claimed epsilon hold?"), st.container(key="claim"):
    text = pasted_text()
    answer = st.container(key="claim_answer")
    entered = entered_claim(text)
    with answer:
        verdict = show_answer(entered)
        if entered.read:
            show_text(entered)
    if verdict:
        show_review(verdict, certificate_of(verdict, entered.by_hand, entered.told))
    show_examples()
