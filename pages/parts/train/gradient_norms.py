"""How long the gradients of a run's examples were before clipping, beside the norm that they were clipped to."""

import streamlit as st

from dpcore.figures import norms_figure
from dpcore.figures.alt_texts import norms_alt
from dpcore.training.described import described
from pages.parts.components.live_chart import live_chart
from pages.parts.components.served_component import charts_follow
from pages.parts.shell.present import SMALL, chart_size
from pages.parts.train.run_exports import picture
from pages.parts.train.run_following import norm_growths
from pages.parts.train.run_history import Watched

READING = (
    "The thick line is the median, the areas hold the middle half and nine tenths of the gradients. One that lies "
    "above the line of C was shortened to it. Where the whole fan lies above the line, all are shortened, and only "
    "their directions count; where it lies below, none is, and the noise, sigma times C, is larger than it needs to "
    "be. When C is raised, the learning rate must fall. Like the losses, these are exact figures of the training "
    "data, which epsilon does not cover."
)


def gradient_norms(watched: Watched) -> None:
    """Draw the norms of a private run as a fan with the line of C through it, and how to read it."""
    config, last = watched.config, watched.history.step if charts_follow() else watched.tested
    stepped = [each for each in watched.history.stepped if each.step <= last]
    st.markdown(f"**Gradient norms before clipping**, {described(config)}")
    fan, words = st.container(key="fan").columns([3, 2], gap="medium")
    across, norms = [each.epoch for each in stepped], [each.norms for each in stepped]
    figure = norms_figure(across, norms, config.clip_norm, end=watched.epochs, size=chart_size())
    with fan:
        named = picture("Gradient norms before clipping", [watched])
        alt = norms_alt(across, norms, config.clip_norm, going_on=watched.run.active)
        live_chart(figure, norm_growths(watched), key="norms_chart", alt=alt, config=SMALL, **named)
    with words:
        st.caption(READING)
