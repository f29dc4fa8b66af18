"""The trade-off curves of the page: names, kinds, the picture in its views, and their table."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import Line, gaussian_line, growth_figure, profile_figure, tradeoff_figure
from dpcore.figures.alt_texts import growth_alt, profile_alt, tradeoff_alt
from dpcore.figures.sampled import SampledBand
from dpcore.figures.style import style_of
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import RATES, Risks, advantage, bayes_risk, mu_above
from dpcore.privacy.report.numbers import marked, nearest, outward, plain, raised, rounded, short
from dpcore.privacy.report.verdict import Worth
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff
from dpcore.training.slider_stops import show
from pages.parts.components.live_chart import Drawing
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.results import cache
from pages.parts.results.odds import WORDS, head
from pages.parts.results.pinned_setting import ghost_over_delta, pinned_line
from pages.parts.results.sampled import answers, sampled_band_of, sampled_profile_of
from pages.parts.results.tables import sign, table

HEIGHT = 470
TITLE = "Trade-off function"
KEYS = {"trade-off": "attack_chart", "delta": "profile_chart", "steps": "steps_chart"}
PLACE = "attacks"  # of the table's words on the page
COIN = "On the dotted line, an attacker does no better than tossing a coin."
TRADEOFF = f"No attack gets above the grey curve. {COIN}"
NO_BAND = "**No promise at all**: nothing proven limits the attacker, so there is no grey curve."


class Named(NamedTuple):
    """A curve with its name and kind."""

    name: str
    kind: Kind
    f: Tradeoff


def growing_curves(mechanism: Mechanism) -> list[Named]:
    """The certified curves of growing lengths, and their limit."""
    curves = []
    for steps, each in cache.growing(mechanism).items():
        curves += edges_of(cache.band(each), f"Certified, T = {steps:,}")
    curves.append(clt_curve(cache.mu(mechanism)))
    return curves


def clt_curve(mu: float) -> Named:
    return Named("CLT's G_mu", Kind.APPROXIMATE, Gaussian(mu))


def edges_of(band: Band, name: str = "Certified") -> list[Named]:
    """The two curves of a band; none if it is empty."""
    if band.empty:
        return []
    return [
        Named(f"{name}, at least", Kind.CERTIFIED, band.lower),
        Named(f"{name}, at most", Kind.CERTIFIED, band.upper),
    ]


class Measure(NamedTuple):
    """One number of a curve in its unit, and its word in the glossary."""

    label: str
    value: Callable[[Tradeoff], float]
    worse: bool  # a larger value is worse for privacy, so that a bound is rounded up
    blind: float
    unit: str = " %"
    word: str = ""  # where it is not the label itself


def error_sentence(found: Risks | None, after: str) -> str:
    """The smallest sum of both errors, in a sentence that begins with `after_training`.

    Without risks nothing is proven for the batches that are chosen.
    """
    if found is None:
        return f"{after}, nothing is proven about an attacker with these batches."
    if found.empty:
        return f"{after}, nothing is certified about an attacker: {found.note}"
    low = outward(100 * found.error.lower, math.floor)
    high = outward(100 * found.error.upper, math.ceil)
    return (
        f"{after}, any attack's two error rates add up to at least **{low} %**. The best attack"
        f" gets to **{high} %** or less, a coin to 100 %."
    )


def attack_table(
    band: Band,
    found: Risks,
    curves: Sequence[Named],
    prior: float,
    other: SampledBand | None = None,
) -> str:
    """An HTML table of numbers, proven bands first; bounds are rounded outwards.

    The band of the chosen batches, if they are not Poisson's, comes before all others.
    """
    bands = {"Certified": band}
    if other:
        bands = {other.sampler.title: other.band, "Certified, Poisson": band}
    heads = ["Number", *bands, *(each.name for each in curves), "Blind guessing"]
    rows = []
    for each in _measures(prior, found.least):
        rows.append(_row(each, list(bands.values()), curves))
    return table("Attacks", "attack", heads, rows)


def clt_verdict(mu: float, found: Risks) -> str:
    """The verdict on the mu of the central limit theorem, as HTML with a sign."""
    worth, text = _judged(mu, found)
    return f"<p class=verdict>{sign(worth)} {escape(text)}</p>"


def _judged(mu: float, found: Risks) -> tuple[Worth, str]:
    where = f"for attacks with both errors of at least {plain(raised(found.least))}"
    if found.empty or math.isinf(found.mu.upper):
        text = "No finite mu is certified here, so the mu of the CLT has no verdict."
        return Worth.UNDECIDED, text
    if math.isinf(mu):
        return Worth.NOT_AVAILABLE, "The CLT has no mu here: e^(1/sigma^2) is too large."
    low = outward(found.mu.lower, math.floor)
    high = outward(found.mu.upper, math.ceil)
    if mu < found.mu.lower:
        text = (
            f"The CLT claims too much privacy. Its mu is {short(mu)}; the true mu lies between"
            f" {low} and {high} ({where})."
        )
        return Worth.CLAIMS_LESS, text
    if mu > found.mu.upper:
        text = (
            f"The CLT errs on the safe side here. Its mu is {short(mu)}; {high} is proven to be"
            f" enough ({where})."
        )
        return Worth.LOOSE, text
    text = f"The CLT's mu of {short(mu)} lies between the proven {low} and {high} ({where})."
    return Worth.UNDECIDED, text


def _measures(prior: float, least: float) -> list[Measure]:
    found = []
    for rate in RATES:
        label = f"True positives at {100 * rate:g} % false positives"
        found.append(
            Measure(
                label,
                lambda f, r=rate: 100 * float(f.power(r)),
                True,
                100 * rate,
                word="True positives",
            )
        )
    above = f"mu, where both errors are at least {plain(raised(least))}"
    wrong, rare = f"Chance of a wrong guess at prior {show(prior)}", 100 * min(prior, 1 - prior)
    return [
        Measure(
            "Smallest type I + type II error", lambda f: 100 * (1 - advantage(f)), False, 100.0
        ),
        Measure("Largest advantage", lambda f: 100 * advantage(f), True, 0.0),
        *found,
        Measure(
            wrong, lambda f: 100 * bayes_risk(f, prior), False, rare, word="Chance of a wrong guess"
        ),
        Measure(above, lambda f: mu_above(f, least), True, 0.0, unit="", word="mu"),
    ]


def _row(measure: Measure, bands: Sequence[Band], curves: Sequence[Named]) -> list[str]:
    return [
        head(measure.label, PLACE, measure.word),
        *(_of_band(measure, band) for band in bands),
        *(_single(measure, each) for each in curves),
        f"{nearest(measure.blind)}{measure.unit}",
    ]


def _of_band(measure: Measure, band: Band) -> str:
    if band.empty:
        return "n/a"
    low, high = sorted(measure.value(f) for f in (band.lower, band.upper))
    if math.isinf(high):
        return "no bound"
    return f"{outward(low, math.floor)} to {outward(high, math.ceil)}{measure.unit}"


def _single(measure: Measure, each: Named) -> str:
    value = measure.value(each.f)
    if math.isinf(value):
        return "no bound"
    if not each.kind.is_bound:
        return f"{marked(value, each.kind)}{measure.unit}"
    bound = f"≤ {outward(value, math.ceil)}" if measure.worse else f"≥ {outward(value, math.floor)}"
    return f"{bound}{measure.unit}"


class Look(NamedTuple):
    view: str  # one of `KEYS`
    log: bool
    one: str  # the accountant of the one pair
    every: str  # that of all pairs
    names: tuple[str, ...]  # the accountants whose profiles are drawn
    pinned: ChosenSetting | None
    sampler: str = Poisson.name  # its batches stand beside the Poisson ones
    others: bool = True  # the pairs and the CLT are drawn, beside the certified band


class Picture(NamedTuple):
    """A figure, its words for a screen reader, and its title."""

    figure: go.Figure
    alt: str
    title: str


def compared(look: Look, mechanism: Mechanism, delta: float) -> list[Named]:
    """The curves of the CLT, of one accountant's pair, and of all pairs of another."""
    spent = cache.final(look.one, mechanism, delta)
    epsilon = spent.last.value
    at = plain(raised(float(spent.delta[-1])))
    name = f"No pair at delta {at}"
    if math.isfinite(epsilon):
        name = f"({rounded(epsilon, spent.kind)}, {at})"
    pair = Pairs(spent.epsilon[-1:], spent.delta[-1:])
    pairs, kind = cache.pairs(look.every, mechanism)
    return [
        clt_curve(cache.mu(mechanism)),
        Named(f"{name} by {style_of(look.one).label}", spent.kind, pair),
        Named(f"All pairs by {style_of(look.every).label}", kind, pairs),
    ]


