"""The privacy statement of what is shown, to be copied as text or as Markdown."""

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.statement import statement
from pages.parts.results import cache

FORMS = ("text", "Markdown")


def card(
    mechanism: Mechanism,
    curve: Curve,
    accountant: str,
    n: float,
    key: str,
    *,
    ends: bool = False,
    seed: int | None = None,
) -> None:
    """An expander, shut at first, that costs nothing until it is opened.

    `curve` is the accountant's, its last point that of the whole mechanism; `n` is the number of training examples;
    `ends` says that the mechanism is not over yet; `seed` is that of a run whose seed is fixed.
    """
    box = st.expander("Privacy statement, to copy", icon=":material/description:", key=key, on_change="rerun")
    if not box.open:
        return
    found = cache.risks(mechanism, float(curve.delta[-1]))
    made = statement(mechanism, curve, ACCOUNTANTS[accountant], found, n, seed)
    with box:
        form = st.segmented_control(
            "Copy as",
            FORMS,
            default=FORMS[0],
            required=True,
            key="statement",
            bind="query-params",
            persist_state="session",
        )
        text = made.text() if form == "text" else made.markdown()
        st.code(text.strip(), language=None, wrap_lines=True)
        when = "This is what holds at the end of the run. " if ends else ""
        st.caption(f"{when}The button in the upper right corner of the box copies it.")
