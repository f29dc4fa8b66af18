"""What the pages say and draw of the trainings of other programs alone."""

from collections.abc import Sequence
from contextlib import suppress
from html import escape

import streamlit as st

from dpcore.check import verbatim
from dpcore.figures import Track, track_figure
from dpcore.figures.alt_texts import track_alt
from dpcore.runs.followed.ahead import told_of
from dpcore.runs.followed.words import NOT_COVERED
from dpcore.runs.history import RunRecord
from dpcore.runs.kinds import FOLLOWED
from dpcore.runs.record import Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.components.live_chart import Growth, live_chart
from pages.parts.train.run_charts import picture
from pages.parts.train.run_history import watched_runs

LOOK_SECONDS = 2.0  # between two looks at what a followed run was told
NEW_LOOK_SECONDS = 5.0  # between two looks for followed runs that begin or end
LATEST = 20  # followed runs whose beginnings and ends are noticed
MAX_CHARTS = 12  # of what was logged
IN_A_ROW = 3
MAY_GO_ON = (Status.RUNNING, Status.LOST)


def say_followed(watched: Sequence[RunRecord]) -> None:
    """Say of each followed run that its figures are what its program told."""
    for each in watched:
        if each.followed:
            name = f"**{verbatim(each.words)}**: " if len(watched) > 1 else ""
            st.caption(f":material/sensors: {name}{told_of(each.run)}")


def how_to_go_on(watched: RunRecord) -> str:
    """What a lost run is charged, and how its program goes on with it."""
    told = watched.history.step
    charged = watched.run.plan.steps
    said = f"It is charged for {charged:,} steps."
    if charged > told:
        said = (
            f"It had told {told:,} steps and may have taken up to {charged:,}, for which it is"
            " charged."
        )
    return f"{said} Its program goes on with it by `dpcore.follow(id='{watched.run.id}')`."


def logged_charts(watched: RunRecord) -> None:
    """Draw a small chart of each name under which numbers were logged."""
    names = _names(watched)
    if not names:
        return
    st.markdown("**Logged by the training**")
    for first in range(0, min(len(names), MAX_CHARTS), IN_A_ROW):
        places = st.columns(IN_A_ROW)
        for place, name in zip(places, names[first : first + IN_A_ROW], strict=False):
            with place:
                _logged_chart(watched, name, names.index(name))
    left_out = len(names) - MAX_CHARTS
    said = NOT_COVERED
    if left_out > 0:
        said = f"{said} {left_out} more are in the exports."
    st.caption(said)


def _names(watched: RunRecord) -> list[str]:
    found: dict[str, None] = {}
    for each in watched.history.logged:
        found |= dict.fromkeys(each.values)
    return list(found)


def _logged_chart(watched: RunRecord, name: str, number: int) -> None:
    points = [each for each in watched.history.logged if name in each.values]
    epochs = [each.epoch for each in points]
    values = [each.values[name] for each in points]
    track = Track(watched.label, epochs, values)
    figure = track_figure([track], "epoch", escape(name))
    figure.update_yaxes(rangemode="normal")
    follows = []
    going_on = []
    if watched.run.active:
        follows.append(Growth(*watched.since, 0, event="logged", y="values", item=name))
        going_on.append(0)
    alt = track_alt([track], name, going_on)
    key = f"logged_chart_{number}"
    live_chart(figure, follows, key=key, alt=alt, **picture(escape(name), [watched]))


def redraw_when_told_more(store: Store, watched: Sequence[RunRecord]) -> None:
    """Draw again once a followed run logs a new name, changes its sigma, or leaves its chart.

    And once a lost one goes on.
    """
    drawn = {}
    for each in watched:
        if each.followed and each.run.status in MAY_GO_ON:
            drawn[each.run.id] = _told(each)
    if not drawn:
        return
    look = st.fragment(_look, run_every=LOOK_SECONDS)
    look(store, drawn)


def _look(store: Store, drawn: dict[str, object]) -> None:
    with suppress(UnknownRun, StoreError):
        for each in watched_runs(store, list(drawn)):
            if _told(each) != drawn[each.run.id]:
                st.rerun()


def redraw_when_one_begins(store: Store) -> None:
    """Draw again once another program begins a followed run, or ends one."""
    drawn = _latest(store)
    look = st.fragment(_look_for_others, run_every=NEW_LOOK_SECONDS)
    look(store, drawn)


def _look_for_others(store: Store, drawn: list[tuple[str, Status]]) -> None:
    with suppress(StoreError):
        if _latest(store) != drawn:
            st.rerun()


def _latest(store: Store) -> list[tuple[str, Status]]:
    runs = store.runs(kind=FOLLOWED.name, limit=LATEST)
    return [(run.id, run.status) for run in runs]


def _told(watched: RunRecord) -> object:
    """What the charts of a followed run were drawn of, except for what grows by itself."""
    kinds = [(each.q, each.sigma) for each in watched.run.plan.drawn]
    names = _names(watched)[:MAX_CHARTS]
    return watched.run.status, kinds[-1:], len(kinds), watched.plan.steps, names
