"""The guessing game: what is recorded of two networks, and a program that guesses who was in their
training set.
"""

import random
from dataclasses import replace

import pytest

from dpcore.audit.attack_game import (
    KNOWN,
    MEMBERS,
    MODELS,
    PLAIN,
    PRIVATE,
    Digit,
    asked_of,
    known_of,
    play,
    program_for,
    recorded,
)
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.training.plan import plan
from tests.audit.record_attack_game import SHOWN


def told_apart(at: float) -> list[Digit]:
    """Members with a doubt below `at` and others above it, for both models."""
    inside = [Digit(k, True, at * 0.9, at * 0.9) for k in range(10)]
    outside = [Digit(k, False, at * 1.1, at * 1.1) for k in range(10, 20)]
    return inside + outside


def elsewhere(digits: list[Digit]) -> list[Digit]:
    """The same doubts about other digits."""
    return [replace(each, index=each.index + 100) for each in digits]


def score_of(model: str, seed: int = 0, guesses: int = 20_000) -> float:
    """The share of right guesses of the program on the digits that are asked about."""
    digits = recorded()
    program = program_for(model, known_of(digits))
    return play(program, asked_of(digits), guesses, random.Random(seed)).share


def test_as_many_digits_were_in_the_training_set_as_not_and_the_file_says_which() -> None:
    assert PRIVATE.examples == PLAIN.examples == MEMBERS
    digits = recorded()
    assert [each.member for each in digits] == [True] * SHOWN + [False] * SHOWN
    assert all((each.index < MEMBERS) is each.member for each in digits)
    assert len({each.index for each in digits}) == len(digits)
    assert all(0 < doubt <= 1 for each in digits for doubt in (each.private, each.plain))


def test_no_digit_is_both_known_and_asked_about() -> None:
    known, asked = known_of(recorded()), asked_of(recorded())
    assert len(known) == 2 * KNOWN
    assert len(asked) == 2 * (SHOWN - KNOWN)
    assert {each.index for each in known}.isdisjoint(each.index for each in asked)


@pytest.mark.parametrize("model", MODELS)
def test_a_program_is_never_scored_on_a_digit_on_which_its_bar_was_chosen(model: str) -> None:
    known = told_apart(0.1)
    program = program_for(model, known)
    asked = elsewhere(known)
    with pytest.raises(ValueError, match="has not seen"):
        play(program, known, 10, random.Random(0))
    with pytest.raises(ValueError, match="has not seen"):
        play(program, [*asked, known[0]], 10, random.Random(0))
    assert play(program, asked, 10, random.Random(0)).right == 10


@pytest.mark.parametrize("model", MODELS)
def test_a_bar_follows_the_known_digits_whatever_the_others_are(model: str) -> None:
    assert program_for(model, told_apart(0.1)).bar == pytest.approx(0.09)
    assert program_for(model, told_apart(0.01)).bar == pytest.approx(0.009)
    program = program_for(model, told_apart(0.1))
    score = play(program, elsewhere(told_apart(0.01)), 1000, random.Random(0))
    assert score.share < 0.56  # it accuses all: a bar chosen in hindsight would be right of all


def test_a_coin_decides_between_a_member_and_another_digit_however_many_there_are() -> None:
    known = told_apart(0.1)
    crowd = elsewhere(known[:10]) + [replace(known[10], index=index) for index in range(200, 300)]
    accuses_all = replace(program_for("plain", known), bar=1.0)
    score = play(accuses_all, crowd, 1000, random.Random(0))
    assert score.share == pytest.approx(0.5, abs=0.06)
    assert score.chance == pytest.approx(2 * (0.25 / 1000) ** 0.5)  # only draws: each kind is alike


def test_the_chance_of_a_score_is_that_of_its_digits_and_of_its_draws() -> None:
    known = told_apart(0.1)
    half = [replace(each, plain=0.2) if each.index % 2 else each for each in elsewhere(known)]
    inside, outside = half[:10], elsewhere(known)[10:]
    score = play(program_for("plain", known), inside + outside, 400, random.Random(0))
    of_digits = 0.5 * 0.5 / 10 / 4  # half of the members are found, and nobody accused wrongly
    of_draws = 0.75 * 0.25 / 400
    assert score.chance == pytest.approx(2 * (of_digits + of_draws) ** 0.5)


def test_one_network_betrays_its_members_and_the_private_one_stays_within_its_proven_limit() -> (
    None
):
    mechanism = plan(PRIVATE).mechanism
    assert mechanism
    most = (1 + risks_of(tradeoff_bounds(mechanism), PRIVATE.delta).advantage.upper) / 2
    assert most < 0.61
    assert score_of("plain") > 0.7
    assert score_of("private") < most
