"""Train a private model and watch it: form, estimate, run, and its accuracy and epsilon while they happen."""

import streamlit as st

from dpcore.figures.style import BAND_ID, DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import StoreError
from pages.parts import shown
from pages.parts.estimate import estimate
from pages.parts.form import baseline_of, config_form
from pages.parts.frame import frame
from pages.parts.live import watch
from pages.parts.settings import choice_of

frame("Train a private model and watch it")
left, right = st.columns([1, 3], gap="medium")

try:
    pool = ensure_pool()
    past = pool.store.runs()
except StoreError as error:
    st.error(str(error))
    st.stop()
if pool.trouble:
    right.warning(pool.trouble)

with left:
    try:
        configs = config_form()
    except (ValueError, RuntimeError) as error:  # RuntimeError: the accountant to stop by has no answer
        st.error(str(error))
        st.button("Start private run", type="primary", disabled=True, width="stretch")
    else:
        estimate(configs, past)
        started = {"on_click": shown.start, "width": "stretch"}
        st.button("Start private run", type="primary", args=(pool.store, configs), **started)
        st.button(
            "Start non-private baseline",
            args=(pool.store, [baseline_of(config) for config in configs]),
            help="The same model, data and batches without clipping and noise, at an ordinary learning rate.",
            **started,
        )

with right:
    across, by, which = st.columns([1, 1, 3])
    x = choice_of(across, "Accuracy against", ("epoch", "epsilon"), "x")
    names = [BAND_ID, *DEFAULT_ACCOUNTANTS, *(name for name in ACCOUNTANTS if name not in DEFAULT_ACCOUNTANTS)]
    accountant = by.selectbox("Epsilon by", list(dict.fromkeys(names)), key="by", bind="query-params")
    with which:
        ids = shown.choose(past)
    if ids:
        watch(pool.store, ids, accountant, x)
    else:
        st.info("No run is shown. Choose settings and press start, or pick a run above: its accuracy arrives here.")
