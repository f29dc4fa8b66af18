"""The experiments of a paper that compare places of the noise: each opens the page that makes the comparison."""

import streamlit as st

from dpcore.papers import Paper
from dpcore.papers.paper import Experiment
from pages.parts.shell import menu

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
