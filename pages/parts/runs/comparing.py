"""Compare runs: their settings, classes, accuracies and epsilons."""

import json
from collections.abc import Callable, Mapping, Sequence
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
from dpcore.runs.in_words import unreadable, when
from dpcore.runs.plain_text import as_text
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, ended, imported, numbers_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.seed_summary import summary
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.url_state import write
from pages.parts.controls.widgets import accountant_choice, choice_of, titled
from pages.parts.papers.opening import link_of_run
from pages.parts.results.costs import drawn_until_known, known_cost, learn, spending_of
from pages.parts.results.exports import numbers_table
from pages.parts.results.tables import table
from pages.parts.runs.listing import (
    COLUMNS,
    WORDS,
    Chosen,
    final_accuracy,
    ids_of,
    short_names,
    still_to_come,
)
from pages.parts.runs.sweeps import show_sweep
from pages.parts.shell.menu import link
from pages.parts.shown_job import request_of
from pages.parts.train.live import Names, watch, with_names
from pages.parts.train.run_charts import picture
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_labels import NAMES
from pages.parts.train.run_picker import shown_runs

TICK = (
    "Tick a run to see its accuracy, privacy cost and settings. The chart shows all finished runs."
)
VIEWS = ("progress", "classes", "settings", "accuracy and epsilon", "sweep")
ORIGINS: dict[str, str] = WORDS["origins"]
TOLD: dict[str, str] = WORDS["told"]
OTHERS = "Audits, comparisons and runs of other versions or on data that are not here are left out."
REST = "All other settings have their defaults."
SAME = "These runs have the same settings. They differ only by chance."
MAX_NAME_CHARS = 60  # in the head of a column
MAX_RUNS_LOOKED_AT = 2000  # finished ones, the latest
MAX_GROUPS = 20  # listed settings with several seeds
NONE = "None of these runs is a training that has finished."


def compare(store: Store, chosen: Chosen, wanted: Wanted) -> None:
    """Draw the choice of a view, and the view; without ticked runs all of them on one chart."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    what = choice_of(row, "Show", VIEWS, "show", wrap=True)
    of_all = what == "accuracy and epsilon"
    unticked = not chosen.every
    if what == "sweep":
        show_sweep(store, wanted)
    elif of_all or unticked:
        if not of_all:
            st.caption(TICK)
        with _options(row):
            by = accountant_choice("Epsilon by", "by")
        drawn_until_known("runs_front_left", _tradeoffs, store, wanted, by)
    elif what == "settings":
        show_differences(chosen, names_in_table(store, chosen.every))
    else:
        _show_charts(store, chosen, what, row)


def _show_charts(store: Store, chosen: Chosen, what: str, row: Any) -> None:
    """Draw the classes or the progress of the ticked runs, and links to what has no chart here."""
    link_elsewhere(chosen)
    if not chosen.charted:
        return
    if what == "classes":
        show_classes(store, chosen.charted)
        return

    def names(watched: Sequence[RunRecord]) -> list[str]:
        return list(names_in_table(store, [each.run for each in watched]).values())

    show_progress(store, ids_of(chosen.charted), row, names=names)


def show_progress(
    store: Store,
    ids: Sequence[str],
    row: Any,
    asked: Callable[[], list[str]] = shown_runs,
    names: Names | None = None,
) -> None:
    """Draw the charts of runs, with their options in a row; `asked` returns the ids to show now."""
    with _options(row):
        across = choice_of(st, "Accuracy against", ("epoch", "epsilon"), "x")
        by = accountant_choice("Epsilon by", "by")
    watch(store, ids, by, across, asked, names)


def names_in_table(store: Store, runs: Sequence[Run]) -> dict[str, str]:
    """The names of runs by their ids, as in the table: no two alike."""
    ids = ids_of(runs)
    return dict(zip(ids, short_names(runs, numbers_of(store, ids)), strict=True))


def _options(row: Any) -> Any:
    return row.popover("Chart options", icon=":material/tune:")


def link_elsewhere(chosen: Chosen) -> None:
    """Link to the pages that show the ticked jobs without charts here."""
    for kind, each in WORDS["elsewhere"].items():
        own = [run for run in chosen.others if run.kind == kind]
        if own:
            st.markdown(each["sentence"])
            link(each["page"], each["title"], {each["parameter"]: own[0].id})
    some_have_no_page = any(run.kind not in WORDS["elsewhere"] for run in chosen.others)
    if some_have_no_page:
        st.info(WORDS["no_chart"])


def show_differences(chosen: Chosen, names: Mapping[str, str]) -> None:
    """Draw the settings that differ, and the origins of the runs, by their ids' names."""
    runs = chosen.every
    alone = len(runs) == 1
    st.subheader("Settings" if alone else "Settings that differ", anchor=False)
    charted = [run for run in runs if run in chosen.charted and not run.followed]
    ways = [link_of_run(run.config, f"the settings of {names[run.id]}") for run in charted]
    configs = [run.config for run in charted]
    rows = different(configs)
    if charted and rows:
        st.html(_table("Settings", charted, names, rows, ways))
        if alone:
            st.caption(REST)
    elif len(charted) > 1:
        way = f" Load them in the {ways[0]}." if ways[0] else ""  # without the app no page has them
        st.html(f"<p>{SAME}{way}</p>")
    told = [run for run in chosen.charted if run.followed]
    if told:
        st.html(_table("Told settings", told, names, told_settings(told)))
    if chosen.others:
        st.markdown(OTHERS)
    st.subheader("Origin", anchor=False)
    st.html(_table("Origin", runs, names, origins(runs)))


