"""The charts and numbers of the watched runs, their growth with events, their tables and files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import (
    Track,
    accuracy_figure,
    charted,
    classes_figure,
    curves_figure,
    norms_figure,
    track_figure,
)
from dpcore.figures.alt_texts import accuracy_alt, classes_alt, curves_alt, norms_alt, track_alt
from dpcore.figures.epsilon import epochs_at
from dpcore.figures.layout import written
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, Style
from dpcore.figures.training import MAX_POINTS, accuracy_lines, decisions_figure
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import IntArray
from dpcore.privacy.report.numbers import epochs_of, marked, nearest, percent, short
from dpcore.runs.followed.ahead import budget_of, told_of
from dpcore.runs.history import RunRecord
from dpcore.runs.in_words import with_origin
from dpcore.runs.record import UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described, phrase
from dpcore.training.events import NORM_QUANTILES
from dpcore.training.seed_summary import in_words
from pages.parts.components.elements import LiveNumber, Table, live_figures
from pages.parts.components.live_chart import Growth, Label, Mark, Strip, live_chart
from pages.parts.controls.widgets import titled
from pages.parts.results import cache
from pages.parts.results.exports import Origin, Rows, address, csv_button
from pages.parts.train.run_history import epsilons_of, watched_runs
from pages.parts.train.run_labels import Shown, shown_alone

REPORTED = (  # field of a report, axis, words, title of the picture, whether it is a rate
    ("loss", "training loss", "training loss", "Training loss", False),
    ("clipped", "gradients clipped, %", "share of gradients clipped", "Gradients clipped", True),
)
WORDS = words_in(Path(__file__).with_name("words.toml"))

NONE = "–"  # before the first number
INVALID = "Epsilon, invalid: the paper's count of accepted steps"


def large_charts(
    watched: Sequence[RunRecord], detail: RunRecord, accountant: str, across: str
) -> None:
    """Draw the accuracy of all runs, and the epsilon of the one in detail."""
    beside = st.container(key="beside")
    accuracy, epsilon = beside.columns(2, vertical_alignment="bottom")
    with accuracy:
        accuracy_chart(watched, accountant, across, "accuracy_chart")
    mechanism = detail.plan.mechanism
    if mechanism is None:
        epsilon.caption(f"**{detail.label}**: {detail.plan.unaccounted}")
        return
    names = {*DEFAULT_ACCOUNTANTS, accountant, CERTIFIED}
    delta = detail.delta
    curves = {name: cache.curve(name, mechanism, delta) for name in ACCOUNTANTS if name in names}
    now = detail.now
    # Earlier releases take no epoch.
    epochs = np.asarray(_charted_steps(detail) * detail.q, dtype=np.float64)
    if detail.followed:
        epochs = epochs_at(mechanism, charted(mechanism))
    figure = curves_figure(curves, epochs, height=340, now=now)
    done = f"ended, after {epochs_of(now)}"
    follows = []
    if detail.run.active:
        done = "is"
        follows = [Mark(*detail.since, shape=0)]
    alt = f"{curves_alt(curves, epochs)} A vertical line marks where the run {done}."
    with epsilon:
        say_whose(shown_alone(watched, detail))
        live_chart(figure, follows, key="spent_chart", alt=alt, **picture("Epsilon", [detail]))


def accuracy_chart(
    runs: Sequence[RunRecord],
    accountant: str,
    across: str,
    key: str,
    height: int | None = None,
) -> None:
    """Draw the test accuracy of the runs against "epoch", or against "epsilon" by an accountant."""
    tracks = [_track(each, accountant, across) for each in runs]
    axis = "epoch" if across == "epoch" else f"epsilon, {titled(accountant)}"
    figure = accuracy_figure(tracks, axis, end=_end(runs, accountant, across))
    follows = accuracy_growths(runs, tracks, accountant, across)
    alt = accuracy_alt(tracks, axis, _going_on(runs))
    words = picture(f"Test accuracy against {across}", runs)
    live_chart(figure, follows, key=key, alt=alt, height=height, **words)
    if across == "epsilon":
        say_left_out(runs)


def say_left_out(runs: Sequence[RunRecord]) -> None:
    """Say of each private run that has no place on an axis of epsilon why it is not drawn there."""
    for each in runs:
        if each.private and each.plan.mechanism is None:
            st.caption(f"Not drawn over epsilon: **{each.label}**. {each.plan.unaccounted}")


def decisions_strip(watched: RunRecord) -> None:
    """Draw the accepted and rejected proposals of simulated annealing, in order."""
    decisions = watched.history.decisions
    q = watched.config.q
    active = watched.run.active
    if not (decisions or active):
        return
    st.caption(
        "Proposals of SA-DPSGD in order: accepted above the line, rejected below. All are charged."
    )
    figure = decisions_figure(decisions, q, watched.plan.steps)
    if active:
        follows = [Strip(*watched.since, decisions, q, MAX_POINTS)]
        alt = (
            "Strip of the proposals of simulated annealing so far: accepted above the line,"
            " rejected below."
        )
    else:
        follows = []
        alt = (
            f"Strip of {len(decisions)} proposals, {decisions.count('a')} of them accepted, latest"
            f" {decisions[-40:]}."
        )
    live_chart(figure, follows, key="decisions_chart", alt=alt, **picture("Proposals", [watched]))


def say_whose(shown: Shown) -> None:
    """Name the run of the numbers or of the chart below, if there are others."""
    if shown.entry:
        st.html(f'<div class="whose">{shown.entry}</div>')


def small_charts(watched: Sequence[RunRecord], detail: RunRecord, shown: Shown) -> None:
    """Draw the loss and the clipped share of all runs, and the classes of the one in detail."""
    *places, classes = st.columns(3, vertical_alignment="bottom")
    for place, reported in zip(places, REPORTED, strict=True):
        with place:
            _reported(watched, *reported)
    with classes:
        say_whose(shown)
        _classes(detail, shown.style)
    st.caption(WORDS["raw"])


def _reported(
    watched: Sequence[RunRecord], quantity: str, axis: str, what: str, title: str, rate: bool
) -> None:
    """Draw one quantity of the reports of all runs."""
    tracks = [_reports(each, quantity) for each in watched]
    end = max(each.epochs for each in watched)
    figure = track_figure(tracks, "epoch", axis, end=end, percent=rate)
    scale = 100.0 if rate else 1.0
    follows = []
    for line in _going_on(watched):
        each = watched[line]
        if _reports_on(each, quantity):
            follows.append(Growth(*each.since, line, event="stepped", y=quantity, scale=scale))
    alt = track_alt(tracks, what, _going_on(watched), rate=rate)
    live_chart(figure, follows, key=f"{quantity}_chart", alt=alt, **picture(title, watched))


def _classes(detail: RunRecord, style: Style) -> None:
    """Draw the accuracy of each class; before the first test, empty bars that can grow."""
    names = DATASETS[detail.config.dataset].classes
    tests = detail.history.evaluated
    heights = tests[-1].per_class if tests else []
    figure = classes_figure(names, heights, style)
    alt = classes_alt(names, heights, going_on=detail.run.active)
    words = picture("Test accuracy of each class", [detail])
    follows = []
    if detail.run.active:
        follows.append(Growth(*detail.since, 0, y="per_class", scale=100.0))
    live_chart(figure, follows, key="classes_chart", alt=alt, **words)


def gradient_norms(watched: RunRecord, shown: Shown | None = None) -> None:
    """Draw the gradient norms of a private run as a fan with the line C, and how to read it."""
    clip_norm = watched.config.clip_norm
    shown = shown or shown_alone([watched], watched)
    st.markdown(f"**Gradient norms before clipping**, {described(watched.config)}")
    say_whose(shown)
    fan, words = st.container(key="fan").columns([3, 2], gap="medium")
    stepped = watched.history.stepped
    across = [each.epoch for each in stepped]
    norms = [each.norms for each in stepped]
    figure = norms_figure(across, norms, clip_norm, shown.style, end=watched.epochs)
    follows = []
    if watched.run.active:
        for line in range(len(NORM_QUANTILES)):
            growth = Growth(*watched.since, line, event="stepped", y="norms", item=line)
            follows.append(growth)
    named = picture("Gradient norms before clipping", [watched])
    alt = norms_alt(across, norms, clip_norm, going_on=watched.run.active)
    with fan:
        live_chart(figure, follows, key="norms_chart", alt=alt, **named)
    with words:
        st.caption(WORDS["norms_read"])


def _going_on(watched: Sequence[RunRecord]) -> list[int]:
    """The places of the active runs."""
    return [place for place, each in enumerate(watched) if each.run.active]


def _end(watched: Sequence[RunRecord], accountant: str, across: str) -> float:
    """The end of the x axis: the longest run, or the largest epsilon."""
    if across == "epoch":
        return max(each.epochs for each in watched)
    largest = 0.0
    for each in watched:
        for epsilon in epsilons_of(each, accountant, [each.plan.steps]):
            if epsilon < float("inf"):
                largest = max(largest, epsilon)
    return largest


def _track(watched: RunRecord, accountant: str, across: str) -> Track:
    """The accuracy of a run at each of its tests.

    Over epsilon a run without privacy is level, and a private one without a proof has no points.
    """
    by_epsilon = across == "epsilon"
    level = by_epsilon and not watched.private
    evaluated = watched.history.evaluated
    places = [each.epoch for each in evaluated]
    if by_epsilon and not level:
        places = epsilons_of(watched, accountant, [each.step for each in evaluated])
        evaluated = evaluated[: len(places)]
    averaged = None
    if watched.averages:
        averaged = []
        for test in evaluated:
            if test.averaged_accuracy is not None:
                averaged.append(test.averaged_accuracy)
    return Track(
        watched.label,
        places,
        [each.accuracy for each in evaluated],
        level=level,
        averaged=averaged,
        private=watched.private,
    )


def _reports_on(watched: RunRecord, quantity: str) -> bool:
    """False for the clipped share of a run without clipping."""
    return watched.private or quantity != "clipped"


def _reports(watched: RunRecord, quantity: str) -> Track:
    """A quantity of every report."""
    stepped = watched.history.stepped if _reports_on(watched, quantity) else ()
    epochs = [each.epoch for each in stepped]
    heights = [getattr(each, quantity) for each in stepped]
    return Track(watched.label, epochs, heights, private=watched.private)


def accuracy_growths(
    runs: Sequence[RunRecord], tracks: Sequence[Track], accountant: str, across: str
) -> list[Growth]:
    """The growth of the lines of `accuracy_figure` with the tests of active runs."""
    found = []
    for line, (place, style, _) in enumerate(accuracy_lines(tracks)):
        each = runs[place]
        track = tracks[place]
        if not each.run.active:
            continue
        number = f"{place + 1}: " if len(tracks) > 1 else ""
        label = Label(style.label, written(style, f"{number}{{}} %")["text"])
        field = "accuracy" if style.label == track.label else "averaged_accuracy"
        growth = Growth(*each.since, line, y=field, scale=100.0, label=label)
        if across == "epoch":
            found.append(growth)
            continue
        table = spent_table(each, accountant)
        if table or track.level:  # else the tests have no place on the axis
            found.append(replace(growth, table=table, level=track.level))
    return found


def spent_table(
    watched: RunRecord,
    accountant: str,
    written: Callable[[float], str] | None = None,
    counted: str = "step",
) -> Table | None:
    """Epsilon by an accountant after some of the run's steps; None without an answer.

    `written` makes texts of the epsilons, and `counted` is the field of an event with the steps.
    """
    mechanism = watched.plan.mechanism
    if mechanism is None:
        return None
    steps = _charted_steps(watched)  # (n,)
    spent = cache.curve(accountant, mechanism, watched.delta).epsilon  # (n,)
    known = (steps > 0) & np.isfinite(spent)
    if not known.any():
        return None
    at = tuple(steps[known].tolist())
    epsilons = spent[known].tolist()
    if written is None:
        return Table(at, tuple(epsilons), counted)
    return Table(at, tuple(map(written, epsilons)), counted)


def _charted_steps(watched: RunRecord) -> IntArray:
    """The run's steps at the points of its epsilon curves (n,)."""
    mechanism = watched.plan.mechanism
    assert mechanism, "a run without privacy has no such curves"
    return np.maximum(charted(mechanism) - watched.plan.compositions_at(0), 0)


