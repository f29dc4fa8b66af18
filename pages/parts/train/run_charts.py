"""The charts and numbers of the watched runs, their growth with events, and their pictures, tables
and files.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

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
from dpcore.figures.layout import NORMAL, written
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.figures.training import MAX_POINTS, accuracy_lines, decisions_figure
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import IntArray
from dpcore.privacy.report.numbers import epochs_of, marked, nearest, percent, short
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
from pages.parts.shell.menu import chart_size
from pages.parts.train.run_history import epsilons_of, watched_runs

REPORTED = (  # field of a report, axis, words, title of the picture, whether it is a rate
    ("loss", "training loss", "training loss", "Training loss", False),
    ("clipped", "gradients clipped, %", "share of gradients clipped", "Gradients clipped", True),
)
WORDS = words_in(Path(__file__).with_name("words.toml"))
NAMED = ("clip_norm", "lr")  # added to the few words for a run
NONE = "–"  # before the first number
INVALID = "Epsilon, invalid: the paper's count of accepted steps"


def large_charts(
    watched: Sequence[RunRecord],
    detail: RunRecord,
    accountant: str,
    across: str,
    place: str = "accuracy",
) -> None:
    """Draw the accuracy of all runs, and the epsilon of the one in detail."""
    accuracy, epsilon = st.container(key="beside").columns(2)
    with accuracy, st.container(key=place):
        accuracy_chart(watched, accountant, across, "accuracy_chart", fits=place == "in_sight")
    mechanism = detail.plan.mechanism
    if mechanism is None:
        epsilon.caption(f"**{detail.label}**: {detail.plan.unaccounted}")
        return
    names = {*DEFAULT_ACCOUNTANTS, accountant, CERTIFIED}
    curves = {
        name: cache.curve(name, mechanism, detail.config.delta)
        for name in ACCOUNTANTS
        if name in names
    }
    now = detail.history.step * detail.config.q
    # Earlier releases take no epoch.
    epochs = np.asarray(_charted_steps(detail) * detail.config.q, dtype=np.float64)
    figure = curves_figure(curves, epochs, height=340, now=now, size=chart_size())
    done = "is" if detail.run.active else f"ended, after {epochs_of(now)}"
    alt = f"{curves_alt(curves, epochs)} A vertical line marks where the run {done}."
    follows = [Mark(*detail.since, shape=0)] if detail.run.active else []
    with epsilon:
        live_chart(figure, follows, key="spent_chart", alt=alt, **picture("Epsilon", [detail]))


def accuracy_chart(
    runs: Sequence[RunRecord],
    accountant: str,
    across: str,
    key: str,
    height: int | None = None,
    *,
    fits: bool = False,
) -> None:
    """Draw the test accuracy of the runs against "epoch", or against "epsilon" by an accountant."""
    tracks = [_track(each, accountant, across) for each in runs]
    axis = "epoch" if across == "epoch" else f"epsilon, {titled(accountant)}"
    figure = accuracy_figure(tracks, axis, end=_end(runs, accountant, across), size=chart_size())
    follows = accuracy_growths(runs, tracks, accountant, across)
    alt = accuracy_alt(tracks, axis, _going_on(runs))
    words = picture(f"Test accuracy against {across}", runs)
    live_chart(figure, follows, key=key, alt=alt, height=height, fits=fits, **words)


def decisions_strip(watched: RunRecord) -> None:
    """Draw the accepted and rejected proposals of simulated annealing, in order."""
    decisions, q = watched.history.decisions, watched.config.q
    follows = [Strip(*watched.since, decisions, q, MAX_POINTS)] if watched.run.active else []
    if not (decisions or follows):
        return
    st.caption(
        "Proposals of SA-DPSGD in order: accepted above the line, rejected below. All are charged."
    )
    figure = decisions_figure(decisions, q, watched.plan.steps, size=chart_size())
    alt = (
        f"Strip of {len(decisions)} proposals, {decisions.count('a')} of them accepted, latest"
        f" {decisions[-40:]}."
    )
    if follows:
        alt = (
            "Strip of the proposals of simulated annealing so far: accepted above the line,"
            " rejected below."
        )
    live_chart(figure, follows, key="decisions_chart", alt=alt, **picture("Proposals", [watched]))


def small_charts(watched: Sequence[RunRecord], detail: RunRecord) -> None:
    end, going_on = max(each.epochs for each in watched), _going_on(watched)
    *places, classes = st.columns(3)
    for place, (quantity, axis, what, title, rate) in zip(places, REPORTED, strict=True):
        tracks = [_reports(each, quantity) for each in watched]
        figure = track_figure(tracks, "epoch", axis, end=end, percent=rate, size=chart_size())
        follows = [
            Growth(*each.since, line, event="stepped", y=quantity, scale=100.0 if rate else 1.0)
            for line, each in enumerate(watched)
            if each.run.active and (each.config.private or quantity != "clipped")
        ]
        alt, words = track_alt(tracks, what, going_on, rate=rate), picture(title, watched)
        with place:
            live_chart(figure, follows, key=f"{quantity}_chart", alt=alt, **words)
    with classes:
        _classes(detail)
    st.caption(WORDS["raw"])


def _classes(detail: RunRecord) -> None:
    """Draw the accuracy of each class; before the first test, empty bars that can grow."""
    names, tests = DATASETS[detail.config.dataset].classes, detail.history.evaluated
    heights = tests[-1].per_class if tests else []
    figure = classes_figure(names, heights, size=chart_size())
    alt = classes_alt(names, heights, going_on=detail.run.active)
    words = picture("Test accuracy of each class", [detail])
    follows = [Growth(*detail.since, 0, y="per_class", scale=100.0)] if detail.run.active else []
    live_chart(figure, follows, key="classes_chart", alt=alt, **words)


def gradient_norms(watched: RunRecord) -> None:
    """Draw the gradient norms of a private run as a fan with the line C, and how to read it."""
    config, stepped = watched.config, watched.history.stepped
    st.markdown(f"**Gradient norms before clipping**, {described(config)}")
    fan, words = st.container(key="fan").columns([3, 2], gap="medium")
    across, norms = [each.epoch for each in stepped], [each.norms for each in stepped]
    figure = norms_figure(across, norms, config.clip_norm, end=watched.epochs, size=chart_size())
    with fan:
        named = picture("Gradient norms before clipping", [watched])
        alt = norms_alt(across, norms, config.clip_norm, going_on=watched.run.active)
        lines = range(len(NORM_QUANTILES) if watched.run.active else 0)
        follows = [
            Growth(*watched.since, line, event="stepped", y="norms", item=line) for line in lines
        ]
        live_chart(figure, follows, key="norms_chart", alt=alt, **named)
    with words:
        st.caption(WORDS["norms_read"])


def _going_on(watched: Sequence[RunRecord]) -> list[int]:
    return [place for place, each in enumerate(watched) if each.run.active]


def _end(watched: Sequence[RunRecord], accountant: str, across: str) -> float:
    """The end of the x axis: the longest run, or the largest epsilon."""
    if across == "epoch":
        return max(each.epochs for each in watched)
    spent = [
        value for each in watched for value in epsilons_of(each, accountant, [each.plan.steps])
    ]
    return max((value for value in spent if value < float("inf")), default=0.0)


def _track(watched: RunRecord, accountant: str, across: str) -> Track:
    evaluated, label, private = watched.history.evaluated, watched.label, watched.config.private
    heights = [each.accuracy for each in evaluated]
    kept = [each.averaged_accuracy for each in evaluated if each.averaged_accuracy is not None]
    averaged = kept if watched.averages else None
    if across == "epoch":
        return Track(
            label, [each.epoch for each in evaluated], heights, averaged=averaged, private=private
        )
    spent = epsilons_of(watched, accountant, [each.step for each in evaluated])
    return Track(
        label,
        spent,
        heights,
        level=watched.plan.mechanism is None,
        averaged=averaged,
        private=private,
    )


def _reports(watched: RunRecord, quantity: str) -> Track:
    """A quantity of every report; a run without clipping has none about it."""
    applies = watched.config.private or quantity != "clipped"
    stepped = watched.history.stepped if applies else ()
    heights = [getattr(each, quantity) for each in stepped]
    return Track(
        watched.label, [each.epoch for each in stepped], heights, private=watched.config.private
    )


def accuracy_growths(
    runs: Sequence[RunRecord], tracks: Sequence[Track], accountant: str, across: str
) -> list[Growth]:
    """The growth of the lines of `accuracy_figure` with the tests of active runs."""
    found = []
    for line, (place, style, _) in enumerate(accuracy_lines(tracks)):
        each, track = runs[place], tracks[place]
        table = None if across == "epoch" else spent_table(each, accountant)
        if not each.run.active or (across != "epoch" and not table and not track.level):
            continue
        text = written(style, f"{f'{place + 1}: ' if len(tracks) > 1 else ''}{{}} %", NORMAL)[
            "text"
        ]
        field = "accuracy" if style.label == track.label else "averaged_accuracy"
        label = Label(style.label, text)
        growth = Growth(*each.since, line, y=field, scale=100.0, label=label)
        found.append(
            growth if across == "epoch" else replace(growth, table=table, level=track.level)
        )
    return found


def spent_table(watched: RunRecord, accountant: str) -> Table | None:
    """Epsilon by an accountant after some of the run's steps; None without an answer."""
    mechanism = watched.plan.mechanism
    if mechanism is None:
        return None
    steps, spent = (
        _charted_steps(watched),
        cache.curve(accountant, mechanism, watched.config.delta).epsilon,
    )
    said = (steps > 0) & np.isfinite(spent)
    return Table(tuple(steps[said].tolist()), tuple(spent[said].tolist())) if said.any() else None


