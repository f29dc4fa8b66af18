"""The live panel of a run: it tails the store twice a second while something may still happen, and rests otherwise."""

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import Track, accuracy_figure, classes_figure, curves_figure, horizons, track_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.figures.training import decisions_figure, run_style
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.cautions import NOT_COVERED
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import short
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.resume import ended_early
from dpcore.runs.store import Store
from pages.parts.controls.choice import titled
from pages.parts.results import cache
from pages.parts.results.statement_card import card
from pages.parts.results.table import drawn_line
from pages.parts.shell import words
from pages.parts.shell.layout import SMALL
from pages.parts.train.evaluations import evaluations_table
from pages.parts.train.run_history import History, Watched, watched_runs
from pages.parts.train.run_labels import described
from pages.parts.train.run_picker import cancel, go_on, outdated
from pages.parts.train.seed_summary import seed_summaries

EVERY = 0.5  # seconds between two looks while a run is active: an event is on the page within a second


def watch(store: Store, ids: Sequence[str], accountant: str, across: str) -> None:
    """Draw the runs and keep them up to date; `across` is "epoch" or "epsilon"."""
    try:
        active = any(store.run(each).active for each in ids)
    except (UnknownRun, StoreError):  # the panel says so
        active = False
    st.fragment(_panel, run_every=EVERY if active else None)(store, tuple(ids), accountant, across, active)


def _panel(store: Store, ids: tuple[str, ...], accountant: str, across: str, active: bool) -> None:
    if outdated(ids):
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
            _status(store, each)
    _figures(detail, accountant)
    _key(watched)
    seed_summaries([(each.run, each.config, each.history.finished) for each in watched])
    _large_charts(watched, detail, accountant, across)
    _strip(detail)
    _small_charts(watched, detail)
    evaluations_table(watched, accountant)
    _statement(detail, accountant)


def in_detail(watched: Sequence[Watched]) -> Watched:
    """The run that runs; where none does the last private one, else the last."""
    running = [each for each in watched if each.run.status is Status.RUNNING]
    private = [each for each in watched if each.config.private]
    return (running or private[-1:] or watched[-1:])[0]


def _status(store: Store, watched: Watched) -> None:
    run, history, config = watched.run, watched.history, watched.config
    bar, button = st.container(key=f"progress_{run.id}").columns([5, 1], vertical_alignment="center")
    done = min(history.step / run.plan.steps, 1.0)
    bar.progress(done, text=f"**{described(config)}** · {_progress(run, history)}")
    if run.active:
        stopping = run.cancelling and run.status is Status.RUNNING
        asked = {"on_click": cancel, "args": (store, run.id), "disabled": stopping, "width": "stretch"}
        button.button("Cancelling…" if stopping else "Cancel", key=f"cancel_{run.id}", **asked)
    if ended_early(run):
        resume = {"on_click": go_on, "args": (store, run.id), "help": words.RESUME, "width": "stretch"}
        button.button("Resume", key=f"resume_{run.id}", **resume)
    if run.status is Status.FAILED:
        lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
        st.error(f"The run failed: {lines[-1]}")
        with st.expander("Traceback"):
            st.code("\n".join(lines), language=None)
    if run.status is Status.LOST:
        st.error(f"The run was lost. {run.error or ''} Resume goes on from its last checkpoint.")


def _progress(run: Run, history: History) -> str:
    steps = run.plan.steps
    place = f"step {history.step:,} of {steps:,}"
    if run.status is Status.QUEUED:
        return f"number {run.position} in the queue" if run.position else "queued"
    if run.status is not Status.RUNNING:
        return f"{run.status.value} at {place}"
    if not history.started:
        return "starting"
    pace = history.steps_per_second
    left = f", {words.seconds((steps - history.step) / pace)} left" if pace else ""
    return f"{place}, {pace:.3g} steps/s{left} on {history.started.device}"


