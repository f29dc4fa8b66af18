"""Which classes the ticked runs get right, and which they take for which."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures.alt_texts import classes_alt
from dpcore.figures.runs import SYMBOLS, classes_compared_figure, confusion_alt, confusion_figure
from dpcore.figures.style import RUNS
from dpcore.figures.training import Track
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from pages.parts.components.live_chart import live_chart
from pages.parts.results.exports import numbers_table
from pages.parts.shell.present import SMALL, chart_size
from pages.parts.train.run_exports import picture
from pages.parts.train.run_history import Watched, watched_runs

UNTESTED = "None of the ticked runs has been tested yet."
NO_COUNTS = (
    "This run has no such table: it is made at the end of a run, and runs of older versions have none. Train it again."
)
OF_TEST_SET = "All of it is counted on the test set, which no epsilon covers: epsilon is about the training examples."


def show_classes(store: Store, runs: Sequence[Run]) -> None:
    """Draw the accuracy of each class of all runs, and of one of them what was taken for what."""
    tested = [each for each in watched_runs(store, [run.id for run in runs]) if each.history.evaluated]
    if not tested:
        st.info(UNTESTED)
        return
    for dataset in dict.fromkeys(each.config.dataset for each in tested):
        _compared(dataset, [each for each in tested if each.config.dataset == dataset])
    labels = {each.run.id: f"{place}: {each.label}" for place, each in enumerate(tested, 1)}
    asked = st.session_state.get("confusion_run")
    if asked not in labels:
        st.session_state["confusion_run"] = tested[-1].run.id
    chosen = st.selectbox("What was taken for what, in", list(labels), format_func=lambda run: labels[run],
                          key="confusion_run")  # fmt: skip
    _confusion(next(each for each in tested if each.run.id == chosen))
    st.caption(OF_TEST_SET)


def _compared(dataset: str, watched: Sequence[Watched]) -> None:
    names = DATASETS[dataset].classes
    tracks = [Track(each.label, [], each.history.evaluated[-1].per_class) for each in watched]
    st.markdown(f"**Test accuracy of each class, {DATASETS[dataset].title}**")
    spans = [f"<span>{_mark(place)} {place + 1}: {escape(track.label)}</span>" for place, track in enumerate(tracks)]
    st.html(f'<div class="run-key">{" ".join(spans)}</div>')
    alt = " ".join(f"{place}: {track.label}. {classes_alt(names, track.y)}" for place, track in enumerate(tracks, 1))
    words = picture("Test accuracy of each class", watched)
    figure = classes_compared_figure(names, tracks, size=chart_size())
    live_chart(figure, [], key=f"classes_{dataset}", alt=alt, config=SMALL, **words)


def _mark(place: int) -> str:
    """The mark of the run in this place."""
    color, (_, sign) = RUNS[place % len(RUNS)], SYMBOLS[place % len(SYMBOLS)]
    return f'<span aria-hidden=true style="color:{color}">{sign}</span>'


def _confusion(watched: Watched) -> None:
    finished, names = watched.history.finished, DATASETS[watched.config.dataset].classes
    if finished is None or finished.confusion is None:
        st.info(NO_COUNTS)
        return
    counts = finished.confusion
    figure, alt = confusion_figure(names, counts, size=chart_size()), confusion_alt(names, counts)
    words = picture("Test examples by class and answer", [watched])
    live_chart(figure, [], key="confusion_chart", alt=alt, config=SMALL, **words)
    columns = {"is": names, **{f"taken for {name}": [row[i] for row in counts] for i, name in enumerate(names)}}
    numbers_table("The numbers in the table above", "confusion_numbers", lambda: columns)