def _charted_steps(watched: RunRecord) -> IntArray:
    """The run's steps at the points of its epsilon curves (n,)."""
    mechanism = watched.plan.mechanism
    assert mechanism, "a run without privacy has no such curves"
    return np.maximum(charted(mechanism) - watched.plan.compositions_at(0), 0)


def picture(what: str, watched: Sequence[RunRecord]) -> dict[str, str]:
    """The title of a picture of runs, with the settings of each, and the name of its file, for
    `live_chart`.
    """
    lines = [what]
    for place, each in enumerate(watched):
        number = f"{place + 1}: " if len(watched) > 1 else ""
        named = [name for name in NAMED if each.config.private or name != "clip_norm"]
        said = [described(each.config), *(phrase(name, each.config) for name in named)]
        lines += [with_origin(f"{number}{', '.join(said)}", each.run), origin_of_run(each).words]
    return {"title": "\n".join(lines), "file": file_of(what.lower().replace(" ", "-"), watched)}


def file_of(name: str, watched: Sequence[RunRecord]) -> str:
    """The name of a file about runs without its ending: the ids, and the settings of a single run."""
    runs = "-".join(["run", *(each.run.id for each in watched)])
    return f"{origin_of_run(watched[0]).file(name) if len(watched) == 1 else name}-{runs}"


