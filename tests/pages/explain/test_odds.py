"""The odds as x of 100: never more private than proven, drawn as it is told, and in words for who cannot see it."""

import math
import re
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Between, Risks
from pages.parts.explain.odds import PEOPLE, odds_icons, of_hundred
from pages.parts.results import cache


def risks(sure: float, *, empty: bool = False) -> Risks:
    zero = Between(0.0, 1.0)
    return Risks(zero, zero, {}, zero, 1e-5, sure, "Too little noise.", empty)


def people(drawing: str) -> list[int]:
    """How many heads are drawn in each of the three groups."""
    groups = re.findall(r"<g .*?</g>", unquote(drawing))
    return [group.count("v0") for group in groups]


@given(st.floats(0.5, 1.0))
def test_it_is_rounded_up_and_by_less_than_one(sure: float):
    shown = of_hundred(risks(sure))
    assert shown / PEOPLE >= sure
    assert shown - 1 < PEOPLE * sure + 1e-9


def test_a_hundred_people_are_drawn_as_many_as_it_says():
    for sure, shown in (
        (0.5, 50), (math.nextafter(0.5, 1), 51), (0.87336, 88), (0.88, 88), (math.nextafter(0.88, 1), 89),
        (0.9901, 100),
    ):  # fmt: skip
        html = odds_icons(risks(sure))
        assert people(html) == [50, shown - 50, PEOPLE - shown], (sure, shown)
        assert f"{shown} of {PEOPLE}" in html, (sure, shown)
        assert f"about {shown} at most after" in re.findall(r'alt="(.*?)"', html)[0], (sure, shown)


def test_where_no_bound_is_proven_it_promises_nothing():
    for found in [risks(1.0), risks(0.6, empty=True), risks(math.nextafter(1, 0))]:
        html = odds_icons(found)
        assert f"up to {PEOPLE} of {PEOPLE}" in html, found
        assert "at most 100 of" not in html.split("<figcaption>")[1], found
        assert "certain" in html, found


def test_more_noise_never_draws_more_people():
    shown = [of_hundred(cache.risks(Mechanism.constant(0.02, sigma, 200), 1e-5)) for sigma in (0.6, 1.0, 2.0, 8.0)]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] > shown[-1]
