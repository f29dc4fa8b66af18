"""Batches that are not Poisson on the charts: both ends, hatched where nothing closer is proven,
the rest faint.
"""

import itertools
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dpcore.figures import (
    charted,
    epochs_at,
    gaussian_line,
    profile_figure,
    tradeoff_figure,
)
from dpcore.figures.alt_texts import profile_alt, tradeoff_alt
from dpcore.figures.lab import CURVE, lab_epsilon_figure
from dpcore.figures.sampled import FAINT, HATCHED, Sampled, SampledBand, sampled_ends
from dpcore.figures.style import SIGNS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import points_of, tradeoff_band

Q, SIGMA, STEPS = 0.0256, 1.23, 196
MECHANISM = Mechanism.constant(Q, SIGMA, STEPS)
AT = charted(MECHANISM)
CURVES = {name: ACCOUNTANTS[name].curve(MECHANISM, AT, 1e-5) for name in ("moments", "pld")}
PROFILES = {"pld": ACCOUNTANTS["pld"].profile(MECHANISM, np.array([1e-6, 1e-5, 1e-4]))}


def sampled(name: str) -> Sampled:
    sampler = SAMPLERS[name]
    at, epochs = points_of(sampler, Q, STEPS)
    curve, others = sampler.curve(Q, SIGMA, at, 1e-5), sampler.other_curves(Q, SIGMA, at, 1e-5)
    return Sampled(sampler, curve, epochs, others)


def parts(figure: go.Figure) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    traces: Any = figure.data
    plain = [each.to_plotly_json() for each in traces]
    return {each["name"]: each for each in plain}, figure.to_dict()["layout"]


def test_both_ends_lie_within_the_plot():
    for name, log in itertools.product(("shuffle", "fixed_order", "fixed_size"), (False, True)):
        shown = sampled(name)
        traces, layout = parts(
            lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT), otherwise=shown, log=log)
        )
        top = 10 ** layout["yaxis"]["range"][1] if log else layout["yaxis"]["range"][1]
        for title, values in (
            (shown.words, shown.curve.epsilon),
            (f"{shown.sampler.title}, at least", shown.curve.lower),
        ):
            np.testing.assert_array_equal(traces[title]["y"], values)
            assert np.max(traces[title]["y"]) < top, (name, log)
            assert list(traces[title]["x"]) == shown.epochs.tolist()


def test_what_is_for_poisson_batches_is_faint_says_so_and_can_still_be_followed():
    plain, _ = parts(lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT)))
    traces, layout = parts(
        lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT), otherwise=sampled("shuffle"))
    )
    for name, before in plain.items():
        if before.get("uid", "").startswith(CURVE):
            after = traces[f"{name}, Poisson"]
            assert after["opacity"] == FAINT
            assert after["uid"] == before["uid"]
            np.testing.assert_array_equal(after["y"], before["y"])
            assert "fillpattern" not in after
    # Below it lies what is more private than there is.
    assert "fillpattern" in traces["Shuffled every epoch, at least"]
    labels = [note["text"] for note in layout["annotations"] if "Poisson" in note["text"]]
    assert len(labels) == len(CURVES)
    signs = [sign for sign, _ in SIGNS["worth"].values()]  # they judge Poisson batches alone
    assert not any(sign in " ".join(labels) for sign in signs if sign)
    group = sampled("poisson_replace_one")
    other, _ = parts(lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT), otherwise=group))
    below = [each for name, each in other.items() if name.endswith("at least")]
    assert not any("fillpattern" in each for each in below), "another adjacency claims nothing here"


def test_ends_are_rounded_outwards_and_name_the_adjacency():
    shown = sampled("shuffle")
    least, most = sampled_ends(shown)
    assert least.text.startswith("≥ ")
    assert most.text.startswith("≤ ")
    assert float(least.text[2:6]) <= (shown.curve.last.lower or 0)
    assert float(most.text[2:6]) >= shown.curve.last.value
    assert all(each.text.endswith(", zero-out") for each in (least, most))


def test_what_others_count_is_drawn_as_its_kind():
    shown = sampled("fixed_size")
    traces, _ = parts(lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT), otherwise=shown))
    approximation, bound = traces["Central limit theorem"], traces["Rényi bound"]
    assert approximation["line"]["dash"] != bound["line"]["dash"]
    assert str(approximation["text"][-1]).startswith("≈")
    assert str(bound["text"][-1]).startswith("≤")


def test_an_upper_end_that_is_infinite_is_left_out():
    sampler = SAMPLERS["fixed_size"]
    curve = sampler.curve(0.01, 0.05, np.array([0, 50, 100]), 1e-5)
    shown = Sampled(sampler, curve, np.array([0, 0.5, 1.0]))
    assert [each.text[0] for each in sampled_ends(shown)] == ["≥"]
    traces, layout = parts(lab_epsilon_figure(CURVES, epochs_at(MECHANISM, AT), otherwise=shown))
    assert np.isnan(traces[shown.words]["y"][-1])
    assert np.isfinite(layout["yaxis"]["range"]).all()


@pytest.mark.parametrize("log", [False, True])
def test_a_profile_is_drawn_in_front_of_those_of_poisson_batches(log: bool):
    sampler = SAMPLERS["shuffle"]
    curve = sampler.profile(Q, SIGMA, 195, np.array([1e-6, 1e-5, 1e-4]))
    shown = Sampled(sampler, curve, np.ones(3))
    traces, layout = parts(profile_figure(PROFILES, shown, log=log))
    assert traces["Shuffled every epoch, zero-out, at most"]["fillpattern"] == HATCHED
    assert traces["Certified, Poisson"]["opacity"] == FAINT
    assert log or layout["xaxis"]["range"][1] >= float(curve.epsilon.max())
    assert re.search(
        r"; Shuffled every epoch, zero-out, from 5[.]\d+ to 8[.]90 at delta = 1e-5",
        profile_alt(PROFILES, shown),
    )


@pytest.mark.parametrize("log", [False, True])
def test_its_trade_off_band_stands_in_front_and_in_the_key(log: bool):
    band, lines = tradeoff_bounds(MECHANISM), [gaussian_line(0.3)]
    other = SampledBand(SAMPLERS["shuffle"], tradeoff_band(SAMPLERS["shuffle"], Q, SIGMA, 195))
    figure = tradeoff_figure(band, lines, otherwise=other, log=log)
    traces, layout = parts(figure)
    assert traces["Shuffled every epoch, zero-out, at most"]["fillpattern"] == HATCHED
    assert traces["Certified, at least, Poisson"]["opacity"] == FAINT
    assert figure.to_dict()["data"][-1]["name"] == "Shuffled every epoch, zero-out, at most"
    assert any("Shuffled every epoch, zero-out" in note["text"] for note in layout["annotations"])
    assert "Shuffled every epoch, zero-out from " in tradeoff_alt(
        band, lines, otherwise=other, log=log
    )
