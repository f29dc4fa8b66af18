"""The live panel of runs: the browser follows their events; Python redraws it at begin and end."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.expected import Pace
from dpcore.runs.history import RunRecord
from dpcore.runs.holding import MAX_SECONDS, can_be_held, hold, let_go, steps_granted
from dpcore.runs.in_words import state_of, steps_of
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.resume import ended_early
from dpcore.runs.store import Store
from dpcore.training.events import Unsaved
from pages.parts.cancelling import cancel_button, outcome_unsaid
from pages.parts.components.elements import run_progress
from pages.parts.controls.url_state import MAX_REASON
from pages.parts.jobs import problems_said
from pages.parts.results import cache
from pages.parts.results.tables import card
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.shown_job import say_failure
from pages.parts.train import followed_run, run_charts
from pages.parts.train.buttons import resume
from pages.parts.train.run_charts import WORDS
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_labels import Shown, key_entries, named, shown_alone
from pages.parts.train.run_picker import shown_runs
from pages.parts.visitors import may_change

Draw = Callable[[Sequence[RunRecord]], None]
Ids = Callable[[], list[str]]
Names = Callable[[Sequence[RunRecord]], list[str]]  # no two alike
HELD = "run_held"  # in the session, once a run was held, stepped or let go
MOST_IN_PLACE = 2  # runs that keep their line here when they end: nothing below it jumps
STOPS = "The run keeps its state and waits. Waiting costs no privacy."
GOES_ON = f"Without a click the run goes on by itself after {MAX_SECONDS / 60:.0f} minutes."


def watch(
    store: Store,
    ids: Sequence[str],
    accountant: str,
    across: str,
    asked: Ids = shown_runs,
    names: Names | None = None,
) -> None:
    """Draw the runs, which keep up to date; `across` is "epoch" or "epsilon".

    Without `names` a bar has the run's description, and a line what tells its run from the others.
    """

    def draw(watched: Sequence[RunRecord]) -> None:
        bars = [""] * len(watched)
        if names:
            bars = names(watched)
            watched = with_names(watched, bars)
        _draw(store, watched, accountant, across, bars)

    draw_apart(store, ids, draw, asked)


def with_names(watched: Sequence[RunRecord], names: Sequence[str]) -> list[RunRecord]:
    """The runs with their names on the charts, if there are several."""
    if len(watched) == 1:
        return list(watched)
    labels = named([each.label for each in watched], names)
    return [replace(each, label=label) for each, label in zip(watched, labels, strict=True)]


def draw_apart(
    store: Store | None, ids: Sequence[str], draw: Draw, asked: Ids = shown_runs
) -> None:
    """Draw the runs in a fragment, which runs alone until no run is active; then the page runs.

    The page also runs once `asked` returns other ids, which a callback has changed.
    """
    try:
        active = store is not None and any(store.run(each).active for each in ids)
    except (UnknownRun, StoreError):  # reported below
        active = False
    draw_fragment = st.fragment(_apart)
    draw_fragment(store, tuple(ids), draw, active, asked)


def _apart(store: Store | None, ids: tuple[str, ...], draw: Draw, active: bool, asked: Ids) -> None:
    if store is None:
        draw([])
        return
    if outcome_unsaid() or asked() != list(ids):
        st.rerun()
    watched: list[RunRecord] = []
    try:
        watched = watched_runs(store, ids)
    except UnknownRun:  # the page names the missing run
        st.rerun()
    except StoreError as error:
        st.error(str(error))
    still_active = any(each.run.active for each in watched)
    if active and not still_active:
        st.rerun()
    draw(watched)
    followed_run.redraw_when_told_more(store, watched)


def _draw(
    store: Store,
    watched: Sequence[RunRecord],
    accountant: str,
    across: str,
    names: Sequence[str],
) -> None:
    if not watched:
        return
    running = [each for each in watched if each.run.status is Status.RUNNING]
    private = [each for each in watched if each.private]
    # The running run, else the last private one.
    detail = (running or private[-1:] or watched[-1:])[0]
    with st.container(key="statuses", gap="xsmall"):
        few = len(watched) <= MOST_IN_PLACE
        for each, name in zip(watched, names, strict=True):
            if few or each.run.active or each is detail:
                run_status(store, each, several=len(watched) > 1, name=name)
    followed_run.say_followed(watched)
    shown = shown_alone(watched, detail)
    run_charts.say_whose(shown)
    run_charts.run_figures(detail, accountant)
    run_key(watched)
    run_charts.seed_summaries(watched)
    run_charts.large_charts(watched, detail, accountant, across)
    if detail.followed:
        followed_run.logged_charts(detail)
    else:
        _charts_of_own(watched, detail, shown, accountant)
    run_charts.evaluations_table(watched, accountant)
    run_charts.evaluations_download(store, watched, accountant)
    _statement(detail, accountant)


def _charts_of_own(
    watched: Sequence[RunRecord], detail: RunRecord, shown: Shown, accountant: str
) -> None:
    """Draw what a run of this program alone tells."""
    if detail.config.acceptance != "none":
        run_charts.accepted_figures(detail, accountant)
        run_charts.decisions_strip(detail)
    own = [each for each in watched if not each.followed]
    run_charts.small_charts(own, detail, shown)
    if detail.private:
        run_charts.gradient_norms(detail, shown)


def run_status(
    store: Store,
    watched: RunRecord,
    *,
    several: bool = False,
    narrow: bool = False,
    name: str = "",
) -> None:
    """Draw the progress of a run, the button to cancel or resume it, and its failure or loss.

    Among `several` runs the button names its own. In a `narrow` place the buttons stand below. A
    `name` stands for the run's description.
    """
    run = watched.run
    row = st.container(key=f"progress_{run.id}")
    if narrow:
        bar = row.container()
        pace = button = row.container(horizontal=True, gap="xsmall")
    else:
        bar, pace, button = row.columns([4, 1, 1], vertical_alignment="center")
    with bar:
        held = steps_granted(store, run.id) is not None
        progress_of(watched, f"bar_{run.id}", held=held, name=name)
    pace_buttons(pace, store, run)
    cancelled = (name or watched.label) if several else ""
    cancel_button(button, store, run, cancelled)
    _say_remarks(watched)
    if ended_early(run) and may_change(run):
        button.button(
            "Resume",
            key=f"resume_{run.id}",
            help=WORDS["resume"],
            on_click=resume,
            args=(store, run.id),
            width="stretch",
        )
    if run.status is Status.FAILED:
        say_failure(run, "run")
    if run.status is Status.LOST:
        _say_loss(watched)


def _say_remarks(watched: RunRecord) -> None:
    """Say what the run remarks on its engine, and that its last checkpoint could not be saved."""
    history = watched.history
    if history.started:
        _, _, remark = history.started.engine.partition("; ")
        if remark:
            st.caption(f"Remark of the run: {verbatim(remark, MAX_REASON)}")
    saved = history.saved
    if isinstance(saved, Unsaved) and watched.run.active:
        st.warning(WORDS["unsaved"].format(step=saved.step, reason=saved.reason))


def _say_loss(watched: RunRecord) -> None:
    """Say that the run was lost, for what reason, and how it can go on."""
    run = watched.run
    sentences = ["The run was lost."]
    if run.error:
        sentences.append(verbatim(run.error, MAX_REASON))
    if run.followed:
        sentences.append(followed_run.how_to_go_on(watched))
    elif not run.imported:
        sentences.append("Resume continues from its last checkpoint.")
    st.error(" ".join(sentences))


def pace_buttons(place: Any, store: Store, run: Run) -> None:
    """Draw the buttons that pause a run, let it go on and step it, if the reader may change it."""
    training = run.status is Status.RUNNING and not run.cancelling
    if not training or not can_be_held(store, run.id) or not may_change(run):
        return
    held = steps_granted(store, run.id) is not None
    row = place.container(horizontal=True, gap="xsmall", wrap=False)
    if held:
        _pace_button(row, store, run, "play_arrow", f"Play. {GOES_ON}", let_go)
    else:
        _pace_button(row, store, run, "pause", f"Pause. {STOPS}", hold)
    row.button(
        "",
        key=f"step_{run.id}",
        icon=":material/skip_next:",
        help="Take one step.",
        on_click=_do,
        args=(hold, store, run.id),
        disabled=not held,
    )


def _pace_button(place: Any, store: Store, run: Run, icon: str, help: str, act: Any) -> None:
    place.button(
        "",
        key=f"pace_{run.id}",
        icon=f":material/{icon}:",
        help=help,
        on_click=_do,
        args=(act, store, run.id),
    )


@uninterrupted
def _do(act: Any, store: Store, run: str) -> None:
    with problems_said():
        if may_change(store.run(run)):
            act(store, run)
            st.session_state[HELD] = True


def progress_of(watched: RunRecord, key: str, *, held: bool = False, name: str = "") -> None:
    """Draw the progress of a run, kept up to date, under its name or description."""
    run = watched.run
    history = watched.history
    speeds = [each.steps_per_second for each in history.paced]
    steps = steps_of(run)
    pace = Pace(steps).after(history.step, speeds)
    state = state_of(run, steps, watched.starts, pace, held=held)
    run_progress(run.id, history.sequence, name or watched.words, state, key)


def run_key(watched: Sequence[RunRecord]) -> None:
    """Draw the key of the lines; a single run needs none."""
    averaged = any(each.averages for each in watched)
    if len(watched) == 1 and not averaged:
        return
    entries = key_entries(watched)
    if averaged:
        entries.append("<span>dotted: averaged weights</span>")
    st.html(f'<div class="run-key">{" ".join(entries)}</div>')


def _statement(watched: RunRecord, accountant: str) -> None:
    """Draw the privacy statement of the run; of an active one, for its end."""
    mechanism = watched.plan.mechanism
    if mechanism is None:
        st.caption(f"No privacy statement. {watched.plan.unaccounted}")
        return
    if watched.followed or not watched.run.active:
        mechanism = watched.released
        if mechanism is None:  # cancelled in the queue
            return
    repeated = watched.plan.repeated
    if repeated:
        st.caption(WORDS["repeated"].format(steps=repeated))
    curve = cache.final(accountant, mechanism, watched.delta)
    told = watched.run if watched.followed else None
    ends = watched.run.active and not watched.followed
    card(
        mechanism,
        curve,
        accountant,
        watched.examples,
        ends=ends,
        seed=watched.seed,
        followed=told,
    )
