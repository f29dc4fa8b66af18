"""The charts of the runs that are watched: accuracy, epsilon, loss, clipping, classes, accepted proposals."""

from collections.abc import Sequence

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import Track, accuracy_figure, classes_figure, curves_figure, track_figure
from dpcore.figures.alt_texts import accuracy_alt, classes_alt, curves_alt, track_alt
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.figures.training import decisions_figure
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import epochs_of
from dpcore.privacy.report.statement import NOT_COVERED
from pages.parts.components.live_chart import live_chart
from pages.parts.components.served_component import charts_follow
from pages.parts.controls.widgets import titled
from pages.parts.results import cache
from pages.parts.shell.present import SMALL, chart_size
from pages.parts.train.run_exports import picture
from pages.parts.train.run_following import (
    accuracy_growths,
    charted_epochs,
    class_growths,
    proposals,
    report_growths,
    walking,
)
from pages.parts.train.run_history import Watched


def large_charts(watched: Sequence[Watched], detail: Watched, accountant: str, across: str) -> None:
    """Accuracy of all runs; epsilon of the one in detail, by the four accountants and the chosen one."""
    accuracy, epsilon = st.container(key="beside").columns(2)
    with accuracy:
        accuracy_chart(watched, accountant, across, "accuracy_chart")
    mechanism = detail.plan.mechanism
    if mechanism is None:
        epsilon.caption(f"**{detail.label}**: {detail.plan.unaccounted}")
        return
    names = [name for name in ACCOUNTANTS if name in {*DEFAULT_ACCOUNTANTS, accountant, CERTIFIED}]
    curves = {name: cache.curve(name, mechanism, detail.config.delta) for name in names}
    now = (detail.history.step if charts_follow() else detail.tested) * detail.config.q
    epochs = charted_epochs(detail)
    figure = curves_figure(curves, epochs, height=340, now=now, size=chart_size())
    done = "is" if detail.run.active else f"ended, after {epochs_of(now)}"
    alt = f"{curves_alt(curves, epochs)} A vertical line marks where the run {done}."
    with epsilon:
        live_chart(figure, walking(detail), key="spent_chart", config=SMALL, alt=alt, **picture("Epsilon", [detail]))


def accuracy_chart(
    watched: Sequence[Watched], accountant: str, across: str, key: str, height: int | None = None
) -> None:
    """Test accuracy of the runs against "epoch", or against "epsilon" by an accountant."""
    tracks = [_track(each, accountant, across) for each in watched]
    axis = "epoch" if across == "epoch" else f"epsilon, {titled(accountant)}"
    figure = accuracy_figure(tracks, axis, end=_end(watched, accountant, across), size=chart_size())
    follows = accuracy_growths(watched, tracks, accountant, across)
    alt = accuracy_alt(tracks, axis, _going_on(watched))
    words = picture(f"Test accuracy against {across}", watched)
    live_chart(figure, follows, key=key, alt=alt, height=height, **words)


def decisions_strip(watched: Watched) -> None:
    """Under simulated annealing: what was accepted and what rejected, in order."""
    decisions, follows = watched.history.decisions, proposals(watched)
    if not (decisions or (follows and charts_follow())):
        return
    st.caption(
        "Proposals of SA-DPSGD in their order: accepted above the line, rejected below. All of them are charged."
    )
    figure = decisions_figure(decisions, watched.config.q, watched.plan.steps, size=chart_size())
    alt = f"Strip of {len(decisions)} proposals, {decisions.count('a')} of them accepted, latest {decisions[-40:]}."
    if follows:
        alt = "Strip of the proposals of simulated annealing up to now: accepted above the line, rejected below."
    live_chart(figure, follows, key="decisions_chart", config=SMALL, alt=alt, **picture("Proposals", [watched]))


def small_charts(watched: Sequence[Watched], detail: Watched) -> None:
    end, going_on = max(each.epochs for each in watched), _going_on(watched)
    loss, clipped, classes = st.columns(3)
    with loss:
        tracks = [_reports(each, "loss") for each in watched]
        figure = track_figure(tracks, "epoch", "training loss", end=end, size=chart_size())
        follows, alt = report_growths(watched, "loss"), track_alt(tracks, "training loss", going_on)
        live_chart(figure, follows, key="loss_chart", config=SMALL, alt=alt, **picture("Training loss", watched))
    with clipped:
        tracks = [_reports(each, "clipped") for each in watched]
        figure = track_figure(tracks, "epoch", "gradients clipped, %", end=end, percent=True, size=chart_size())
        follows = report_growths(watched, "clipped", 100.0)
        alt = track_alt(tracks, "share of gradients clipped", going_on, rate=True)
        live_chart(figure, follows, key="clipped_chart", config=SMALL, alt=alt, **picture("Gradients clipped", watched))
    with classes:
        _classes(detail)
    st.caption(NOT_COVERED)


def _classes(detail: Watched) -> None:
    """The accuracy of each class; before the first test bars that have no height yet, where they can grow."""
    names, tests = DATASETS[detail.config.dataset].classes, detail.history.evaluated
    if tests or charts_follow():
        figure = classes_figure(names, tests[-1].per_class if tests else [], size=chart_size())
        alt = classes_alt(names, tests[-1].per_class if tests else [], going_on=detail.run.active)
        words = picture("Test accuracy of each class", [detail])
        live_chart(figure, class_growths(detail), key="classes_chart", config=SMALL, alt=alt, **words)


def _going_on(watched: Sequence[Watched]) -> list[int]:
    """The places of the runs of which more may come."""
    return [place for place, each in enumerate(watched) if each.run.active]


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
    kept = [each.averaged_accuracy for each in evaluated if each.averaged_accuracy is not None]
    averaged = kept if watched.averages else None
    if across == "epoch":
        return Track(label, [each.epoch for each in evaluated], heights, averaged=averaged)
    spent = watched.epsilons(accountant, [each.step for each in evaluated])
    return Track(label, spent, heights, level=watched.plan.mechanism is None, averaged=averaged)


def _reports(watched: Watched, quantity: str) -> Track:
    """A quantity of every report; nothing about clipping where nothing is clipped."""
    applies = watched.config.private or quantity != "clipped"
    last = watched.history.step if charts_follow() else watched.tested
    stepped = [each for each in watched.history.stepped if applies and each.step <= last]
    return Track(watched.label, [e.epoch for e in stepped], [getattr(e, quantity) for e in stepped])
