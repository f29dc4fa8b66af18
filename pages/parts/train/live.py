"""The live panel of a run: the browser follows the events, and Python draws it again when a run begins or ends.

Where the browser cannot, because the routes are missing, the panel is drawn twice a second while a run is active.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.check import verbatim
from dpcore.figures.training import run_style
from dpcore.runs.expected import duration, pace_of, rest_of_run
from dpcore.runs.in_words import state_of, status_of
from dpcore.runs.record import Status, StoreError, UnknownRun
from dpcore.runs.resume import ended_early
from dpcore.runs.store import Store
from dpcore.training.described import described
from dpcore.training.events import Preparing
from pages.parts.components.run_progress import Progress, run_progress
from pages.parts.components.served_component import charts_follow
from pages.parts.controls.faults import MAX_REASON
from pages.parts.jobs.start_and_stop import cancel_button
from pages.parts.results import cache
from pages.parts.results.statement_card import card
from pages.parts.results.tables import drawn_line
from pages.parts.train.buttons import resume
from pages.parts.train.evaluations import evaluations_download, evaluations_table
from pages.parts.train.gradient_norms import gradient_norms
from pages.parts.train.run_charts import decisions_strip, large_charts, small_charts
from pages.parts.train.run_figures import accepted_figures, run_figures
from pages.parts.train.run_history import Watched, watched_runs
from pages.parts.train.run_picker import outdated
from pages.parts.train.seed_summary import seed_summaries
from pages.parts.visitors import may_change

EVERY = 0.5  # seconds between two looks while a run is active and the browser does not follow it
RESUME = (
    "Queues its rest as a new run: from its last checkpoint, or anew, with the same seed, where there is none. On the "
    "same device, with as many threads and the same versions, both together cost what one of them costs. Elsewhere a "
    "checkpoint is refused; of a run and its rest begun anew elsewhere, release only one."
)


def watch(store: Store, ids: Sequence[str], accountant: str, across: str) -> None:
    """Draw the runs and keep them up to date; `across` is "epoch" or "epsilon"."""
    try:
        active = any(store.run(each).active for each in ids)
    except (UnknownRun, StoreError):  # the panel says so
        active = False
    ticks = active and not charts_follow()
    st.fragment(_panel, run_every=EVERY if ticks else None)(store, tuple(ids), accountant, across, active, ticks)


def _panel(store: Store, ids: tuple[str, ...], accountant: str, across: str, active: bool, ticks: bool = True) -> None:
    if outdated(ids) or (active and not ticks and not charts_follow()):  # the browser has just said that it cannot
        st.rerun()
    try:
        watched = watched_runs(store, ids)
    except UnknownRun:  # the page chooses anew, and names the run
        st.rerun()
        return
    except StoreError as error:
        st.error(str(error))
        return
    if active and not any(each.run.active for each in watched):
        st.rerun()
    _draw(store, watched, accountant, across)


def _draw(store: Store, watched: Sequence[Watched], accountant: str, across: str) -> None:
    detail = in_detail(watched)
    for each in watched:
        if each.run.active or each is detail:
            run_status(store, each)
    run_figures(detail, accountant)
    _key(watched)
    seed_summaries([(each.run, each.config, each.history.finished) for each in watched])
    large_charts(watched, detail, accountant, across)
    if detail.config.acceptance != "none":
        accepted_figures(detail, accountant)
        decisions_strip(detail)
    small_charts(watched, detail)
    if detail.config.private:
        gradient_norms(detail)
    evaluations_table(watched, accountant)
    evaluations_download(store, watched, accountant)
    _statement(detail, accountant)


def in_detail(watched: Sequence[Watched]) -> Watched:
    """The run that runs; where none does the last private one, else the last."""
    running = [each for each in watched if each.run.status is Status.RUNNING]
    private = [each for each in watched if each.config.private]
    return (running or private[-1:] or watched[-1:])[0]


def run_status(store: Store, watched: Watched) -> None:
    """How far a run is, with what stops it or lets it go on, and why it failed or was lost."""
    run, history = watched.run, watched.history
    bar, button = st.container(key=f"progress_{run.id}").columns([5, 1], vertical_alignment="center")
    with bar:
        progress_of(watched, f"bar_{run.id}")
    cancel_button(button, store, run)
    if history.started and (remark := history.started.engine.partition("; ")[2]):
        st.caption(f"The run says: {verbatim(remark, MAX_REASON)}")
    if history.unsaved and run.active:
        st.warning(
            f"No checkpoint at step {history.unsaved.step:,}: {history.unsaved.reason}. The run goes on and tries "
            "again; ended now, it could be resumed only from an earlier one."
        )
    if ended_early(run) and may_change(run):
        pressed = {"on_click": resume, "args": (store, run.id), "help": RESUME, "width": "stretch"}
        button.button("Resume", key=f"resume_{run.id}", **pressed)
    if run.status is Status.FAILED:
        lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
        st.error(f"The run failed: {verbatim(lines[-1], MAX_REASON)}")
        with st.expander("Traceback"):
            st.code("\n".join(lines), language=None)
    if run.status is Status.LOST:
        why = f" {verbatim(run.error, MAX_REASON)}" if run.error else ""
        st.error(f"The run was lost.{why}{'' if run.imported else ' Resume goes on from its last checkpoint.'}")


def progress_of(watched: Watched, key: str) -> None:
    """How far a run is, kept up to date."""
    run, history, label = watched.run, watched.history, described(watched.config)
    if not charts_follow():
        st.progress(min(history.step / run.plan.steps, 1.0), text=f"**{label}** · {_progress(watched)}")
        return
    device = history.started.device if history.started else ""
    state = state_of(run, watched.starts)
    known = Progress(
        run.id,
        label,
        state,
        run.active,
        history.sequence,
        history.step,
        run.plan.steps,
        history.paces,
        device,
        preparing_in_words(history.preparing),
    )
    run_progress(known, key)


def preparing_in_words(event: Preparing | None) -> str:
    """How far a run is that has not started."""
    return f"starting: features of {event.done:,} of {event.total:,} images" if event else "starting"


def _progress(watched: Watched) -> str:
    run, history, steps = watched.run, watched.history, watched.run.plan.steps
    place = f"step {history.step:,} of {steps:,}"
    if run.status is Status.QUEUED:
        return ", ".join(filter(None, [status_of(run), watched.starts]))
    if run.status is not Status.RUNNING:
        return f"{status_of(run)} at {place}"
    if not history.started:
        return preparing_in_words(history.preparing)
    pace = pace_of(history.paces)
    left = f", {duration(rest_of_run(steps, history.step, history.paces))} left" if pace else ""
    return f"{place}, {pace:.3g} steps/s{left} on {history.started.device}"


def _key(watched: Sequence[Watched]) -> None:
    """Which line is which run, in words that wrap where the screen is narrow; a run alone needs none."""
    averaged = any(each.averages for each in watched)
    if len(watched) == 1 and not averaged:
        return
    entries = []
    for place, each in enumerate(watched):
        style = run_style(place)
        number = f"{place + 1}: " if len(watched) > 1 else ""
        entries.append(f"<span>{number}{drawn_line(style)} {escape(each.label)}</span>")
    if averaged:
        entries.append("<span>dotted: averaged weights</span>")
    st.html(f'<div class="run-key">{" ".join(entries)}</div>')


def _statement(watched: Watched, accountant: str) -> None:
    """What the run released; while it may go on, what it will have released at its end."""
    config, mechanism = watched.config, watched.plan.mechanism
    if mechanism is None:
        st.caption(f"There is no privacy statement. {watched.plan.unaccounted}")
        return
    if not watched.run.active:
        mechanism = watched.released
        if mechanism is None:  # cancelled in the queue
            return
    if repeated := watched.plan.repeated:
        st.caption(
            f"{repeated:,} steps are charged twice: the run that this one goes on with had released them, and they "
            "were drawn again with fresh noise."
        )
    curve = cache.final(accountant, mechanism, config.delta)
    card(mechanism, curve, accountant, config.examples, "statement_card", ends=watched.run.active, seed=config.seed)