def _figures(watched: Watched, accountant: str) -> None:
    """Accuracy, epsilon, loss and the fraction clipped, as they stand now."""
    history, private = watched.history, watched.config.private
    last = history.stepped[-1] if history.stepped else None
    figures = {
        "Test accuracy": f"{100 * history.evaluated[-1].accuracy:.1f} %" if history.evaluated else "–",
        **{f"Epsilon, {titled(name)}": _spent(watched, name) for name in dict.fromkeys((CERTIFIED, accountant))},
        "Training loss": f"{last.loss:.3f}" if last else "–",
        "Gradients clipped": f"{100 * last.clipped:.0f} %" if last and private else "–",
    }
    if history.evaluated and (averaged := history.evaluated[-1].averaged_accuracy) is not None:
        figures["Averaged accuracy"] = f"{100 * averaged:.1f} %"
    accepted = last.accepted if last else None
    if last and accepted is not None:
        figures["Accepted / rejected"] = f"{accepted:,} / {last.step - accepted:,}"
    row = st.container(horizontal=True, gap="large")
    for name, value in figures.items():
        row.metric(name, value, width="content")
    if last and accepted is not None:
        st.caption(_claimed(watched, accountant, last.step, accepted))


def _claimed(watched: Watched, accountant: str, step: int, accepted: int) -> str:
    """What the SA-DPSGD paper would charge, beside what is spent."""
    mechanism = watched.plan.claimed(accepted)
    spent = watched.epsilons(accountant, [step])
    if not (mechanism and spent):
        return f"{accepted:,} of {step:,} proposals accepted."
    claim = cache.epsilons(accountant, mechanism, watched.config.delta, (mechanism.steps,))[0]
    return (
        f"All {step:,} proposals are charged: epsilon {_shown(watched, accountant, spent[0])} ({titled(accountant)}). "
        f"**{words.INVALID}**, {accepted:,}, would give {short(claim) if claim < float('inf') else 'n/a'}."
    )


def _spent(watched: Watched, accountant: str) -> str:
    spent = watched.epsilons(accountant, [watched.history.step])
    return _shown(watched, accountant, spent[0]) if spent else "none"