def picture(look: Look, mechanism: Mechanism, delta: float) -> Picture | None:
    """The picture of a mechanism; None for growing lengths of steps that are not all alike."""
    if look.view == "trade-off":
        return _tradeoff(look, mechanism, delta)
    if look.view == "delta":
        return _profiles(look, mechanism)
    return _growth(look, mechanism)


def _tradeoff(look: Look, mechanism: Mechanism, delta: float) -> Picture:
    """The certified band with the pair, all pairs, the CLT and the pinned setting."""
    band = cache.band(mechanism)
    lines = _others(look, mechanism, delta) if look.others else []
    lines += _pinned(look)
    sampled = sampled_band_of(look.sampler, mechanism)
    figure = tradeoff_figure(band, lines, otherwise=sampled, log=look.log, height=HEIGHT)
    alt = tradeoff_alt(band, lines, otherwise=sampled, log=look.log)
    return Picture(figure, alt, TITLE)


def _others(look: Look, mechanism: Mechanism, delta: float) -> list[Line]:
    """The region of one pair, the curve of all pairs, and the CLT."""
    _, pair, pairs = compared(look, mechanism, delta)
    label = allowed_by(cache.final(look.one, mechanism, delta).last, look.one)
    lines = [Line(style_of(look.one)._replace(label=label), pair.f, pair.kind, region=True)]
    if look.every != CERTIFIED:  # whose pairs are the edge of the band
        lines.append(Line(style_of(look.every)._replace(label=pairs.name), pairs.f, pairs.kind))
    return [*lines, _estimate(mechanism)]


