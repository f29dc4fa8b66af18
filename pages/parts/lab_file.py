"""The lab in a file, handed out as it comes with the package: nothing is computed."""

from functools import lru_cache

import streamlit as st

from dpcore.labfile.page import page_of
from dpcore.labfile.shipped import shipped, usual_n
from dpcore.labfile.stops import opening
from dpcore.papers.better_features.best import best_of
from dpcore.privacy.report.numbers import plain
from dpcore.training.settings import Settings

FILE = "lab.html"


def lab_file_button(dataset: str) -> None:
    """Draw the button, with the recorded accuracies of a data set where they belong to the file."""
    usual = Settings()
    suits = best_of(dataset).private and opening(dataset).examples == usual_n()
    shown = dataset if suits else usual.dataset
    st.download_button(
        "The lab in a file",
        lambda: file_of(shown),
        FILE,
        "text/html",
        key="lab_file",
        on_click="ignore",
        icon=":material/download:",
        help=(
            "One HTML file that works without a network, on a phone or in a learning platform. It"
            f" has n = {usual_n():,} and delta = {plain(usual.delta)}; `python -m dpcore lab export"
            " FILE.html` writes one for any others."
        ),
    )


@lru_cache(maxsize=4)
def file_of(dataset: str) -> str:
    """The file for the lab's own n and delta."""
    return page_of(shipped(), dataset)
