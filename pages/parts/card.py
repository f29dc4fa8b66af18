"""The privacy statement of what is shown, to be copied as text or as Markdown."""

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.statement import statement
from pages.parts import compute
from pages.parts.settings import choice_of

FORMS = ("text", "Markdown")


def card(mechanism: Mechanism, curve: Curve, accountant: str, n: float, key: str) -> None:
    """An expander, shut at first, that costs nothing until it is opened.

    `curve` is the accountant's, its last point that of the whole mechanism; `n` is the number of training examples.
    """
    box = st.expander("Privacy statement, to copy", icon=":material/description:", key=key, on_change="rerun")
    if not box.open:
        return
    found = compute.risks(mechanism, float(curve.delta[-1]))
    made = statement(mechanism, curve, ACCOUNTANTS[accountant], found, n)
    with box:
        form = choice_of(st, "Copy as", FORMS, "statement")
        text = made.text() if form == "text" else made.markdown()
        st.code(text.strip(), language=None, wrap_lines=True)
        st.caption("The button in the upper right corner of the box copies it.")