class Picture(TypedDict):
    """The title of a picture, and the name of its file."""

    title: str
    file: str


def picture(what: str, watched: Sequence[RunRecord]) -> Picture:
    """The title of a picture of runs, with their settings, and its file name, for `live_chart`."""
    lines = [what]
    for number, each in enumerate(watched, 1):
        settings = [each.words]
        if each.followed:
            settings.append(told_of(each.run))
        elif each.private:
            settings.append(phrase("clip_norm", each.config))
        if not each.followed:
            settings.append(phrase("lr", each.config))
        line = ", ".join(settings)
        if len(watched) > 1:
            line = f"{number}: {line}"
        lines += [with_origin(line, each.run), origin_of_run(each).words]
    return {"title": "\n".join(lines), "file": file_of(what.lower().replace(" ", "-"), watched)}


def file_of(name: str, watched: Sequence[RunRecord]) -> str:
    """The name of a file about runs without its ending: ids, and the settings of a single run."""
    if len(watched) == 1:
        name = origin_of_run(watched[0]).file(name)
    return "-".join([name, "run", *(each.run.id for each in watched)])


def origin_of_run(watched: RunRecord, link: str = "") -> Origin:
    """The settings of a run for a picture."""
    steps = watched.plan.steps
    if watched.followed:
        sigma = watched.run.request.sigma
        return Origin(watched.examples, watched.q, sigma, steps, watched.delta, "", link)
    config = watched.config
    if not config.private:
        return Origin(config.examples, config.q, None, steps, None, "", link)
    schedule = config.schedule
    if schedule != "constant":
        schedule += f", rate {nearest(config.rate)}"
    return Origin(config.examples, config.q, config.sigma, steps, config.delta, schedule, link)


