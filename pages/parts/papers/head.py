"""What a paper brings, what it claims, and what holds of that; and what it leaves open."""

from html import escape

import streamlit as st

from dpcore.papers import Paper
from dpcore.papers.paper import Experiment
from pages.parts.explain.terms import linked
from pages.parts.papers import computed
from pages.parts.results.tables import scrolling
from pages.parts.shell import menu

EMPTY = "No number, figure or claim of this paper has been entered yet."


def show_head(paper: Paper) -> None:
    """Draw what the paper is; it needs nothing computed."""
    source = ", ".join(filter(None, (escape(paper.authors), linked(paper.published))))
    title, about = escape(paper.title), escape(paper.about)
    st.html(f"<div class=paper-head><h2>{title}</h2><small>{source}</small><br>{about}</div>")
    if not (paper.entries or paper.drawings or paper.maps or paper.calculators or paper.findings or paper.remarks):
        st.info(EMPTY)


def show_findings(paper: Paper) -> None:
    """Draw its claims beside what holds of each."""
    if not paper.findings:
        return
    rows = "".join(
        f"<tr><th scope=row>{linked(each.claim)}</th>"
        f'<td data-label="What holds">{linked(computed.holds(each))}</td></tr>'
        for each in paper.findings
    )
    heads = "<th scope=col>It claims</th><th scope=col>What holds</th>"
    table = f"<table class='verdicts findings'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    st.subheader("What it claims, and what holds", anchor=False)
    st.html(scrolling("Findings", table))


def show_remarks(paper: Paper) -> None:
    """Draw the gaps of its proofs and the silences of its text, folded."""
    if not paper.remarks:
        return
    with st.expander(f"Gaps and silences ({len(paper.remarks)})"):
        items = "".join(f"<li><b>{escape(each.place)}.</b> {linked(each.text)}</li>" for each in paper.remarks)
        st.html(f"<ul class=remarks>{items}</ul>")


PAGE = "pages/perturbation.py"


def show_experiments(paper: Paper) -> None:
    """Draw a link for each."""
    if not paper.experiments:
        return
    st.subheader("Compare it yourself", anchor=False)
    st.caption("What the paper leaves out, such as steps, step size and delta, is chosen there.")
    for each in paper.experiments:
        menu.link(PAGE, f"{each.place}: {each.title}", controls_of(each))


def controls_of(experiment: Experiment) -> dict[str, str | list[str]]:
    """What the page's controls are to say."""
    request = experiment.request
    epsilons = [format(each, "g") for each in request.epsilons]
    return {"table": request.dataset, "learner": request.model, "epsilons": epsilons}
