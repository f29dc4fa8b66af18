"""The run that the teacher shows to everybody: its name, how far it is, and its accuracy as it grows."""

import streamlit as st

from dpcore.privacy.accountants import CERTIFIED
from dpcore.runs.in_words import name_of
from dpcore.runs.record import StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.described import described
from pages.parts.train.live import progress_of
from pages.parts.train.run_charts import accuracy_chart
from pages.parts.train.run_history import watched_runs

HEIGHT = 240  # pixels of the chart: the page below it stays in sight
TITLE = "The teacher shows everybody this run"


def projected(store: Store, run: str) -> None:
    """Draw the run; whoever has seen enough folds it away."""
    with st.expander(TITLE, expanded=True, icon=":material/cast:", key=f"projected_{run}"):
        st.fragment(_panel)(store, run)


def _panel(store: Store, run: str) -> None:
    try:
        watched = watched_runs(store, [run])
    except UnknownRun:
        st.caption("It was deleted meanwhile.")
        return
    except StoreError as error:
        st.error(str(error))
        return
    except (ValueError, TypeError, RuntimeError):
        st.caption("It was made by another version of this program.")
        return
    if (name := name_of(watched[0].run)) != described(watched[0].config):  # which the bar says
        st.text(name)
    progress_of(watched[0], "projected_bar")
    accuracy_chart(watched, CERTIFIED, "epoch", "projected_chart", HEIGHT)