def origin_of_run(watched: RunRecord, link: str = "") -> Origin:
    """The settings of a run for a picture."""
    config, steps = watched.config, watched.plan.steps
    if not config.private:
        return Origin(config.examples, config.q, None, steps, None, "", link)
    changing = f"{config.schedule}, rate {nearest(config.rate)}"
    schedule = "constant" if config.schedule == "constant" else changing
    return Origin(config.examples, config.q, config.sigma, steps, config.delta, schedule, link)


def evaluations_rows(watched: Sequence[RunRecord], accountant: str, link: str) -> Rows:
    """One row for each test of each run: measurements, epsilon so far, and settings; secret seeds
    are empty.
    """
    return [row for each in watched for row in _rows(each, accountant, link)]


def _rows(watched: RunRecord, accountant: str, link: str) -> Rows:
    tests, mechanism, config = watched.history.evaluated, watched.plan.mechanism, watched.config
    spent = epsilons_of(watched, accountant, [each.step for each in tests]) or [None] * len(tests)
    kind = cache.curve(accountant, mechanism, config.delta).kind.value if mechanism else ""
    counted = {"accountant": accountant if mechanism else "", "kind": kind}
    origin = origin_of_run(watched, link)
    settings = origin._asdict() | config.to_json() | {"sigma": origin.sigma, "delta": origin.delta}
    return [
        {"run": watched.run.id, "status": watched.run.status.value, "imported": watched.run.imported, "step": test.step,
         "epoch": test.epoch, "accuracy": test.accuracy, "averaged_accuracy": test.averaged_accuracy,
         "loss": test.loss, "epsilon": epsilon, **counted, **settings}
        for test, epsilon in zip(tests, spent, strict=True)
    ]  # fmt: skip


