"""The charts of the runs that are watched: accuracy, epsilon, loss, clipping, classes, accepted proposals."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import Track, accuracy_figure, charted, classes_figure, curves_figure, track_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.figures.training import decisions_figure
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.cautions import NOT_COVERED
from pages.parts.controls.choice import titled
from pages.parts.results import cache
from pages.parts.shell.layout import SMALL
from pages.parts.train.run_history import Watched

ALT_ACCURACY = "Line chart of test accuracy over epochs or epsilon, one line for each run shown."
ALT_SPENT = "Line chart of epsilon against epoch of the run in detail; a vertical line marks where it is now."
ALT_LOSS = "Line chart of the training loss against epoch for each run shown."
ALT_CLIPPED = "Line chart of the percentage of gradients clipped against epoch for each private run shown."
ALT_CLASSES = "Bar chart of the test accuracy of each class in the run in detail."


def large_charts(watched: Sequence[Watched], detail: Watched, accountant: str, across: str) -> None:
    """Accuracy of all runs; epsilon of the one in detail, by the four accountants and the chosen one."""
    accuracy, epsilon = st.container(key="beside").columns(2)
    tracks = [_track(each, accountant, across) for each in watched]
    axis = "epoch" if across == "epoch" else f"epsilon, {titled(accountant)}"
    figure = accuracy_figure(tracks, axis, end=_end(watched, accountant, across))
    accuracy.plotly_chart(figure, key="accuracy_chart", alt=ALT_ACCURACY)
    mechanism = detail.plan.mechanism
    if mechanism is None:
        epsilon.caption(f"**{detail.label}**: {detail.plan.unaccounted}")
        return
    names = [name for name in ACCOUNTANTS if name in {*DEFAULT_ACCOUNTANTS, accountant, CERTIFIED}]
    curves = {name: cache.curve(name, mechanism, detail.config.delta) for name in names}
    uses = charted(mechanism)
    epochs = np.maximum(uses - detail.plan.uses_at(0), 0) * detail.config.q  # what comes before the steps takes none
    figure = curves_figure(curves, epochs, height=340, now=detail.tested * detail.config.q)
    epsilon.plotly_chart(figure, key="spent_chart", config=SMALL, alt=ALT_SPENT)


def decisions_strip(watched: Watched) -> None:
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


def small_charts(watched: Sequence[Watched], detail: Watched) -> None:
    end = max(each.epochs for each in watched)
    loss, clipped, classes = st.columns(3)
    tracks = [_reports(each, "loss") for each in watched]
    figure = track_figure(tracks, "epoch", "training loss", end=end)
    loss.plotly_chart(figure, key="loss_chart", config=SMALL, alt=ALT_LOSS)
    tracks = [_reports(each, "clipped") for each in watched]
    figure = track_figure(tracks, "epoch", "gradients clipped, %", end=end, percent=True)
    clipped.plotly_chart(figure, key="clipped_chart", config=SMALL, alt=ALT_CLIPPED)
    if detail.history.evaluated:
        figure = classes_figure(DATASETS[detail.config.dataset].classes, detail.history.evaluated[-1].per_class)
        classes.plotly_chart(figure, key="classes_chart", config=SMALL, alt=ALT_CLASSES)
    st.caption(NOT_COVERED)


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


def _reports(watched: Watched, quantity: str) -> Track:
    """A quantity of every report; nothing about clipping where nothing is clipped."""
    applies = watched.config.private or quantity != "clipped"
    stepped = [each for each in watched.history.stepped if applies and each.step <= watched.tested]
    return Track(watched.label, [e.epoch for e in stepped], [getattr(e, quantity) for e in stepped])
