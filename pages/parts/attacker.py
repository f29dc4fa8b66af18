"""Be the attacker: ten digits, each in the training set or not, and two models that may be asked
about them.
"""

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
RECORDED, PLACES = 1e-4, 2  # the step of the recorded probabilities, and its decimals in percent
# In the session: for each model the digits of its round, and what was guessed of them.
GUESSES = "attacker_guesses"
MODELS = ("without privacy", "private")


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
        question.button(
            "Play again", on_click=uninterrupted(lambda: played.pop(model)), key="attack_again"
        )
    if guesses:
        last, guess = digits[len(guesses) - 1], guesses[-1]
        said = "was" if last.member else "was not"
        st.markdown(
            f"{'✓ Right' if guess == last.member else '✕ Wrong'}: the last digit {said} in the"
            " training set."
        )
    st.markdown(_scores(played))


attacker = st.dialog("Be the attacker", width="medium")(play)  # in a window over the page


def _ask(model: str, digit: Digit, picture: Any, question: Any) -> None:
    train = load(PRIVATE.dataset, PRIVATE.source).train
    picture.image(255 - train.images[digit.index], width=112)
    sure = digit.private if model == MODELS[1] else digit.plain
    question.markdown(
        f"This is **{train.labels[digit.index]}**, and the model is **{confidence(sure)}** sure of"
        " that. Was it in the training set?"
    )
    row = question.container(horizontal=True)
    for name, member in (("It was", True), ("It was not", False)):
        row.button(name, key=f"attack_{member}", on_click=_guess, args=(model, member))


def confidence(sure: float) -> str:
    """A probability in percent with all the digits that are recorded: members and others differ in
    the last ones.

    >>> confidence(0.9999), confidence(0.992), confidence(1.0), confidence(0.0)
    ('99.99 %', '99.20 %', 'over 99.99 %', 'under 0.01 %')
    """
    if sure >= 1:
        return f"over {percent(1 - RECORDED, PLACES)}"
    return percent(sure, PLACES) if sure > 0 else f"under {percent(RECORDED, PLACES)}"


@uninterrupted
def _guess(model: str, member: bool) -> None:
    digits, guesses = st.session_state[GUESSES][model]
    if len(guesses) < len(digits):
        guesses.append(member)


def _new_round() -> tuple[list[Digit], list[bool]]:
    """Ten digits, each drawn from those in the training set or from the others by the toss of a
    coin.
    """
    kinds = [[each for each in recorded() if each.member is member] for member in (True, False)]
    members = sum(random.random() < 0.5 for _ in range(ROUND))
    digits = random.sample(kinds[0], members) + random.sample(kinds[1], ROUND - members)
    random.shuffle(digits)
    return digits, []


def right_of(digits: list[Digit], guesses: list[bool]) -> int:
    """How many guesses are right."""
    return sum(digit.member is guess for digit, guess in zip(digits, guesses, strict=False))


def _scores(played: dict[str, tuple[list[Digit], list[bool]]]) -> str:
    """Both scores, beside chance and what is proven of the private model."""
    mechanism = plan(PRIVATE).mechanism
    assert mechanism, "the recorded run has a private mechanism"
    spent = cache.final(CERTIFIED, mechanism, PRIVATE.delta)
    cost = f"epsilon {marked(spent.last.value, spent.last.kind)} at delta {plain(PRIVATE.delta)}"
    most = ROUND * (1 + cache.risks(mechanism, PRIVATE.delta).advantage.upper) / 2
    told = {
        model: f"{right_of(*round_)} of {len(round_[1])} right"
        for model, round_ in played.items()
        if round_[1]
    }
    return (
        f"| | your score | the best attack, on average |\n|---|---|---|\n| {MODELS[0]} |"
        f" {told.get(MODELS[0], '–')} | up to {ROUND} of {ROUND} |\n| private, {cost} |"
        f" {told.get(MODELS[1], '–')} | at most {math.ceil(10 * most) / 10:.1f} of {ROUND} |\n\nA"
        f" coin gets {ROUND // 2} of {ROUND} right. The bound is proven for a digit that a coin"
        " puts into the training set or leaves out."
    )