def evaluations_rows(watched: Sequence[RunRecord], accountant: str, link: str) -> Rows:
    """One row for each test of each run: measurements, epsilon so far, settings, no secret seed."""
    rows = []
    for each in watched:
        rows += _rows(each, accountant, link)
    return rows


def _rows(watched: RunRecord, accountant: str, link: str) -> Rows:
    tests = watched.history.evaluated
    mechanism = watched.plan.mechanism
    spent = epsilons_of(watched, accountant, [each.step for each in tests]) or [None] * len(tests)
    kind = ""
    if mechanism:
        kind = cache.curve(accountant, mechanism, watched.delta).kind.value
    origin = origin_of_run(watched, link)
    settings = origin._asdict() | watched.run.request.to_json()
    settings |= {"sigma": origin.sigma, "delta": origin.delta}
    rows = []
    for test, epsilon in zip(tests, spent, strict=True):
        row = {
            "run": watched.run.id,
            "status": watched.run.status.value,
            "imported": watched.run.imported,
            "step": test.step,
            "epoch": test.epoch,
            "accuracy": test.accuracy,
            "averaged_accuracy": test.averaged_accuracy,
            "loss": test.loss,
            "epsilon": epsilon,
            "accountant": accountant if mechanism else "",
            "kind": kind,
        }
        rows.append(row | settings)
    return rows


