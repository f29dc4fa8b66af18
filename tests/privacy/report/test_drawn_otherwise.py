"""Sentences about batches that are not Poisson: on the safe side, with their adjacency, never across two of them."""

import math

import pytest

from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.drawn_otherwise import counted_as_poisson, counting_notes, proven, unproven
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.types import Kind, Reading

SHUFFLE, ORDER, SIZE = (SAMPLERS[name] for name in ("shuffle", "fixed_order", "fixed_size"))


def reading(lower: float, upper: float) -> Reading:
    return Reading(upper, lower, Kind.CERTIFIED, "")


def test_ends_are_rounded_outwards():
    assert proven(SHUFFLE, reading(1.2399, 4.5611)).endswith(
        "zero-out: epsilon is proven to lie between **1.23** and **4.57**."
    )


def test_a_band_is_certified_and_an_interval_is_only_proven():
    assert "certified to lie" in proven(ORDER, reading(1.0, 1.04))
    assert "proven to lie" in proven(SIZE, reading(18.9, 23.0))  # a band as wide as an interval says no more
    assert "certified" not in proven(SHUFFLE, reading(1.0, 9.0))


def test_without_an_upper_end_the_lower_one_is_told():
    said = proven(SIZE, reading(1.239, math.inf))
    assert "no upper end" in said
    assert "**1.23**" in said
    assert "infinite" not in said


@pytest.mark.parametrize(
    ("poisson", "words"),
    [(0.99, "where at least 1.23 is proven"), (2.0, "neither proven nor refuted"), (9.1, "proven to be enough here")],
)
def test_the_claim_is_refuted_open_or_enough(poisson: float, words: str):
    said = counted_as_poisson(SHUFFLE, reading(1.2399, 9.0), reading(poisson, poisson))
    assert words in said
    assert said.startswith("Shuffled every epoch, and accounted as Poisson: claims ")


def test_nothing_is_compared_across_adjacencies_or_with_nothing():
    assert "the two cannot be compared" in counted_as_poisson(SIZE, reading(5.0, 6.0), reading(1.0, 1.1))
    assert counted_as_poisson(SAMPLERS["poisson"], reading(1.0, 1.1), reading(1.0, 1.1)) == ""
    assert counted_as_poisson(SHUFFLE, reading(1.0, 9.0), reading(1.0, math.inf)) == ""


def test_a_schedule_and_a_rate_that_takes_minutes_have_no_number():
    changing = Mechanism((Release(0.1, 2.0, 10), Release(0.1, 1.0, 10)))
    for sampler in SAMPLERS.values():
        assert bool(unproven(sampler, changing)) == (sampler.name != "poisson")
        assert unproven(sampler, Mechanism.constant(0.1, 1.0, 10)) == ""
    assert "takes minutes" in unproven(SIZE, Mechanism.constant(5e-5, 1.0, 10))


@pytest.mark.parametrize(("q", "share"), [(0.001, "63.2 %"), (0.5, "75.0 %"), (1.0, "100.0 %")])
def test_the_share_of_the_examples_that_an_epoch_touches_is_computed(q: float, share: str):
    assert share in " ".join(counting_notes(q))


def test_the_notes_name_what_goes_wrong_most():
    said = " ".join(counting_notes(0.01))
    for word in ("micro-batch", "weighted sampler", "drop_last", "1 - 1/e"):
        assert word in said