def allowed_by(spent: Reading, by: str) -> str:
    """The name of all attacks that one epsilon, by one accountant, does not rule out.

    >>> allowed_by(Reading(0.3174, 0.317, Kind.CERTIFIED), "pld")
    'what epsilon ≤ 0.318 alone would allow'
    """
    counted = "" if by == CERTIFIED else f", by {style_of(by).label}"
    if math.isinf(spent.value):
        return f"no epsilon{counted}"
    return f"what epsilon {marked(spent.value, spent.kind)} alone would allow{counted}"


def _estimate(mechanism: Mechanism) -> Line:
    """The curve of the central limit theorem, by a name that says what it is."""
    mu = cache.mu(mechanism)
    line = gaussian_line(mu)
    return line._replace(style=line.style._replace(label=f"the CLT's estimate, mu = {short(mu)}"))


def _profiles(look: Look, mechanism: Mechanism) -> Picture:
    """Epsilon against delta, by the accountants of the look."""
    profiles = {name: cache.profile(name, mechanism) for name in look.names}
    sampled = sampled_profile_of(look.sampler, mechanism)
    ghost = ghost_over_delta(look.pinned) if look.pinned else None
    figure = profile_figure(profiles, sampled, log=look.log, height=HEIGHT, ghost=ghost)
    return Picture(figure, profile_alt(profiles, sampled), "Privacy profile")


def _growth(look: Look, mechanism: Mechanism) -> Picture | None:
    """The certified bands of growing lengths; None if the steps are not all alike."""
    bands = {steps: cache.band(each) for steps, each in cache.growing(mechanism).items()}
    if not bands:
        return None
    mu = cache.mu(mechanism)
    ghost = _pinned(look)
    figure = growth_figure(bands, mu, ghost, log=look.log, height=HEIGHT)
    return Picture(figure, growth_alt(bands, mu, ghost, log=look.log), "Growing steps")


def _pinned(look: Look) -> list[Line]:
    return pinned_line(look.pinned) if look.pinned else []


def first_picture(look: Look, mechanism: Mechanism) -> Picture:
    """The approximation alone, for the time until the certified curves are there."""
    lines = [_estimate(mechanism)]
    figure = tradeoff_figure(None, lines, log=look.log, height=HEIGHT)
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
        st.markdown(
            f"**{sampler_of(sampler).title}.** {WORDS['otherwise'][view].format(area=area)}"
        )
