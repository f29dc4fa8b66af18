"""Compare runs: their settings, classes, accuracies and epsilons."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import runs as charts
from dpcore.figures.alt_texts import classes_alt
from dpcore.figures.runs import SYMBOLS, Outcome
from dpcore.figures.training import Track, track_styles
from dpcore.privacy.report.numbers import percent, value_text
from dpcore.runs.history import RunRecord
from dpcore.runs.in_words import name_of, unreadable, when
from dpcore.runs.plain_text import as_text
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, ended, imported
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.seed_summary import summary
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.url_state import assign
from pages.parts.controls.widgets import accountant_choice, choice_of, titled
from pages.parts.jobs import request_of
from pages.parts.papers.opening import link_of_run
from pages.parts.results.costs import drawn_until_known, known_cost, learn, spending_of
from pages.parts.results.exports import numbers_table
from pages.parts.results.tables import table
from pages.parts.runs.listing import WORDS, Chosen
from pages.parts.runs.sweeps import show_sweep
from pages.parts.shell.menu import chart_size, link
from pages.parts.train.live import watch
from pages.parts.train.run_charts import picture
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_labels import NAMES

TICK = (
    "Tick a run to see its accuracy, privacy cost and settings. The chart shows all finished runs."
)
VIEWS = ("progress", "classes", "settings", "accuracy and epsilon", "sweep")
ORIGINS: dict[str, str] = WORDS["origins"]
OTHERS = "Audits, comparisons and runs of other versions or on data that are not here are left out."
SAME = "These runs have the same settings. They differ only by chance."
MAX_NAME_CHARS = 60  # in the head of a column
MAX_RUNS_LOOKED_AT = 2000  # finished ones, the latest
MAX_GROUPS = 20  # listed settings with several seeds
NONE = "No training run has finished yet."


def compare(store: Store, chosen: Chosen, wanted: Wanted) -> None:
    """Draw the choice of a view, and the view; without ticked runs all of them on one chart."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    what = choice_of(row, "Show", VIEWS, "show", wrap=True)
    if what == "sweep":
        show_sweep(store, wanted)
    elif what == "accuracy and epsilon" or not chosen.every:
        if what != "accuracy and epsilon":
            st.caption(TICK)
        drawn_until_known(
            "runs_front_left", _tradeoffs, store, wanted, _options(row, accuracy=False)[0]
        )
    elif what == "settings":
        show_differences(chosen)
    else:
        _without_charts(chosen)
        if chosen.charted and what == "classes":
            show_classes(store, chosen.charted)
        elif chosen.charted:
            watch(store, [run.id for run in chosen.charted], *_options(row))


def _options(row: Any, *, accuracy: bool = True) -> tuple[str, str]:
    """Draw the chart options: the accountant of epsilon, and the axis of the accuracy chart."""
    with row.popover("Chart options", icon=":material/tune:"):
        across = choice_of(st, "Accuracy against", ("epoch", "epsilon"), "x") if accuracy else ""
        return accountant_choice("Epsilon by", "by"), across


def _without_charts(chosen: Chosen) -> None:
    """Link to the pages that show the ticked jobs without charts here."""
    for kind, each in WORDS["elsewhere"].items():
        if own := [run for run in chosen.others if run.kind == kind]:
            st.markdown(each["sentence"])
            link(each["page"], each["title"], {each["parameter"]: own[0].id})
    if any(run.kind not in WORDS["elsewhere"] for run in chosen.others):
        st.info(WORDS["no_chart"])


def show_differences(chosen: Chosen) -> None:
    """Draw the settings that differ, and the origins of the runs."""
    runs = chosen.every
    st.subheader(
        "Settings that differ" if len(runs) > 1 else "Settings that differ from the defaults",
        anchor=False,
    )
    charted = chosen.charted
    ways = [link_of_run(run.config, f"the settings of {name_of(run)}") for run in charted]
    rows = different([run.config for run in charted])
    if charted and rows:
        st.html(_table("Settings", charted, rows, ways))
    elif len(charted) > 1:
        st.markdown(SAME)
        st.html(ways[0])
    if chosen.others:
        st.markdown(OTHERS)
    st.subheader("Origin", anchor=False)
    st.html(_table("Origin", runs, origins(runs)))


