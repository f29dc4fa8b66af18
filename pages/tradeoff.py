"""The Trade-off page: the certified curve beside the CLT and pairs of (epsilon, delta)."""

from functools import partial

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.statement import delta_warning
from pages.parts.components.live_chart import still_chart
from pages.parts.controls import presets
from pages.parts.controls.fields import own_quantity
from pages.parts.controls.setting_form import (
    counting_mistakes,
    sampler_choice,
    setting_in,
    setting_on_screen,
)
from pages.parts.controls.widgets import accountant_choice, accountant_pills, choice_of, number
from pages.parts.layout import page_columns
from pages.parts.results import attack, cache, exports
from pages.parts.results.attack import (
    KEYS,
    Look,
    attack_table,
    clt_verdict,
    edges_of,
    error_sentence,
    growing_curves,
)
from pages.parts.results.odds import WORDS, on_screen, visitor_line
from pages.parts.results.pinned_setting import difference, pin_controls
from pages.parts.results.sampled import say_more, say_sampled, takes_long
from pages.parts.results.tables import card

PRIOR = own_quantity("prior")

left, right = page_columns("What can an attacker do?")

setting = setting_in(left, right)
with left:
    sampler = sampler_choice(setting.n)
    counting_mistakes(setting.q)
    prior = number(PRIOR)
    pinned = pin_controls(setting, setting_on_screen)
mechanism = setting.mechanism
delta = setting.delta
origin = exports.origin_of(mechanism, delta, setting.n, exports.address())

with right:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    view = choice_of(row, "Show", ("trade-off", "delta", "steps"), "view")
    axes = choice_of(row, "Axes", ("linear", "log-log"), "axes")
    log = axes == "log-log"
    with row.container(width=230):
        one = accountant_choice("One pair by", "pair", "pair")
    with row.container(width=230):
        every = accountant_choice("All pairs by", "pairs")
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.markdown("Bu et al. 2020:", width="content")
    for name in presets.FIGURES:
        source = (
            f"As in {name} of Bu et al. 2020, Deep learning with Gaussian differential privacy."
        )
        row.button(name, type="tertiary", on_click=presets.apply_figure, args=(name,), help=source)
    chosen = accountant_pills() if view == "delta" else []
    names = tuple(name for name in ACCOUNTANTS if name in chosen or name == CERTIFIED)
    look = Look(view, log, one, every, names, pinned, sampler)

    on_screen("tradeoff")
    sampler_place = st.container(gap="xsmall")
    certain_place = st.container()
    warnings_place = st.container()
    large, beside = st.columns([5, 3], gap="medium")
    # Emptied itself, the chart would be made anew by every run.
    early = large.empty()
    place = large.container()
    certain = certain_place
    # The approximation is there at once.
    if cache.slow(mechanism, delta) or takes_long(sampler, mechanism):
        certain = certain_place.caption(cache.COMING)  # which the sentence replaces
        if view == "trade-off":
            first = attack.first_picture(look, mechanism)
            with early:
                still_chart(first.figure, key="first_chart", alt=first.alt)
    against = attack.compared(look, mechanism, delta)
    band = cache.band(mechanism)
    found = cache.risks(mechanism, delta)
    early.empty()
    certain.markdown(error_sentence(found, setting.after))
    with sampler_place:
        say_sampled(sampler, mechanism, delta, cache.final(CERTIFIED, mechanism, delta).last)
    warning = delta_warning(delta, setting.n)
    if warning:
        warnings_place.warning(warning)
    if pinned:
        warnings_place.markdown(difference(pinned, setting))

    drawn = attack.picture(look, mechanism, delta)
    if drawn:
        preview = partial(attack.previewed, look, setting)
        with place.container(key="in_sight", gap=None):
            exports.chart(
                drawn.figure, KEYS[view], drawn.alt, drawn.title, origin, preview=preview, fits=True
            )
    else:
        place.info(WORDS["how_to_read"]["same_numbers"])

    with beside:
        meaning = WORDS["how_to_read"]
        if band.empty:
            st.markdown(attack.NO_BAND)
        elif view == "trade-off":
            st.markdown(meaning[f"{view}, {axes}"])
        else:
            st.markdown(meaning[view])
        if view == "trade-off":
            st.markdown(meaning["pair"])
        st.html(clt_verdict(cache.mu(mechanism), found))
        visitor_line(found)
        attack.say_how_it_is_drawn(sampler, mechanism, view)
        say_more(sampler, mechanism, delta)
    st.html(attack_table(band, found, against, prior))
    if view == "delta":
        exports.curves_download(mechanism, "delta", origin)
    elif view == "trade-off":
        exports.tradeoff_download([*edges_of(band), *against], view, origin)
    else:
        exports.tradeoff_download(growing_curves(mechanism), view, origin)
    card(mechanism, cache.final(one, mechanism, delta), one, setting.n)
