"""The form that starts a sweep: a grid over up to two settings and several seeds."""

from collections.abc import Sequence

import streamlit as st

from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.runs.sweeps import LONGEST, MOST, named_runs, sweep_of, swept_settings, values_of
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS
from pages.parts.controls.url_state import put
from pages.parts.jobs.start_and_stop import start
from pages.parts.runs.choosing import Chosen
from pages.parts.runs.run_rows import name_of
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_labels import NAMES

USUAL = "the usual settings"
NONE = "none"
SEEDS = 20
LONGEST_SWEEP = 40  # characters of a name, which the values of its runs follow


def sweep_form(store: Store, chosen: Chosen) -> None:
    """Draw the form, shut until it is opened."""
    box = st.expander("Start a sweep", icon=":material/grid_on:", key="sweep_form", on_change="rerun")
    if not box.open:
        return
    with box:
        st.caption("Trains every combination of the values that you list, each several times, queued as one.")
        base = _base(chosen.charted)
        axes = _axes()
        seeds = int(st.number_input("Runs of each, with seeds of their own", 1, SEEDS, 3, key="sweep_seeds"))
        try:
            configs = sweep_of(base, {name: values_of(name, text) for name, text in axes.items()}, seeds)
        except ValueError as error:
            if all(axes.values()):
                st.error(str(error))
            configs = []
        name = st.text_input("Name", "Sweep", key="sweep_name", max_chars=LONGEST_SWEEP)
        st.button(
            f"Queue {len(configs)} runs" if configs else "Queue the runs", key="sweep_start", type="primary",
            disabled=not configs, on_click=_start, args=(store, configs, list(axes), name), width="stretch",
        )  # fmt: skip
        st.caption(f"At most {MOST} runs. Each has its own epsilon; what all of them cost together is shown with them.")


def _base(runs: Sequence[Run]) -> RunConfig:
    """Draw the choice of what all of the runs have in common."""
    options = {USUAL: RunConfig(), **{run.id: run.config for run in runs}}
    titles = {USUAL: USUAL, **{run.id: name_of(run) for run in runs}}
    if st.session_state.get("sweep_base") not in options:
        st.session_state["sweep_base"] = next(reversed(options))
    base = st.selectbox("All else as in", list(options), format_func=lambda each: titles[each], key="sweep_base")
    return options[base]


def _axes() -> dict[str, str]:
    """Draw the choices of the settings, each with the values that are listed: by name, "" where none are."""
    names = [*NAMES, *(name for name in swept_settings() if name not in NAMES)]
    names = [name for name in names if name in swept_settings()]
    titled = lambda name: SETTINGS[name].label if name in SETTINGS else name  # noqa: E731
    first = st.selectbox("Setting", names, index=names.index("sigma"), format_func=titled, key="sweep_first")
    axes = {first: _listed(first, "sweep_values", "0.7, 1, 1.4, 2" if first == "sigma" else "")}
    second = st.selectbox("Second setting", [NONE, *(name for name in names if name != first)], format_func=titled,
                          key="sweep_second")  # fmt: skip
    if second != NONE:
        axes[second] = _listed(second, "sweep_values_second", "")
    return axes


def _listed(name: str, key: str, usual: str) -> str:
    setting = SETTINGS[name]
    choices = getattr(setting, "choices", ())
    said = ", ".join(map(str, choices)) if choices else setting.range
    text = st.text_input(f"Values of {setting.label}", usual, key=f"{key}_{name}", max_chars=LONGEST,
                         placeholder="with commas between", help=f"Possible: {said}")  # fmt: skip
    return text.strip()


@uninterrupted
def _start(store: Store, configs: Sequence[RunConfig], axes: Sequence[str], name: str) -> None:
    """Queue the sweep and show it; where this session began all of its runs and they are under way, it says that."""
    sweep = store.new_id()
    if start(store, configs, lambda every: [run for _, run in named_runs(every, axes, name)], sweep):
        put("sweep", sweep, "")
        put("show", "sweep", "progress")
