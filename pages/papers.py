"""What do the papers claim, and what holds?

Their numbers recomputed, each with a verdict; their figures redrawn.
"""

import streamlit as st

from pages.parts.layout import page_columns
from pages.parts.page_change import move_on
from pages.parts.papers import head
from pages.parts.papers.figures import show_figures
from pages.parts.papers.opening import open_link
from pages.parts.papers.tables import chosen_outcomes, numbers, numbers_rows, show_numbers
from pages.parts.papers.trainings import show_trainings
from pages.parts.results.exports import address, csv_button

left, right = page_columns("What do the papers claim, and what holds?", open_link)
move_on()

with left:
    paper = head.chosen_paper()
    head.show_head(paper)

with right:
    link = address()
    claims = st.empty()
    with claims.container():
        head.show_claims(paper, now=False)
    if paper.entries:
        found = numbers(paper)
        st.subheader("Its numbers, and ours", anchor=False)
        outcomes = chosen_outcomes(found)
        kept = [each for each in found if not outcomes or each.outcome in outcomes]
        show_numbers(kept, whole=bool(outcomes))
        csv_button(
            "Download the numbers (CSV)",
            lambda: numbers_rows(found, link),
            f"paper-{paper.id}-numbers.csv",
            "download_numbers",
        )
    show_figures(paper, link)
    show_trainings(paper)
    head.show_experiments(paper)
    head.show_calculators(paper)
    head.show_remarks(paper)
    # Last: the answers may take a second, and everything else is drawn by then.
    with claims.container():
        head.show_claims(paper)
