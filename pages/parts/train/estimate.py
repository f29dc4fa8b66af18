"""What a run will cost, before it is started: epsilon and time."""

from collections.abc import Sequence

import streamlit as st

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.cautions import delta_warning, seed_warning
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import nearest
from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from pages.parts.controls.choice import titled
from pages.parts.controls.number import show
from pages.parts.explain.visitor import visitor_line
from pages.parts.results import cache
from pages.parts.train.run_history import duration, seconds_for


def estimate(configs: Sequence[RunConfig], past: Sequence[Run]) -> None:
    """Epsilon at the end by the four accountants and the certified band, and the time it should take, for each run."""
    config, runs = configs[0], len(configs)
    planned = plan(config)
    steps = f"{planned.steps:,} steps at q = {config.batch:,}/{config.examples:,} = {nearest(config.q, 3)}"
    each = " each" if runs > 1 else ""
    st.caption(f"{steps}{each}; time: {_time(config, past)}{each}.")
    mechanism = planned.mechanism
    if mechanism is None:
        st.warning(planned.unaccounted)
        return
    names = [name for name in (CERTIFIED, *DEFAULT_ACCOUNTANTS) if name in ACCOUNTANTS]
    ends = [(name, cache.final(name, mechanism, config.delta)) for name in names]
    listed = "\n".join(f"* {titled(name)} **{marked(float(end.epsilon[-1]), end.kind)}**" for name, end in ends)
    st.markdown(f"Epsilon at the end, at delta = {show(config.delta)}:\n{listed}")
    visitor_line(cache.risks(mechanism, config.delta))
    if runs > 1:
        st.caption(several_runs(runs))
    if warning := seed_warning([each.seed for each in configs if each.seed is not None]):
        st.warning(warning)
    if warning := delta_warning(config.delta, config.examples):
        st.warning(warning)


def several_runs(runs: int) -> str:
    """What epsilon does not cover where one configuration is trained several times."""
    return (
        f"{runs} runs: each has this epsilon, where it alone is released. To release several of them, or the best, "
        "costs more: every run has used the data."
    )


def _time(config: RunConfig, past: Sequence[Run]) -> str:
    seconds = seconds_for(config, list(past))
    return "known once a run like it has finished here" if seconds is None else f"about {duration(seconds)}"
