"""Sweeps: the form that queues a grid of runs, and the results of one."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from dpcore.figures.runs import Cell, spread_text, sweep_alt, sweep_line, sweep_map
from dpcore.privacy.mechanism import Reading
from dpcore.privacy.report.numbers import epochs_of, marked, plain, value_text
from dpcore.privacy.report.statement import seed_warning
from dpcore.runs import sweeps
from dpcore.runs.editing import Deleted
from dpcore.runs.in_words import name_of
from dpcore.runs.record import Run, device_here
from dpcore.runs.run_table import Wanted
from dpcore.runs.store import Store
from dpcore.runs.sweeps import MAX_RUNS, Sweep, can_be_read
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.url_state import look_again, page_fields, write
from pages.parts.jobs import start
from pages.parts.results import costs
from pages.parts.results.costs import drawn_until_known, known_cost, learn, spending_of
from pages.parts.results.tables import table
from pages.parts.runs.actions import each_of
from pages.parts.runs.listing import BEST_OF, ONE_RUN, WORDS, Chosen
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.form import form_of
from pages.parts.train.run_labels import NAMES
from pages.parts.visitors import may_change

LAB = "the settings in the Lab"
USUAL = "default settings"  # if the Lab's cannot be trained
NONE = "none"
# Keys of the form's fields.
BASE = "sweep_base"
SEEDS = "sweep_seeds"
NAME = "sweep_name"
FIRST = "sweep_first"
SECOND = "sweep_second"
# Before the name of a setting.
VALUES = "sweep_values"
VALUES_SECOND = "sweep_values_second"
ONE_EACH = "With one run each, chance can look like an effect of the setting. Train 3 or more."
MAX_SEEDS = 20
MAX_SWEEP_CHARS = 40  # of a name; the values follow it
NO_PRICE = (
    "This version of the program cannot read one of the runs, so the epsilon of all is unknown."
)
WITHOUT = "One of the runs has no epsilon, so all runs together have none."
WIDE = "The runs differ in more than two settings, too many for a chart. Compare them one by one."


def sweep_form(store: Store, chosen: Chosen) -> None:
    """Draw the form, shut until it is opened."""
    box = st.expander(
        "Start a sweep", icon=":material/grid_on:", key="sweep_form", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        st.caption("Train every combination of the values you list, several times each.")
        base = _base(store, chosen.charted)
        axes = _axes()
        seeds = _runs_of_each()
        try:
            configs = _configs(base, axes, seeds)
        except ValueError as error:
            if all(axes.values()):
                st.error(str(error))
            configs = []
        st.text_input("Name", "Sweep", key=NAME, max_chars=MAX_SWEEP_CHARS)
        label = f"Queue {len(configs)} runs" if configs else "Queue the runs"
        st.button(
            label,
            key="sweep_start",
            type="primary",
            disabled=not configs,
            on_click=_start_shown,
            args=(store, chosen.charted),
            width="stretch",
        )
        st.caption(
            f"At most {MAX_RUNS} runs. Each has its own epsilon; the results also show the epsilon"
            " of all."
        )


def _runs_of_each() -> int:
    """Draw the number of runs of each combination, with a warning of one alone."""
    label = "Runs of each, each with its own seed"
    seeds = int(st.number_input(label, 1, MAX_SEEDS, 3, key=SEEDS))
    if seeds == 1:
        st.warning(ONE_EACH)
    return seeds


def _configs(base: RunConfig, axes: Mapping[str, str], seeds: int) -> list[RunConfig]:
    """The runs of the sweep over these lists of values, by setting; ValueError if one is wrong."""
    values = {name: sweeps.values_of(name, text) for name, text in axes.items()}
    return sweeps.sweep_of(base, values, seeds)


def _base(store: Store, runs: Sequence[Run]) -> RunConfig:
    """Draw the choice of the settings that all runs share: a ticked run's, or the Lab's."""
    options = _bases(store, runs)
    names = {run.id: name_of(run) for run in runs}
    if st.session_state.get(BASE) not in options:
        write({BASE: next(reversed(options))})
    chosen = st.selectbox(
        "Start from", list(options), format_func=lambda each: names.get(each) or each, key=BASE
    )
    base = options[chosen]
    st.caption(f"{described(base)}, batch {base.batch}, {epochs_of(base.epochs)}.")
    return base


def _bases(store: Store, runs: Sequence[Run]) -> dict[str, RunConfig]:
    """The settings that a sweep can start from: the Lab's, and the ticked runs' by their ids."""
    form = form_of(page_fields(), device_here(store.home))
    bases = {}
    if form.configs:
        bases[LAB] = form.configs[0]
    else:
        bases[USUAL] = RunConfig()
    for run in runs:
        if not run.followed:
            bases[run.id] = run.config
    return bases


def _axes() -> dict[str, str]:
    """Draw the settings and the lists of their values; name -> list, or "" without one."""
    swept = sweeps.swept_settings()
    # Those that labels name first.
    names = [name for name in NAMES if name in swept]
    names += [name for name in swept if name not in NAMES]
    first = st.selectbox(
        "Setting", names, index=names.index("sigma"), format_func=_titled, key=FIRST
    )
    usual = "0.7, 1, 1.4, 2" if first == "sigma" else ""
    axes = {first: _listed(first, VALUES, usual)}
    others = [NONE, *names]
    others.remove(first)
    second = st.selectbox("Second setting", others, format_func=_titled, key=SECOND)
    if second != NONE:
        axes[second] = _listed(second, VALUES_SECOND, "")
    return axes


def _titled(name: str) -> str:
    if name in SETTINGS:
        return SETTINGS[name].label
    return name


def _listed(name: str, key: str, usual: str) -> str:
    setting = SETTINGS[name]
    choices = getattr(setting, "choices", ())
    possible = ", ".join(map(str, choices)) if choices else setting.range
    text = st.text_input(
        f"Values of {setting.label}",
        usual,
        key=f"{key}_{name}",
        max_chars=sweeps.MAX_CHARACTERS,
        placeholder="separated by commas",
        help=f"Possible: {possible}",
    )
    return text.strip()


@uninterrupted
def _start_shown(store: Store, runs: Sequence[Run]) -> None:
    """Queue the sweep that the form shows when its button is pressed.

    Where it shows none, the page says why.
    """
    look_again()
    session = st.session_state
    first = session[FIRST]
    second = session[SECOND]
    axes = {first: session.get(f"{VALUES}_{first}", "").strip()}
    if second != NONE:
        axes[second] = session.get(f"{VALUES_SECOND}_{second}", "").strip()
    base = _bases(store, runs).get(session[BASE])
    if base is None:
        return
    try:
        configs = _configs(base, axes, int(session[SEEDS]))
    except ValueError:
        return
    if configs:
        _start(store, configs, list(axes), session[NAME])


@uninterrupted
def _start(store: Store, configs: Sequence[RunConfig], axes: Sequence[str], name: str) -> None:
    """Queue the sweep and show it, unless this session already has all of its runs under way."""

    def names(every: Sequence[RunConfig]) -> list[str]:
        return [run for _, run in sweeps.named_runs(every, axes, name)]

    sweep = store.new_id()
    if start(store, configs, names, sweep):
        write({"sweep": sweep, "show": "sweep"})


def show_sweep(store: Store, wanted: Wanted) -> None:
    if wanted.sweep:
        drawn_until_known("runs_sweep_left", _sweep, store, wanted.sweep)
    else:
        st.info("Pick a sweep on the left, or start one, to see its results.")


def _sweep(store: Store, name: str) -> int:
    """Draw the sweep; return the number of unknown epsilons and active runs."""
    sweep = sweeps.sweep_in(store, name)
    if sweep is None:
        st.info("This version of the program cannot read the runs of this sweep.")
        return 0
    left = learn(filter(None, map(spending_of, sweep.runs)))
    active = [run for run in sweep.runs if run.active]
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{len(sweep.runs) - len(active)} of {len(sweep.runs)} runs** have ended.")
    mine = []
    for run in active:
        if may_change(run) and not run.cancelling:
            mine.append(run.id)
    if mine:
        row.button(
            f"Cancel the other {len(mine)}",
            key="sweep_cancel",
            on_click=each_of,
            args=(Store.cancel, store, mine),
        )
    _chart(sweep)
    price = costs.cost_of_choosing(sweep.charged_runs, _delta(sweep))
    st.html(_table(sweep, price))
    _price(sweep, price)
    return left + len(active)


def _chart(sweep: Sweep) -> None:
    cells = [Cell(point.values, point.accuracies) for point in sweep.points]
    labels = _labels(sweep)
    if len(labels) > 2:
        st.info(WIDE)
        return
    any_finished = any(each.accuracies for each in cells)
    if not labels or not any_finished:
        return
    if len(labels) == 1:
        figure = sweep_line(cells, labels[0])
    else:
        figure = sweep_map(cells, (labels[0], labels[1]))
    live_chart(
        figure,
        [],
        key="sweep_chart",
        alt=sweep_alt(cells, labels),
        title=f"Test accuracy over {' and '.join(labels)}",
        file=f"sweep-{sweep.id}",
    )


def _labels(sweep: Sweep) -> list[str]:
    return [SETTINGS[name].label for name in sweep.axes]


def _delta(sweep: Sweep) -> float:
    return min(run.config.delta for run in sweep.runs)


def _table(sweep: Sweep, price: Reading | None) -> str:
    """A row for each point of the grid: its runs, their accuracy, and both epsilons."""
    heads = [*_labels(sweep), "Finished", "Accuracy", ONE_RUN, BEST_OF]
    best = "" if price is None else marked(price.value, price.kind)
    rows = []
    for point in sweep.points:
        values = map(value_text, point.values)
        finished = f"{len(point.accuracies)} of {len(point.runs)}"
        one = _epsilon(point.runs)
        best_here = best if one else ""
        cells = [*values, finished, spread_text(point.accuracies), one, best_here]
        rows.append(list(map(escape, cells)))
    return table("Sweep", "measured", heads, rows)


def _epsilon(runs: Sequence[Run]) -> str:
    """The largest certified epsilon of one of the runs."""
    spendings = filter(None, map(spending_of, runs))
    known = list(filter(None, map(known_cost, spendings)))
    if not known:
        return ""
    largest = max(cost.value for cost in known)
    return marked(largest, known[0].kind)


def _price(sweep: Sweep, price: Reading | None) -> None:
    """Draw the epsilon of all runs, deleted ones included, which covers the choice among them."""
    runs = sweep.charged_runs
    if not runs:
        return
    st.subheader("Epsilon of choosing among them", anchor=False)
    if price is None:
        readable = all(map(can_be_read, runs))
        reason = WITHOUT if readable else NO_PRICE
        st.markdown(reason)
        return
    delta = _delta(sweep)
    gone = sum(isinstance(each, Deleted) for each in runs)
    counted = f"All {len(runs)} runs together so far"
    if gone:
        counted += f", {gone} of them deleted"
    seeds = []  # the fixed ones, each once
    for run in sweep.runs:
        seed = run.config.seed
        if seed is not None and seed not in seeds:
            seeds.append(seed)
    fixed = seed_warning(seeds)
    number = marked(price.value, price.kind)
    st.markdown(
        f"{counted}: **epsilon {number}** at delta = {plain(delta)}. {WORDS['choosing']} {fixed}"
    )
    st.caption(WORDS["sources"])