def different(configs: Sequence[RunConfig]) -> dict[str, list[str]]:
    """The settings in which several runs differ, by their labels.

    Of one run they are those with a column in the table, and all that are not at their defaults.

    >>> different([RunConfig(), RunConfig(sigma=2.0)])
    {'Noise multiplier sigma': ['1.23', '2']}
    """
    rows = {}
    for name in (*NAMES, "private"):
        if len(configs) == 1:
            differs = name in COLUMNS or name in configs[0].chosen()
        else:
            values = {getattr(each, name) for each in configs}
            differs = len(values) > 1
        if differs:
            rows[SETTINGS[name].label] = [_written(name, each) for each in configs]
    return rows


def told_settings(runs: Sequence[Run]) -> dict[str, list[str]]:
    """What the programs of followed runs told of them."""
    rows: dict[str, list[str]] = {"Sampler": ["Poisson, as told, not observed"] * len(runs)}
    for run in runs:
        for name, title in TOLD.items():
            value = run.settings.get(name)
            text = value_text(value) if value else "–"
            rows.setdefault(title, []).append(text)
    return rows


def origins(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The recorded origin of each run: machine, time and seed."""
    names: dict[str, None] = {}  # in order
    for run in runs:
        names |= dict.fromkeys(run.origin or {})
    rows: dict[str, list[str]] = {}
    for run in runs:
        origin = run.origin or {}
        cells = {"Id": run.id, "Submitted": when(run.created)}
        for name in names:
            if name in ORIGINS:
                cells[ORIGINS[name]] = str(origin.get(name, ""))
        cells["Seed"] = _seed(run)
        cells["Continues"] = run.parent or ""
        cells["Sweep"] = run.sweep or ""
        cells["Note"] = run.note
        for title, text in cells.items():
            rows.setdefault(title, []).append(text)
    for title in ("Continues", "Sweep", "Note"):
        if not any(rows[title]):
            del rows[title]
    return rows


def _seed(run: Run) -> str:
    if run.followed:
        return "not told"
    seed = run.settings.get("seed")
    if seed is not None:
        return f"{seed}, chosen"
    if run.imported:
        return "secret, not exported"
    return "secret"


def _written(name: str, config: RunConfig) -> str:
    if not SETTINGS[name].is_used(config):
        return "–"
    value = getattr(config, name)
    return "secret" if value is None else value_text(value)


def _table(
    label: str,
    runs: Sequence[Run],
    names: Mapping[str, str],
    rows: dict[str, list[str]],
    ways: Sequence[str] = (),
) -> str:
    """A table with a column for each run, by its place as on the charts; its texts are escaped."""
    heads = []
    for place, run in enumerate(runs, 1):
        name = names[run.id]
        if len(runs) > 1:
            name = f"{place}: {name}"
        if len(name) > MAX_NAME_CHARS:
            name = f"{name[:MAX_NAME_CHARS]}…"
        heads.append(name)
    body = []
    for title, values in rows.items():
        body.append([escape(title), *map(escape, values)])
    if any(ways):
        body.append(["Load these settings", *ways])
    return table(label, "measured", ("", *heads), body)


def _tradeoffs(store: Store, wanted: Wanted, accountant: str) -> int:
    """Draw the front of all wanted finished runs, and the averages over seeds."""
    found = ended(store, wanted, MAX_RUNS_LOOKED_AT)
    elsewhere = ""
    left_out = imported(store, wanted)
    if left_out:
        elsewhere = (
            f" Imported runs left out, since nobody here measured their accuracy: {left_out:,}."
        )
    if not found:
        st.info(f"{NONE}{elsewhere}")
        return 0
    spendings = [spending_of(run, accountant) for run in found]
    left = learn(filter(None, spendings))
    outcomes = outcomes_of(found, accountant)
    title = titled(accountant)
    live_chart(
        charts.front_figure(outcomes, title),
        [],
        key="front_chart",
        alt=charts.front_alt(outcomes, title),
        title=f"Accuracy against epsilon, {title}",
        file="pareto-front",
    )
    st.caption(f"{_in_words(outcomes)}{_left_out(found, outcomes, left)}{elsewhere}")
    numbers_table("The numbers in the chart", "front_numbers", lambda: _columns(outcomes))
    _seeds(found)
    return left


def _in_words(outcomes: Sequence[Outcome]) -> str:
    """How to read the chart of these runs, of what it draws alone."""
    line = bars = ""
    if len(charts.front(outcomes)) > 1:
        line = WORDS["front_line"]
    if charts.seen_bars(outcomes):
        bars = WORDS["front_bars"]
    return WORDS["front"].format(front=line, bars=bars)


def outcomes_of(found: Sequence[Run], accountant: str) -> list[Outcome]:
    """The runs as points, without private runs whose epsilon is unknown or missing."""
    points = []
    for run in found:
        name = run.name or _words(run)
        spending = spending_of(run, accountant)
        if not spending:
            points.append(Outcome(name, final_accuracy(run), None))
            continue
        cost = known_cost(spending)
        if cost:
            points.append(Outcome(name, final_accuracy(run), cost.value, cost.lower, cost.kind))
    return points


def _left_out(found: Sequence[Run], outcomes: Sequence[Outcome], left: int) -> str:
    """The runs that are not on the chart, as sentences after others."""
    text = ""
    if len(found) == MAX_RUNS_LOOKED_AT:
        text += f" Only the latest {MAX_RUNS_LOOKED_AT:,} finished runs are included."
    private = sum(each.epsilon is not None for each in outcomes)
    if private > charts.MAX_POINTS + len(charts.front(outcomes)):
        text += f" Beside the front, the chart shows {charts.MAX_POINTS:,} of {private:,} runs."
    if left:
        return text + still_to_come(left)
    without = len(found) - len(outcomes)
    if without:
        plural = "s" * (without > 1)
        text += f" {without:,} private run{plural} without epsilon cannot be drawn."
    return text


def _columns(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    columns = {"run": [], "test accuracy": [], "epsilon": [], "at least": [], "kind": []}
    for each in outcomes:
        columns["run"].append(as_text(each.label))
        columns["test accuracy"].append(each.accuracy)
        columns["epsilon"].append(each.epsilon)
        columns["at least"].append(each.lower)
        kind = "" if each.epsilon is None else each.kind.value
        columns["kind"].append(kind)
    return columns


def _seeds(found: Sequence[Run]) -> None:
    """Draw the mean and spread of each setting that several runs share."""
    groups: dict[str, list[Run]] = {}
    for run in found:
        setting = json.dumps({**run.settings, "seed": None}, sort_keys=True)
        groups.setdefault(setting, []).append(run)
    several = []
    for group in groups.values():
        if len(group) > 1:
            accuracies = [final_accuracy(run) for run in group]
            several.append((group[0], summary(accuracies)))
    if not several:
        return
    several.sort(key=lambda each: -each[1].mean)
    st.subheader("Averages over seeds", anchor=False)
    rows = []
    for run, figures in several[:MAX_GROUPS]:
        mean = f"{percent(figures.mean, 2)} ± {percent(figures.spread, 2)}"
        extremes = f"{percent(figures.least, 2)} to {percent(figures.most, 2)}"
        rows.append([escape(_words(run)), str(figures.runs), mean, extremes])
    st.html(table("Seeds", "measured", ("Setting", "Runs", "Mean ± spread", "From, to"), rows))
    st.caption("Test accuracy, best first. The spread is the sample standard deviation.")


def _words(each: Run) -> str:
    config = request_of(each)
    if config is None:
        return unreadable(each.settings)
    return f"{described(config)}, batch {config.batch}, lr {config.lr:g}, {config.epochs:g} epochs"


def show_classes(store: Store, runs: Sequence[Run]) -> None:
    """Draw the accuracy of each class of all runs, and the mistakes of one."""
    own = [run for run in runs if not run.followed]
    watched = watched_runs(store, ids_of(own))
    tested = [each for each in watched if each.history.evaluated]
    if not tested:
        st.info("The ticked runs have not been tested yet.")
        return
    by_dataset: dict[str, list[RunRecord]] = {}
    by_id = {}
    labels = {}
    for place, each in enumerate(_named(store, tested), 1):
        by_dataset.setdefault(each.config.dataset, []).append(each)
        by_id[each.run.id] = each
        labels[each.run.id] = f"{place}: {each.label}"
    for dataset, group in by_dataset.items():
        _compared(dataset, group)
    key = "confusion_run"
    if st.session_state.get(key) not in labels:
        write({key: tested[-1].run.id})
    chosen = st.selectbox("Mistakes of", list(labels), format_func=labels.__getitem__, key=key)
    show_mistakes(by_id[chosen])
    st.caption("All counts are on the test set. Epsilon covers only the training examples.")


def _named(store: Store, watched: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs with their names in the table, if there are several."""
    names = names_in_table(store, [each.run for each in watched])
    return with_names(watched, list(names.values()))


def _compared(dataset: str, watched: Sequence[RunRecord]) -> None:
    names = DATASETS[dataset].classes
    tracks = []
    for each in watched:
        per_class = each.history.evaluated[-1].per_class
        tracks.append(Track(each.label, [], per_class, private=each.config.private))
    st.markdown(f"**Test accuracy of each class, {DATASETS[dataset].title}**")
    spans = []
    descriptions = []
    for place, (track, style) in enumerate(zip(tracks, track_styles(tracks), strict=True)):
        symbol = SYMBOLS[place % len(SYMBOLS)][1]
        mark = f'<span aria-hidden=true style="color:{style.color}">{symbol}</span>'
        spans.append(f"<span>{mark} {place + 1}: {escape(style.label)}</span>")
        descriptions.append(f"{place + 1}: {track.label}. {classes_alt(names, track.y)}")
    st.html(f'<div class="run-key">{" ".join(spans)}</div>')
    live_chart(
        charts.classes_compared_figure(names, tracks),
        [],
        key=f"classes_{dataset}",
        alt=" ".join(descriptions),
        **picture("Test accuracy of each class", watched),
    )


def show_mistakes(watched: RunRecord) -> None:
    """Draw the test examples of each class by the answers of a run."""
    finished = watched.history.finished
    if finished is None or finished.confusion is None:
        st.info(
            "This run has no table of mistakes. Runs get it when they finish; runs of older"
            " versions have none."
        )
        return
    names = DATASETS[watched.config.dataset].classes
    counts = finished.confusion
    live_chart(
        charts.confusion_figure(names, counts),
        [],
        key="confusion_chart",
        alt=charts.confusion_alt(names, counts),
        **picture("Test examples by class and answer", [watched]),
    )
    columns: dict[str, list[Any]] = {"class": list(names)}
    for i, name in enumerate(names):
        columns[f"answered {name}"] = [row[i] for row in counts]
    numbers_table("The numbers in the table above", "confusion_numbers", lambda: columns)