def run_figures(watched: RunRecord, accountant: str) -> None:
    """Draw accuracy, epsilon, loss and the clipped share, which keep up with an active run."""
    readings = [_tested(watched, "Test accuracy", "accuracy")]
    for name in dict.fromkeys((CERTIFIED, accountant)):
        label = f"Epsilon, {titled(name)}"
        texts = spent_by_step(watched, name)
        readings.append(LiveNumber(label, _spent(watched, name), *watched.since, texts=texts))
    if watched.followed:
        readings.append(_steps(watched))
        readings += _steps_left(watched)
    else:
        readings.append(_loss(watched))
        if watched.private:
            readings.append(_clipped(watched))
    if watched.averages:
        readings.append(_tested(watched, "Averaged accuracy", "averaged_accuracy"))
    live_figures(readings, "run_figures")


def _tested(watched: RunRecord, label: str, field: str) -> LiveNumber:
    """An accuracy at the last test."""
    tests = watched.history.evaluated
    value = getattr(tests[-1], field) if tests else None
    text = NONE if value is None else percent(value)
    return LiveNumber(
        label, text, *watched.since, event="evaluated", y=field, scale=100.0, unit=" %"
    )


def _steps(watched: RunRecord) -> LiveNumber:
    """The steps of a followed run."""
    return LiveNumber("Steps", f"{watched.step:,}", *watched.since, y="step", digits=0)


