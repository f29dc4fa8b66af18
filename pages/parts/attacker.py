"""Be the attacker: ten digits, each in the training set or not, and two models to ask."""

import math
import random
from typing import Any

import streamlit as st

from dpcore.audit.attack_game import PRIVATE, Digit, recorded
from dpcore.data.loading import load
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked, percent, plain
from dpcore.training.plan import plan
from pages.parts.controls.widgets import choice_of
from pages.parts.results import cache
from pages.parts.results.odds import WORDS
from pages.parts.shell.streamlit_internals import uninterrupted

ROUND = 10
RECORDED = 1e-4  # step of the recorded probabilities
PLACES = 2  # its decimals in percent
# In the session: for each model the digits of its round, and what was guessed of them.
GUESSES = "attacker_guesses"
PLAIN = "without privacy"
PRIVATELY = "private"
MODELS = (PLAIN, PRIVATELY)


def play() -> None:
    """Ten digits: was each in the training set?

    The score stands beside what the certified bound allows.
    """
    st.markdown(WORDS["lab"]["attacker"])
    model = choice_of(st, "Attack the model", MODELS, "attacked_model")
    played = st.session_state.setdefault(GUESSES, {})
    digits, guesses = played.setdefault(model, _new_round())
    picture, question = st.columns([1, 3], vertical_alignment="center")
    if len(guesses) < ROUND:
        _ask(model, digits[len(guesses)], picture, question)
    else:
        question.markdown(f"**The round is over: {right_of(digits, guesses)} of {ROUND} right.**")
        question.button("Play again", on_click=_play_again, args=(model,), key="attack_again")
    if guesses:
        last = digits[len(guesses) - 1]
        verdict = "✓ Right" if guesses[-1] == last.member else "✕ Wrong"
        was = "was" if last.member else "was not"
        st.markdown(f"{verdict}: the last digit {was} in the training set.")
    st.markdown(_scores(played))


@uninterrupted
def _play_again(model: str) -> None:
    st.session_state[GUESSES].pop(model)


attacker = st.dialog("Be the attacker", width="medium")(play)  # in a window over the page


def _ask(model: str, digit: Digit, picture: Any, question: Any) -> None:
    train = load(PRIVATE.dataset, PRIVATE.source).train
    picture.image(255 - train.images[digit.index], width=112)
    sure = digit.private if model == PRIVATELY else digit.plain
    question.markdown(
        f"This is **{train.labels[digit.index]}**, and the model is **{confidence(sure)}** sure of"
        " that. Was it in the training set?"
    )
    row = question.container(horizontal=True)
    row.button("It was", key="attack_True", on_click=_guess, args=(model, True))
    row.button("It was not", key="attack_False", on_click=_guess, args=(model, False))


def confidence(sure: float) -> str:
    """A probability in percent with all recorded digits: members and others differ in the last.

    >>> confidence(0.9999), confidence(0.992), confidence(1.0), confidence(0.0)
    ('99.99 %', '99.20 %', 'over 99.99 %', 'under 0.01 %')
    """
    if sure >= 1:
        return f"over {percent(1 - RECORDED, PLACES)}"
    if sure <= 0:
        return f"under {percent(RECORDED, PLACES)}"
    return percent(sure, PLACES)


@uninterrupted
def _guess(model: str, member: bool) -> None:
    digits, guesses = st.session_state[GUESSES][model]
    if len(guesses) < len(digits):
        guesses.append(member)


def _new_round() -> tuple[list[Digit], list[bool]]:
    """Ten digits; a coin decides for each whether it is from the training set."""
    inside = [digit for digit in recorded() if digit.member]
    outside = [digit for digit in recorded() if not digit.member]
    members = sum(random.random() < 0.5 for _ in range(ROUND))
    digits = random.sample(inside, members) + random.sample(outside, ROUND - members)
    random.shuffle(digits)
    return digits, []


def right_of(digits: list[Digit], guesses: list[bool]) -> int:
    """The number of right guesses."""
    return sum(digit.member is guess for digit, guess in zip(digits, guesses, strict=False))


def _scores(played: dict[str, tuple[list[Digit], list[bool]]]) -> str:
    """Both scores, with chance and the proven bound for the private model."""
    mechanism = plan(PRIVATE).mechanism
    assert mechanism, "the recorded run has a private mechanism"
    spent = cache.final(CERTIFIED, mechanism, PRIVATE.delta)
    cost = f"epsilon {marked(spent.last.value, spent.last.kind)} at delta {plain(PRIVATE.delta)}"
    most = ROUND * (1 + cache.risks(mechanism, PRIVATE.delta).advantage.upper) / 2
    scores = {PLAIN: "–", PRIVATELY: "–"}
    for model, (digits, guesses) in played.items():
        if guesses:
            scores[model] = f"{right_of(digits, guesses)} of {len(guesses)} right"
    return (
        "| | your score | the best attack, on average |\n"
        "|---|---|---|\n"
        f"| {PLAIN} | {scores[PLAIN]} | up to {ROUND} of {ROUND} |\n"
        f"| private, {cost} | {scores[PRIVATELY]} |"
        f" at most {math.ceil(10 * most) / 10:.1f} of {ROUND} |\n\n"
        f"A coin gets {ROUND // 2} of {ROUND} right. The bound is proven for a digit that a coin"
        " puts into the training set or leaves out."
    )