def _shown(watched: Watched, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of what kind of number the accountant gives for this run."""
    mechanism = watched.plan.mechanism
    kind = cache.curve(accountant, mechanism, watched.config.delta).kind if mechanism else ACCOUNTANTS[accountant].kind
    return marked(epsilon, kind)


def _key(watched: Sequence[Watched]) -> None:
    """Which line is which run, in words that wrap where the screen is narrow; a run alone needs none."""
    averaged = any(test.averaged_accuracy is not None for each in watched for test in each.history.evaluated)
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


def _strip(watched: Watched) -> None:
    """Under simulated annealing: what was accepted and what rejected, in order."""
    decisions = watched.history.decisions
    if watched.config.acceptance == "none" or not decisions:
        return
    st.caption(
        "Proposals of SA-DPSGD in their order: accepted above the line, rejected below. All of them are charged."
    )
    figure = decisions_figure(decisions, watched.config.q, watched.plan.steps)
    alt = f"Strip of {len(decisions)} proposals, {decisions.count('a')} of them accepted, latest {decisions[-40:]}."
    st.plotly_chart(figure, key="decisions_chart", config=SMALL, alt=alt)


def _large_charts(watched: Sequence[Watched], detail: Watched, accountant: str, across: str) -> None:
    """Accuracy of all runs; epsilon of the one in detail, by the four accountants and the chosen one."""
    accuracy, epsilon = st.container(key="beside").columns(2)
    tracks = [_track(each, accountant, across) for each in watched]
    axis = "epoch" if across == "epoch" else f"epsilon, {titled(accountant)}"
    figure = accuracy_figure(tracks, axis, end=_end(watched, accountant, across))
    accuracy.plotly_chart(figure, key="accuracy_chart", alt=words.ALT_ACCURACY)
    mechanism = detail.plan.mechanism
    if mechanism is None:
        epsilon.caption(f"**{detail.label}**: {detail.plan.unaccounted}")
        return
    names = [name for name in ACCOUNTANTS if name in {*DEFAULT_ACCOUNTANTS, accountant, CERTIFIED}]
    curves = {name: cache.curve(name, mechanism, detail.config.delta) for name in names}
    uses = horizons(mechanism)
    epochs = np.maximum(uses - detail.plan.uses_at(0), 0) * detail.config.q  # what comes before the steps takes none
    figure = curves_figure(curves, epochs, height=340, now=detail.tested * detail.config.q)
    epsilon.plotly_chart(figure, key="spent_chart", config=SMALL, alt=words.ALT_SPENT)


def _statement(watched: Watched, accountant: str) -> None:
    """What the run released; while it may go on, what it will have released at its end."""
    config, mechanism = watched.config, watched.plan.mechanism
    if mechanism is None:
        st.caption(f"There is no privacy statement. {watched.plan.unaccounted}")
        return
    if not watched.run.active:
        done = max(
            watched.history.step, getattr(watched.run.last, "step", 0)
        )  # a checkpoint may be later than a report
        uses = mechanism.compositions(watched.plan.uses_at(done))[0].tolist()
        spent = zip(mechanism.releases, uses, strict=True)
        releases = tuple(Release(each.q, each.sigma, count) for each, count in spent if count)
        if not releases:  # cancelled in the queue
            return
        mechanism = Mechanism(releases)
    curve = cache.final(accountant, mechanism, config.delta)
    card(mechanism, curve, accountant, config.examples, "statement_card", ends=watched.run.active)


def _end(watched: Sequence[Watched], accountant: str, across: str) -> float:
    """Where the x axis ends: with the longest run, or the most epsilon."""
    if across == "epoch":
        return max(each.epochs for each in watched)
    spent = [value for each in watched for value in each.epsilons(accountant, [each.plan.steps])]
    return max((value for value in spent if value < float("inf")), default=0.0)


def _track(watched: Watched, accountant: str, across: str) -> Track:
    evaluated = watched.history.evaluated
    label = watched.label
    heights = [each.accuracy for each in evaluated]
    averaged = [each.averaged_accuracy for each in evaluated if each.averaged_accuracy is not None]
    if across == "epoch":
        return Track(label, [each.epoch for each in evaluated], heights, averaged=averaged)
    spent = watched.epsilons(accountant, [each.step for each in evaluated])
    return Track(label, spent, heights, level=watched.plan.mechanism is None, averaged=averaged)


def _small_charts(watched: Sequence[Watched], detail: Watched) -> None:
    end = max(each.epochs for each in watched)
    loss, clipped, classes = st.columns(3)
    tracks = [_reports(each, "loss") for each in watched]
    figure = track_figure(tracks, "epoch", "training loss", end=end)
    loss.plotly_chart(figure, key="loss_chart", config=SMALL, alt=words.ALT_LOSS)
    tracks = [_reports(each, "clipped") for each in watched]
    figure = track_figure(tracks, "epoch", "gradients clipped, %", end=end, percent=True)
    clipped.plotly_chart(figure, key="clipped_chart", config=SMALL, alt=words.ALT_CLIPPED)
    if detail.history.evaluated:
        figure = classes_figure(DATASETS[detail.config.dataset].classes, detail.history.evaluated[-1].per_class)
        classes.plotly_chart(figure, key="classes_chart", config=SMALL, alt=words.ALT_CLASSES)
    st.caption(NOT_COVERED)


def _reports(watched: Watched, quantity: str) -> Track:
    """A quantity of every report; nothing about clipping where nothing is clipped."""
    told = watched.config.private or quantity != "clipped"
    stepped = [each for each in watched.history.stepped if told and each.step <= watched.tested]
    return Track(watched.label, [e.epoch for e in stepped], [getattr(e, quantity) for e in stepped])