def different(configs: Sequence[RunConfig]) -> dict[str, list[str]]:
    """The settings in which the configurations differ, by label; for a single one, those that
    differ from defaults.

    >>> different([RunConfig(), RunConfig(sigma=2.0)])
    {'Noise multiplier sigma': ['1.23', '2']}
    """
    differ = lambda name: len({getattr(each, name) for each in configs}) > 1  # noqa: E731
    names = [
        each
        for each in (*NAMES, "private")
        if (each in configs[0].chosen() if len(configs) == 1 else differ(each))
    ]
    return {SETTINGS[name].label: [_written(name, each) for each in configs] for name in names}


def origins(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The recorded origin of each run: machine, time and seed."""
    known = [run.origin or {} for run in runs]
    names = list(dict.fromkeys(name for each in known for name in each if name in ORIGINS))
    rows = {"Id": [run.id for run in runs], "Submitted": [when(run.created) for run in runs]}
    rows |= {ORIGINS[name]: [str(each.get(name, "")) for each in known] for name in names}
    rows["Seed"] = [_seed(run) for run in runs]
    for title, values in (("Continues", [run.parent or "" for run in runs]),
                          ("Sweep", [run.sweep or "" for run in runs]),
                          ("Note", [run.note for run in runs])):  # fmt: skip
        if any(values):
            rows[title] = values
    return rows


def _seed(run: Run) -> str:
    seed = run.settings.get("seed")
    if seed is None and run.imported:
        return "secret, not exported"
    return "secret" if seed is None else f"{seed}, chosen"


def _written(name: str, config: RunConfig) -> str:
    value, setting = getattr(config, name), SETTINGS[name]
    if not setting.is_used(config):
        return "–"
    return "secret" if value is None else value_text(value)


def _table(
    label: str, runs: Sequence[Run], rows: dict[str, list[str]], ways: Sequence[str] = ()
) -> str:
    """A table with a column for each run; its texts are escaped."""
    names = [name_of(run) for run in runs]
    names = [f"{each[:MAX_NAME_CHARS]}…" if len(each) > MAX_NAME_CHARS else each for each in names]
    body = [[*map(escape, (title, *values))] for title, values in rows.items()]
    if any(ways):
        body.append(["Load these settings", *ways])
    return table(label, "measured", ("", *names), body)


def _tradeoffs(store: Store, wanted: Wanted, accountant: str) -> int:
    """Draw the front of all wanted finished runs, and the averages over seeds."""
    found = ended(store, wanted, MAX_RUNS_LOOKED_AT)
    runs = imported(store, wanted)
    elsewhere = (
        f" Imported runs left out, since nobody here measured their accuracy: {runs:,}."
        if runs
        else ""
    )
    if not found:
        st.info(f"{NONE}{elsewhere}")
        return 0
    left = learn(spending for each in found if (spending := spending_of(each, accountant)))
    outcomes = outcomes_of(found, accountant)
    title = titled(accountant)
    figure, alt = (
        charts.front_figure(outcomes, title, size=chart_size()),
        charts.front_alt(outcomes, title),
    )
    live_chart(
        figure,
        [],
        key="front_chart",
        alt=alt,
        title=f"Accuracy against epsilon, {title}",
        file="pareto-front",
    )
    st.caption(f"{WORDS['front']}{_left_out(found, outcomes, left)}{elsewhere}")
    numbers_table("The numbers in the chart", "front_numbers", lambda: _columns(outcomes))
    _seeds(found)
    return left


def outcomes_of(found: Sequence[Run], accountant: str) -> list[Outcome]:
    """The runs as points, without private runs whose epsilon is unknown or missing."""
    points = []
    for each in found:
        spending, name = spending_of(each, accountant), each.name or _words(each)
        if not spending:
            points.append(Outcome(name, each.last.accuracy, None))
        elif cost := known_cost(spending):
            points.append(Outcome(name, each.last.accuracy, cost.value, cost.lower, cost.kind))
    return points


def _left_out(found: Sequence[Run], outcomes: Sequence[Outcome], left: int) -> str:
    said = []
    if len(found) == MAX_RUNS_LOOKED_AT:
        said.append(f"Only the latest {MAX_RUNS_LOOKED_AT:,} finished runs are included.")
    private = [each for each in outcomes if each.epsilon is not None]
    if len(private) > charts.MAX_POINTS + len(charts.front(outcomes)):
        said.append(
            f"Beside the front, the chart shows {charts.MAX_POINTS:,} of {len(private):,} runs."
        )
    if left:
        said.append(f"{left:,} epsilon{'s' * (left > 1)} still to come.")
    elif without := len(found) - len(outcomes):
        said.append(
            f"{without:,} private run{'s' * (without > 1)} without epsilon cannot be drawn."
        )
    return "".join(f" {each}" for each in said)


def _columns(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    return {
        "run": [as_text(each.label) for each in outcomes],
        "test accuracy": [each.accuracy for each in outcomes],
        "epsilon": [each.epsilon for each in outcomes],
        "at least": [each.lower for each in outcomes],
        "kind": [each.kind.value if each.epsilon is not None else "" for each in outcomes],
    }


def _seeds(found: Sequence[Run]) -> None:
    """Draw the mean and spread of each setting that several runs share."""
    groups: dict[str, list[Run]] = {}
    for each in found:
        groups.setdefault(json.dumps({**each.settings, "seed": None}, sort_keys=True), []).append(
            each
        )
    several = [
        (group, summary([each.last.accuracy for each in group]))
        for group in groups.values()
        if len(group) > 1
    ]
    if not several:
        return
    several.sort(key=lambda each: -each[1].mean)
    st.subheader("Averages over seeds", anchor=False)
    rows = [
        [escape(_words(group[0])), str(figures.runs), f"{percent(figures.mean, 2)} ± {percent(figures.spread, 2)}",
         f"{percent(figures.least, 2)} to {percent(figures.most, 2)}"]
        for group, figures in several[:MAX_GROUPS]
    ]  # fmt: skip
    st.html(table("Seeds", "measured", ("Setting", "Runs", "Mean ± spread", "From, to"), rows))
    st.caption("Test accuracy, best first. The spread is the sample standard deviation.")


def _words(each: Run) -> str:
    if (config := request_of(each)) is None:
        return unreadable(each.settings)
    return f"{described(config)}, batch {config.batch}, lr {config.lr:g}, {config.epochs:g} epochs"


def show_classes(store: Store, runs: Sequence[Run]) -> None:
    """Draw the accuracy of each class of all runs, and the mistakes of one."""
    tested = [
        each for each in watched_runs(store, [run.id for run in runs]) if each.history.evaluated
    ]
    if not tested:
        st.info("The ticked runs have not been tested yet.")
        return
    for dataset in dict.fromkeys(each.config.dataset for each in tested):
        _compared(dataset, [each for each in tested if each.config.dataset == dataset])
    labels = {each.run.id: f"{place}: {each.label}" for place, each in enumerate(tested, 1)}
    key = "confusion_run"
    if st.session_state.get(key) not in labels:
        assign(key, tested[-1].run.id)
    chosen = st.selectbox("Mistakes of", list(labels), format_func=lambda run: labels[run], key=key)
    _confusion(next(each for each in tested if each.run.id == chosen))
    st.caption("All counts are on the test set. Epsilon covers only the training examples.")


def _compared(dataset: str, watched: Sequence[RunRecord]) -> None:
    names = DATASETS[dataset].classes
    tracks = [
        Track(each.label, [], each.history.evaluated[-1].per_class, private=each.config.private)
        for each in watched
    ]
    st.markdown(f"**Test accuracy of each class, {DATASETS[dataset].title}**")
    spans = []
    for place, style in enumerate(track_styles(tracks)):
        mark = (
            "<span aria-hidden=true"
            f' style="color:{style.color}">{SYMBOLS[place % len(SYMBOLS)][1]}</span>'
        )
        spans.append(f"<span>{mark} {place + 1}: {escape(style.label)}</span>")
    st.html(f'<div class="run-key">{" ".join(spans)}</div>')
    alt = " ".join(
        f"{place}: {track.label}. {classes_alt(names, track.y)}"
        for place, track in enumerate(tracks, 1)
    )
    words = picture("Test accuracy of each class", watched)
    figure = charts.classes_compared_figure(names, tracks, size=chart_size())
    live_chart(figure, [], key=f"classes_{dataset}", alt=alt, **words)


def _confusion(watched: RunRecord) -> None:
    finished, names = watched.history.finished, DATASETS[watched.config.dataset].classes
    if finished is None or finished.confusion is None:
        st.info(
            "This run has no table of mistakes. Runs get it when they finish; runs of older"
            " versions have none."
        )
        return
    counts = finished.confusion
    figure, alt = (
        charts.confusion_figure(names, counts, size=chart_size()),
        charts.confusion_alt(names, counts),
    )
    words = picture("Test examples by class and answer", [watched])
    live_chart(figure, [], key="confusion_chart", alt=alt, **words)
    columns = {
        "is": names,
        **{f"answered {name}": [row[i] for row in counts] for i, name in enumerate(names)},
    }
    numbers_table("The numbers in the table above", "confusion_numbers", lambda: columns)