def run_figures(watched: RunRecord, accountant: str) -> None:
    """Draw accuracy, epsilon, loss and the clipped share, which keep up with an active run."""
    last, test = watched.history.stepped[-1:], watched.history.evaluated[-1:]
    readings = [_tested("Test accuracy", test[0].accuracy if test else None, "accuracy")]
    readings += [
        LiveNumber(
            f"Epsilon, {titled(name)}", _spent(watched, name), texts=spent_by_step(watched, name)
        )
        for name in dict.fromkeys((CERTIFIED, accountant))
    ]
    readings.append(
        LiveNumber("Training loss", f"{last[0].loss:.3f}" if last else NONE, y="loss", digits=3)
    )
    if watched.config.private:
        clipped = percent(last[0].clipped, 0) if last else NONE
        readings.append(
            LiveNumber("Gradients clipped", clipped, y="clipped", scale=100.0, digits=0, unit=" %")
        )
    if watched.averages:
        averaged = test[0].averaged_accuracy if test else None
        readings.append(_tested("Averaged accuracy", averaged, "averaged_accuracy"))
    run, after = watched.since
    live_figures([replace(each, run=run, after=after) for each in readings], "run_figures")


def _tested(label: str, value: float | None, field: str) -> LiveNumber:
    shown = NONE if value is None else percent(value)
    return LiveNumber(label, shown, event="evaluated", y=field, scale=100.0, unit=" %")


def accepted_figures(watched: RunRecord, accountant: str) -> None:
    """Draw the accepted proposals of simulated annealing, and the epsilon that the paper would
    charge.
    """
    last = watched.history.stepped[-1:]
    accepted = last[0].accepted if last else None
    counted = f"{accepted:,} / {last[0].step - accepted:,}" if accepted is not None else NONE
    count = LiveNumber(
        "Accepted / rejected", counted, *watched.since, y="accepted", of="step", digits=0
    )
    table = spent_table(watched, accountant)
    texts = Table(table.steps, tuple(map(short, table.values)), "accepted") if table else None
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
    released = watched.released
    spent = cache.final(accountant, released, watched.config.delta).last.value if released else 0.0
    return marked_epsilon(watched, accountant, spent)


def spent_by_step(watched: RunRecord, accountant: str) -> Table | None:
    """The written epsilon after some of the run's steps; None without one."""
    table = spent_table(watched, accountant)
    if table is None:
        return None
    return Table(
        table.steps, tuple(marked_epsilon(watched, accountant, each) for each in table.values)
    )


def marked_epsilon(watched: RunRecord, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of its kind, by this accountant for this run."""
    mechanism = watched.plan.mechanism
    kind = (
        cache.curve(accountant, mechanism, watched.config.delta).kind
        if mechanism
        else ACCOUNTANTS[accountant].kind
    )
    return marked(epsilon, kind)


def evaluations_table(watched: Sequence[RunRecord], accountant: str) -> None:
    """Draw every test of the runs with the epsilon so far, in an expander."""
    table = st.expander("The numbers in the charts", key="evaluations", on_change="rerun")
    if not table.open:
        return
    rows = evaluations_rows(watched, accountant, "")
    column = lambda name: [row[name] for row in rows]  # noqa: E731
    places = enumerate(watched, 1)
    labels = {
        each.run.id: f"{place}: {each.label}" if len(watched) > 1 else each.label
        for place, each in places
    }
    shown = {"run": [labels[run] for run in column("run")]}  # as on the charts
    shown |= {name: column(name) for name in ("sigma", "step", "epoch", "accuracy", "loss")}
    shown |= {f"epsilon, {titled(accountant)}": column("epsilon"), "id": column("run")}
    if any(each is not None for each in column("averaged_accuracy")):
        shown["averaged accuracy"] = column("averaged_accuracy")
    table.dataframe(shown, hide_index=True)
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
    # a run stands for its secret seed
    seed_of = lambda each: each.run.id if each.config.seed is None else each.config.seed  # noqa: E731
    groups: dict[RunConfig, list[RunRecord]] = {}
    for each in [each for each in watched if not each.run.imported]:
        groups.setdefault(replace(each.config, seed=None), []).append(each)
    for config, group in groups.items():
        seeds = {seed_of(each) for each in group}  # one that ran twice counts once
        finals = {seed_of(each): each.history.finished for each in group if each.history.finished}
        if len(finals) < 2 or any(each.run.active for each in group):
            continue
        early = len(seeds) - len(finals)
        left_out = f" Left out, since unfinished: {early} of {len(seeds)} seeds." if early else ""
        st.markdown(
            f"**{described(config)}** ·"
            f" {in_words(list(finals.values())).replace(chr(10), '; ')}.{left_out}"
        )
