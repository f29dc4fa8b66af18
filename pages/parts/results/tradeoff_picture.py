"""The large picture of the Trade-off page in its three views, also while a slider moves."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import gaussian_line, growth_figure, profile_figure, tradeoff_figure
from dpcore.figures.alt_texts import growth_alt, profile_alt, tradeoff_alt
from dpcore.figures.sampled import sampled_profile_figure
from dpcore.figures.style import Size
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson
from pages.parts.components.live_chart import Drawing
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.results import cache
from pages.parts.results.attack import Compared
from pages.parts.results.odds import WORDS
from pages.parts.results.pinned_setting import ghost_over_delta, pinned_line
from pages.parts.results.sampled import answers, sampled_band_of, sampled_profile_of

HEIGHT = 470
TITLE = "Trade-off function"
KEYS = {"trade-off": "attack_chart", "delta": "profile_chart", "steps": "steps_chart"}


class Look(NamedTuple):
    view: str  # one of `KEYS`
    log: bool
    one: str  # the accountant of the one pair
    every: str  # that of all pairs
    names: tuple[str, ...]  # the accountants whose profiles are drawn
    pinned: ChosenSetting | None
    size: Size
    sampler: str = Poisson.name  # its batches stand beside the Poisson ones


class Picture(NamedTuple):
    """A figure, its words for a screen reader, and its title."""

    figure: go.Figure
    alt: str
    title: str


def compared(look: Look, mechanism: Mechanism, delta: float) -> Compared:
    spent = cache.final(look.one, mechanism, delta)
    return Compared(cache.mu(mechanism), look.one, spent, look.every, *cache.pairs(look.every, mechanism))


def picture(look: Look, mechanism: Mechanism, delta: float) -> Picture | None:
    """The picture of a mechanism; None for growing lengths of steps that are not all alike."""
    drawn: dict[str, Any] = {"log": look.log, "height": HEIGHT, "size": look.size}
    ghost = pinned_line(look.pinned) if look.pinned and look.view != "delta" else []
    if look.view == "trade-off":
        band = cache.band(mechanism)
        lines = [*compared(look, mechanism, delta).lines(), *ghost]
        otherwise = sampled_band_of(look.sampler, mechanism)
        alt = tradeoff_alt(band, lines, otherwise=otherwise, log=look.log)
        return Picture(tradeoff_figure(band, lines, otherwise=otherwise, **drawn), alt, TITLE)
    if look.view == "delta":
        profiles = {name: cache.profile(name, mechanism) for name in look.names}
        drawn["ghost"] = ghost_over_delta(look.pinned) if look.pinned else None
        shown = sampled_profile_of(look.sampler, mechanism)
        figure = sampled_profile_figure(profiles, shown, **drawn) if shown else profile_figure(profiles, **drawn)
        return Picture(figure, profile_alt(profiles, shown), "Privacy profile")
    bands = {steps: cache.band(each) for steps, each in cache.growing(mechanism).items()}
    if not bands:
        return None
    mu = cache.mu(mechanism)
    return Picture(
        growth_figure(bands, mu, ghost, **drawn), growth_alt(bands, mu, ghost, log=look.log), "Growing steps"
    )


def first_picture(look: Look, mechanism: Mechanism) -> Picture:
    """The approximation alone, for the time until the certified curves are there."""
    lines = [gaussian_line(cache.mu(mechanism))]
    figure = tradeoff_figure(None, lines, log=look.log, height=HEIGHT, size=look.size)
    return Picture(figure, tradeoff_alt(None, lines, log=look.log), TITLE)


def previewed(look: Look, setting: ChosenSetting, field: str, text: str) -> Drawing | None:
    """The picture with this text in a field; None if that may take long."""
    now = setting.moved(field, text)
    if cache.slow(now.mechanism, now.delta) or answers(look.sampler, now.mechanism):
        return None
    found = picture(look, now.mechanism, now.delta)
    return Drawing(found.figure) if found else None


def say_how_it_is_drawn(sampler: str, mechanism: Mechanism, view: str) -> None:
    """Draw how to read the curves of batches that are not Poisson."""
    if answers(sampler, mechanism):
        area = "hatched area" if sampler_of(sampler).interval else "brown band"
        st.markdown(f"**{sampler_of(sampler).title}.** {WORDS['otherwise'][view].format(area=area)}")