def _steps_left(watched: RunRecord) -> list[LiveNumber]:
    """The steps that the target of a followed run still allows, if it has one."""
    request = watched.run.request
    most = budget_of(request, watched.run.plan)
    if most is None:
        return []
    label = f"Steps left to epsilon {request.target_epsilon:g}"
    step = watched.step
    at = np.unique(np.linspace(step, max(most, step), MAX_POINTS).astype(np.int64)).tolist()
    texts = tuple(f"{max(most - each, 0):,}" for each in at)
    beyond = at[-1] + 10**9
    table = Table((*at, beyond), (*texts, "0"))
    return [LiveNumber(label, f"{max(most - step, 0):,}", *watched.since, texts=table)]


def _loss(watched: RunRecord) -> LiveNumber:
    """The training loss of the last report."""
    stepped = watched.history.stepped
    text = f"{stepped[-1].loss:.3f}" if stepped else NONE
    return LiveNumber("Training loss", text, *watched.since, y="loss", digits=3)


def _clipped(watched: RunRecord) -> LiveNumber:
    """The clipped share of the last report."""
    stepped = watched.history.stepped
    text = percent(stepped[-1].clipped, 0) if stepped else NONE
    return LiveNumber(
        "Gradients clipped", text, *watched.since, y="clipped", scale=100.0, digits=0, unit=" %"
    )


def accepted_figures(watched: RunRecord, accountant: str) -> None:
    """Draw the accepted proposals of simulated annealing, and the epsilon by the paper."""
    accepted = None
    counted = NONE
    if watched.history.stepped:
        last = watched.history.stepped[-1]
        accepted = last.accepted
        if accepted is not None:
            counted = f"{accepted:,} / {last.step - accepted:,}"
    count = LiveNumber(
        "Accepted / rejected", counted, *watched.since, y="accepted", of="step", digits=0
    )
    texts = spent_table(watched, accountant, short, "accepted")
    claim = LiveNumber(INVALID, _claim(watched, accountant, accepted), *watched.since, texts=texts)
    live_figures([count, claim], "accepted_figures")
    if watched.plan.mechanism:
        st.caption("All proposals are charged, the rejected ones too.")


def _claim(watched: RunRecord, accountant: str, accepted: int | None) -> str:
    """The epsilon that the SA-DPSGD paper would charge for so many accepted steps."""
    mechanism = watched.plan.claimed(accepted)
    if mechanism is None:
        return NONE
    claim = cache.epsilons(accountant, mechanism, watched.config.delta, (mechanism.steps,))[0]
    return short(claim) if claim < float("inf") else "n/a"


