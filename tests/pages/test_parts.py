"""The logic that pages share, without a page."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.figures import curves_figure, epochs_at
from dpcore.papers.catalogue import PAPERS
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.schedule import SCHEDULES, Recipe
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from dpcore.training.settings import Slider
from dpcore.training.slider_stops import grid, show
from pages.parts.controls import mechanism, presets
from pages.parts.controls.fields import Quantity, read
from pages.parts.results import cache
from pages.parts.results.tables import HEADS, epsilon_sentence, verdict_table
from pages.parts.train.form import baseline_of

ANY = Quantity("value", "Value", "1", Slider(0.1, 10), lambda value: None)
MECHANISM = Mechanism.constant(0.01, 2.0, 200)
NONSENSE = [
    "abc",
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1/0",
    "☃",
    "<b>4</b>",
    "9" * 39,
    "1e-400",
    "0x10",
]


@given(st.text(max_size=50))
def test_any_text_is_a_number_or_a_sentence_about_it(text: str):
    try:
        assert math.isfinite(read(ANY, text))
    except ValueError as error:
        assert str(error).startswith("Expected value=")  # noqa: PT017  # most texts are no numbers


@given(st.floats(1e-300, 1e300))
def test_what_is_shown_is_what_is_read(value: float):
    assert read(ANY, show(value)) == pytest.approx(value, rel=1e-11, abs=0)


def test_every_slider_stop_and_default_is_accepted():
    for quantity in [value for value in vars(mechanism).values() if isinstance(value, Quantity)]:
        stops = grid(
            quantity.slider.low, quantity.slider.high, quantity.whole, quantity.slider.coarse
        )
        assert len(stops) >= 10, quantity
        assert all(a < b for a, b in pairwise(stops)), quantity
        for stop in stops:
            assert read(quantity, show(stop)) == stop, quantity
        read(quantity, quantity.default)


def test_nonsense_in_any_field_is_one_sentence_about_it_or_a_number_that_the_field_takes():
    for quantity in (value for value in vars(mechanism).values() if isinstance(value, Quantity)):
        for text in NONSENSE:
            try:
                value = read(quantity, text)
            except ValueError as error:
                assert str(error).startswith(f"Expected {quantity.key}="), text  # noqa: PT017
            else:
                assert math.isfinite(value), (quantity.key, text)
                assert text in ("0", "-1", "9" * 39, "1e-400"), (quantity.key, text)


def test_the_caches_are_bounded_and_tell_accountants_apart():
    caches = [each for each in vars(cache).values() if hasattr(each, "cache_info")]
    assert len(caches) >= 8
    for cached in caches:
        assert 0 < cached.cache_info().maxsize <= 2048
    values = {name: float(cache.curve(name, MECHANISM, 1e-5).epsilon[-1]) for name in ACCOUNTANTS}
    assert len(set(values.values())) == len(ACCOUNTANTS)
    assert cache.curve("rdp", MECHANISM, 1e-5) is cache.curve(
        "rdp", Mechanism.constant(0.01, 2.0, 200), 1e-5
    )


def test_mu_adds_over_releases_in_squares():
    assert cache.mu(Mechanism((Release(0.1, 2.0, 3), Release(0.1, 1.0, 2)))) == pytest.approx(
        math.sqrt(3 * 0.01 * math.expm1(0.25) + 2 * 0.01 * math.expm1(1.0))
    )
    assert cache.mu(Mechanism.constant(0.5, 0.01, 1)) == math.inf


def test_each_presets_name_is_known_and_its_texts_are_accepted():
    for name, preset in presets.PRESETS.items():
        for key in ("n", "batch", "sigma", "epochs", "delta", "clip_norm"):
            read(getattr(mechanism, key.upper()), preset[key])
        assert preset["optimizer"] in mechanism.OPTIMIZERS, name
        assert preset["schedule"] in SCHEDULES, name
        n, batch, sigma, epochs = (float(preset[key]) for key in ("n", "batch", "sigma", "epochs"))
        steps = math.ceil(epochs * n / batch - 1e-9)
        assert (
            Recipe(preset["schedule"], float(preset["rate"] or 0))
            .mechanism(batch / n, sigma, steps)
            .steps
            == steps
        ), name
        assert preset["source"]


def test_a_papers_presets_are_settings_of_its_numbers():
    def numbers(of: dict[str, str]) -> list[float]:
        return [float(of[name]) for name in ("n", "batch", "sigma", "epochs", "clip_norm", "delta")]

    known = [
        numbers(vars(each.setting))
        for paper in PAPERS.values()
        for each in paper.entries
        if each.setting
    ]
    for name, preset in presets.PRESETS.items():
        assert numbers(preset) in known or not re.match("Moments|PIGDO|SA-DPSGD|Gaussian", name), (
            name
        )


@given(st.floats(1e-6, 1e6), st.floats(1, 1.01))
def test_rounded_bounds_never_claim_more_than_the_band(lower: float, width: float):
    upper = lower * width
    assert float(outward(lower, math.floor)) <= lower * (1 + 1e-12)
    assert float(outward(upper, math.ceil)) >= upper * (1 - 1e-12)


def test_a_verdict_stands_in_the_row_of_its_accountant():
    curves = {name: cache.curve(name, MECHANISM, 1e-5) for name in ACCOUNTANTS}
    rows = verdict_table(curves).split("<tr>")[2:]
    assert len(rows) == len(ACCOUNTANTS)
    assert "Certified: the exact epsilon lies between" in rows[-1]


def test_where_nothing_is_certified_the_page_says_so():
    steps = np.array([1])
    band = Curve(
        steps,
        np.array([1e-5]),
        np.array([np.inf]),
        np.array([3.0]),
        Kind.CERTIFIED,
        "Too little noise.",
    )
    said = epsilon_sentence(band, "1e-5")
    assert (
        said
        == "There is no certified epsilon at delta = 1e-5: too little noise. It is at least 3.00."
    )
    assert "At least 3.00: no upper bound, because too little noise." in verdict_table(
        {"pld": band}
    )
    bound = Curve(steps, np.array([1e-5]), np.array([4.0]), None, Kind.UPPER)
    assert f'<td class=number data-label="{HEADS[1]}">–</td>' in verdict_table(
        {"rdp": bound, "pld": band}
    )


def test_headline_table_and_label_say_one_number():
    for sigma in [0.7, 1.23, 4.0]:
        trained = Mechanism.constant(256 / 10_000, sigma, 196)
        band = cache.curve("pld", trained, 1e-5)
        low, high = re.findall(r"\*\*([\d.]+)\*\*", epsilon_sentence(band, "1e-5"))
        assert marked(float(band.epsilon[-1]), band.kind) == f"≤ {high}", sigma
        assert f">≤ {high}</td>" in verdict_table({"pld": band}), sigma
        assert f"between {low} and {high}." in verdict_table({"pld": band}), sigma
        (label,) = curves_figure({"pld": band}, epochs_at(trained, band.steps)).layout.annotations  # type: ignore[attr-defined]
        assert f"≤ {high} ✓ " in label.text, sigma
        assert len(high.replace(".", "").lstrip("0")) == 3, sigma


@given(st.floats(1e-9, 1e200))
def test_a_bound_on_a_chart_is_never_rounded_down(value: float):
    text = marked(value, Kind.UPPER)
    assert text.startswith("≤ ")
    assert len(text) <= 12
    shown = float(text.removeprefix("≤ ").replace(",", ""))
    assert value * (1 - 1e-9) <= shown <= value * 1.02


def test_the_baseline_is_the_same_run_without_noise_and_clipping():
    config = RunConfig(sigma=3.0, batch=100, lr=1.0)
    baseline = baseline_of(config)
    assert not baseline.private
    assert (baseline.batch, baseline.epochs, baseline.model) == (
        config.batch,
        config.epochs,
        config.model,
    )
    assert baseline.lr < config.lr


def test_every_run_has_a_baseline_of_as_many_steps():
    longest = RunConfig(batch=3633, public=7, acceptance="sa", epochs=363554.30636445514)
    shrinking = RunConfig(lr=1e-300, lr_schedule="linear", lr_end=1.0)
    stopped = RunConfig(sigma=2.0, epochs=40.0, stop_epsilon=2.0, stop_accountant="rdp")
    for config in (longest, shrinking, stopped):
        assert baseline_of(config).steps_of_epochs == plan(config).steps
