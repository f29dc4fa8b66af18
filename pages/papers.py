"""What do the papers claim, and what holds? Their numbers recomputed, each with a verdict; their figures redrawn."""

import streamlit as st

from pages.parts.calibrate.question import move_on
from pages.parts.components.elements import follow_links
from pages.parts.layout import page_columns
from pages.parts.papers import computed
from pages.parts.papers.choices import chosen_outcomes, chosen_paper
from pages.parts.papers.figures import show_figures
from pages.parts.papers.head import show_calculators, show_experiments, show_findings, show_head, show_remarks
from pages.parts.papers.opening import open_link
from pages.parts.papers.tables import numbers_download, show_numbers
from pages.parts.papers.trainings import show_trainings
from pages.parts.results.exports import address

left, right = page_columns("What do the papers claim, and what holds?")
move_on()
follow_links(open_link)

with left:
    paper = chosen_paper()
    outcomes = chosen_outcomes()
    saved = st.container()

with right:
    show_head(paper)
    findings, figures, table, rest = (st.container() for _ in range(4))
    with findings:
        show_findings(paper)
    with figures:
        show_figures(paper, address())
    found = [each for each in computed.numbers(paper) if each.outcome in outcomes]
    with table:
        if paper.entries:
            show_numbers(found)
    with rest:
        show_trainings(paper)
        show_experiments(paper)
        show_calculators(paper)
        show_remarks(paper)

if paper.entries:
    with saved:
        numbers_download(paper.id, lambda: computed.numbers(paper), address())