def _spent(watched: RunRecord, accountant: str) -> str:
    """The epsilon of the run's releases so far."""
    if watched.plan.mechanism is None:
        return "none"
    spent = 0.0
    if watched.released:
        spent = cache.final(accountant, watched.released, watched.delta).last.value
    return marked_epsilon(watched, accountant, spent)


def spent_by_step(watched: RunRecord, accountant: str) -> Table | None:
    """The written epsilon after some of the run's steps; None without one."""
    return spent_table(watched, accountant, partial(marked_epsilon, watched, accountant))


def marked_epsilon(watched: RunRecord, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of its kind, by this accountant for this run."""
    mechanism = watched.plan.mechanism
    if mechanism is None:
        return marked(epsilon, ACCOUNTANTS[accountant].kind)
    return marked(epsilon, cache.curve(accountant, mechanism, watched.delta).kind)


def evaluations_table(watched: Sequence[RunRecord], accountant: str) -> None:
    """Draw every test of the runs with the epsilon so far, in an expander."""
    table = st.expander("The numbers in the charts", key="evaluations", on_change="rerun")
    if not table.open:
        return
    rows = evaluations_rows(watched, accountant, "")
    labels = {}  # as on the charts
    for number, each in enumerate(watched, 1):
        labels[each.run.id] = f"{number}: {each.label}" if len(watched) > 1 else each.label

    def column(name: str) -> list[Any]:
        return [row[name] for row in rows]

    columns = {"run": [labels[run] for run in column("run")]}
    for name in ("sigma", "step", "epoch", "accuracy", "loss"):
        columns[name] = column(name)
    columns[f"epsilon, {titled(accountant)}"] = column("epsilon")
    columns["id"] = column("run")
    averaged = column("averaged_accuracy")
    if any(each is not None for each in averaged):
        columns["averaged accuracy"] = averaged
    table.dataframe(columns, hide_index=True)
    if any(each.run.active for each in watched):
        table.caption("Open this again to see later tests.")


def evaluations_download(store: Store, watched: Sequence[RunRecord], accountant: str) -> None:
    """Draw the button for all tests of the runs as CSV, with their settings, as of the click."""
    link = address()

    def rows() -> Rows:
        try:
            now = watched_runs(store, [each.run.id for each in watched])
        except UnknownRun:  # deleted: keep what was shown
            now = watched
        return evaluations_rows(now, accountant, link)

    csv_button("Download the runs (CSV)", rows, f"{file_of('tests', watched)}.csv", "download_runs")


def seed_summaries(watched: Sequence[RunRecord]) -> None:
    """Draw the average of each ended configuration with several seeds, without imported runs."""
    groups: dict[RunConfig, list[RunRecord]] = {}
    for each in watched:
        if not each.run.imported and not each.followed:
            groups.setdefault(replace(each.config, seed=None), []).append(each)
    for config, group in groups.items():
        if not any(each.run.active for each in group):
            _seed_summary(config, group)


def _seed_summary(config: RunConfig, group: Sequence[RunRecord]) -> None:
    """Draw the average of one configuration, if at least two of its seeds finished."""
    seeds = set()  # one that ran twice counts once
    finals = {}
    for each in group:
        seed = each.config.seed
        if seed is None:  # secret: the run stands for it
            seed = each.run.id
        seeds.add(seed)
        if each.history.finished:
            finals[seed] = each.history.finished
    if len(finals) < 2:
        return
    summary = in_words(list(finals.values()), ascii=False).replace("\n", "; ")
    words = f"**{described(config)}** · {summary}."
    early = len(seeds) - len(finals)
    if early:
        words += f" Left out, since unfinished: {early} of {len(seeds)} seeds."
    st.markdown(words)
