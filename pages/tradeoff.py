"""The Trade-off page: the certified curve beside the CLT and pairs of (epsilon, delta)."""

from functools import partial
from typing import Any

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
from pages.parts.results.odds import WORDS, not_promised, odds_icons, on_screen
from pages.parts.results.pinned_setting import difference, pin_controls
from pages.parts.results.sampled import (
    after_counted,
    risks_with,
    sampled_band_of,
    say_more,
    say_sampled,
    takes_long,
)
from pages.parts.results.tables import card

PRIOR = own_quantity("prior")

SHARE_IN_FRONT = 0.7  # of the window's height, for the chart in front of a class
ALLOWED = ("what is proven", "what epsilon alone would allow")


def compare_controls() -> tuple[str, bool, str, str]:
    """Draw what the chart shows: its view, if its axes are logarithmic, and whose pairs."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    view = choice_of(row, "Show", ("trade-off", "delta", "steps"), "view")
    axes = choice_of(row, "Axes", ("linear", "log-log"), "axes")
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
    return view, axes == "log-log", one, every


def shown_allowed(place: Any, view: str) -> bool:
    """Draw the choice if the chart shows what one pair would allow, and return it."""
    if view != "trade-off":
        return False
    return choice_of(place, "Allowed", ALLOWED, "allowed", show_label=False) != ALLOWED[0]


left, right = page_columns("What can an attacker do?")

setting = setting_in(left, right)
with left:
    sampler = sampler_choice(setting.n)
    counting_mistakes(setting.q)
    pinned = pin_controls(setting, setting_on_screen)
mechanism = setting.mechanism
delta = setting.delta
origin = exports.origin_of(mechanism, delta, setting.n, exports.address())

with right:
    sampler_place = st.container(gap="xsmall")
    certain_place = st.container(key="first_words")
    warnings_place = st.container()
    beside, large = st.columns([5, 7], gap="medium")
    odds_place = beside.container(key="people")
    allowed_place = large.container(key="switch")
    # Emptied itself, the chart would be made anew by every run.
    early = large.empty()
    place = large.container()
    with st.expander("Compare: accountants, other axes, all numbers"):
        view, log, one, every = compare_controls()
        chosen = accountant_pills() if view == "delta" else []
        prior = number(PRIOR)
        numbers_place = st.container()
    others = shown_allowed(allowed_place, view) or {one, every} != {CERTIFIED}
    names = tuple(name for name in ACCOUNTANTS if name in chosen or name == CERTIFIED)
    look = Look(view, log, one, every, names, pinned, sampler, others)

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
    of_poisson = cache.risks(mechanism, delta)
    found = risks_with(sampler, mechanism, delta)
    sampled = sampled_band_of(sampler, mechanism)
    early.empty()
    after = after_counted(sampler, mechanism, setting.after)
    certain.markdown(error_sentence(found, after))
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
                drawn.figure,
                KEYS[view],
                drawn.alt,
                drawn.title,
                origin,
                preview=preview,
                fits=True,
                share_in_front=SHARE_IN_FRONT,
            )
    else:
        place.info(WORDS["how_to_read"]["same_numbers"])

    with odds_place:
        if band.empty and not sampled:
            st.markdown(attack.NO_BAND)
        if found:  # else no hundred people are drawn
            st.html(odds_icons(found))
        st.html(not_promised())
    with numbers_place:
        on_screen("tradeoff")
        axes = "log-log" if log else "linear"
        meaning = WORDS["how_to_read"]
        st.markdown(meaning[f"{view}, {axes}" if view == "trade-off" else view])
        if others:
            st.markdown(meaning["pair"])
        if sampled:
            st.caption("The CLT is judged for Poisson batches:")
        st.html(clt_verdict(cache.mu(mechanism), of_poisson))
        attack.say_how_it_is_drawn(sampler, mechanism, view)
        say_more(sampler, mechanism, delta)
        st.html(attack_table(band, of_poisson, against, prior, sampled))
    if view == "delta":
        exports.curves_download(mechanism, "delta", origin)
    elif view == "trade-off":
        edges = edges_of(band)
        if sampled:
            edges = [*edges_of(sampled.band, sampled.sampler.title), *edges]
        exports.tradeoff_download([*edges, *against], view, origin)
    else:
        exports.tradeoff_download(growing_curves(mechanism), view, origin)
    card(mechanism, cache.final(one, mechanism, delta), one, setting.n)
