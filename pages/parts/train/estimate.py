"""The expected epsilon and time of a run before it starts."""

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import charted, curves_figure, epochs_at
from dpcore.figures.alt_texts import curves_alt
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import marked, nearest
from dpcore.privacy.report.statement import delta_warning, seed_warning
from dpcore.runs.expected import duration
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from dpcore.training.settings import SETTINGS, Number
from dpcore.training.slider_stops import show
from pages.parts.components.live_chart import Drawing, live_chart
from pages.parts.controls.widgets import titled
from pages.parts.jobs import expected_seconds
from pages.parts.results import cache
from pages.parts.results.odds import visitor_line
from pages.parts.train.form import Form
from pages.parts.train.run_charts import WORDS

INVITATION = "Train with these settings, or pick a run above, to see its accuracy here."
EXPLAINED = ("sigma", "batch", "epochs", "clip_norm", "lr", "momentum")


def expected(form: Form, store: Store) -> None:
    """Draw the cost of these settings before the first run, and the effect of each choice."""
    st.info(INVITATION)
    chart, words = st.container(key="beside").columns([3, 2], gap="medium")
    if form.mechanism is not None:
        figure, alt = spending(form.mechanism, form.delta)
        with chart.container(key="in_sight"):
            st.markdown("**Privacy that these settings will spend**")
            preview = partial(_previewed, form)
            live_chart(figure, [], key="expected_chart", alt=alt, preview=preview, fits=True)
    with words:
        estimate(form.configs, store)
        st.markdown("**The effect of each choice**\n" + "\n".join(map(_choice, EXPLAINED)))


def spending(mechanism: Mechanism, delta: float) -> tuple[go.Figure, str]:
    """The chart of epsilon against epoch, and its alternative text."""
    names = {*DEFAULT_ACCOUNTANTS, CERTIFIED}
    curves = {name: cache.curve(name, mechanism, delta) for name in ACCOUNTANTS if name in names}
    epochs = epochs_at(mechanism, charted(mechanism))
    return curves_figure(curves, epochs, height=340), curves_alt(curves, epochs)


def _previewed(form: Form, field: str, text: str) -> Drawing | None:
    now = form.moved(field, text)
    if now is None or now.mechanism is None or cache.slow(now.mechanism, now.delta):
        return None
    return Drawing(spending(now.mechanism, now.delta)[0])


def _choice(name: str) -> str:
    """A setting in words, with the effect of its slider."""
    setting = SETTINGS[name]
    words = f"* {setting.label}, {setting.help}"
    slider = setting.slider if isinstance(setting, Number) else None
    if slider and slider.left:
        words += f". Left: {slider.left}. Right: {slider.right}"
    return words


def estimate(configs: Sequence[RunConfig], store: Store) -> None:
    """Draw the expected time and the final epsilons of each run."""
    if not configs:
        return
    config = configs[0]
    runs = len(configs)
    planned = plan(config)
    q = f"{config.batch:,}/{config.examples:,} = {nearest(config.q, 3)}"
    each = " each" if runs > 1 else ""
    time = "unknown until you have run something similar"
    seconds = expected_seconds(store, config)
    if seconds is not None:
        time = f"about {duration(seconds)}"
    st.caption(f"{planned.steps:,} steps at q = {q}{each}; time: {time}{each}.")
    mechanism = planned.mechanism
    if mechanism is None:
        st.warning(planned.unaccounted)
        return
    lines = [f"Epsilon at the end, at delta = {show(config.delta)}:"]
    for name in (CERTIFIED, *DEFAULT_ACCOUNTANTS):
        end = cache.final(name, mechanism, config.delta).last
        lines.append(f"* {titled(name)} **{marked(end.value, end.kind, end.lower)}**")
    st.markdown("\n".join(lines))
    visitor_line(cache.risks(mechanism, config.delta))
    if runs > 1:
        st.caption(WORDS["several"].format(runs=runs))
    seeds = [each.seed for each in configs if each.seed is not None]
    for warning in (seed_warning(seeds), delta_warning(config.delta, config.examples)):
        if warning:
            st.warning(warning)
