"""Be the attacker: ten digits, each in the training set or not, two networks, and a program."""

import math
import random
from html import escape
from typing import NamedTuple

import streamlit as st

from dpcore.audit.attack_game import (
    MEMBERS,
    MODELS,
    PRIVATE,
    Digit,
    Score,
    asked_of,
    by_kind,
    known_of,
    play,
    program_for,
    recorded,
)
from dpcore.data.loading import load
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked, plain
from dpcore.training.plan import plan
from pages.parts.attacker.doubt_line import WORDS, confidence, doubt_line
from pages.parts.results import cache
from pages.parts.results.odds import PEOPLE, of_hundred
from pages.parts.results.tables import image_source
from pages.parts.shell.streamlit_internals import uninterrupted

ROUND = 10
PROGRAM_GUESSES = 1000
# In the session: the digits of the round with what was guessed of them, and the program's scores.
GAME = "attacker_round"
SCORES = "attacker_scores"


class Round(NamedTuple):
    """The digits of a round, and the guesses so far: true for "it was"."""

    digits: list[Digit]
    guesses: list[bool]

    @property
    def over(self) -> bool:
        return len(self.guesses) == len(self.digits)

    @property
    def shown(self) -> Digit:
        """The digit asked about, or the last one."""
        return self.digits[min(len(self.guesses), len(self.digits) - 1)]

    @property
    def right(self) -> int:
        """The number of right guesses."""
        pairs = zip(self.digits, self.guesses, strict=False)
        return sum(digit.member is guess for digit, guess in pairs)


class Proven(NamedTuple):
    """The certified promise of the private network."""

    cost: str  # epsilon with its mark
    most: int  # right guesses of 100, on average


def show_game() -> None:
    """Draw a round of ten digits, both networks' doubts, and the program's scores."""
    if GAME not in st.session_state:
        st.session_state[GAME] = _new_round()
    game: Round = st.session_state[GAME]
    proven = _proven()
    with st.container(key="attacker", gap="small"):
        st.markdown(WORDS["how"].format(trained=MEMBERS))
        _ask(game)
        for column, model in zip(st.columns(len(MODELS)), MODELS, strict=True):
            column.html(_panel(model, game.shown, proven))
        _program(game, proven)


attacker = st.dialog("Be the attacker", width="large")(show_game)  # in a window over the page


def _ask(game: Round) -> None:
    """Draw the digit, the question with its two answers, and the score so far."""
    train = load(PRIVATE.dataset, PRIVATE.source).train
    label = train.labels[game.shown.index]
    shades = 255 - train.images[game.shown.index]
    if game.over:
        question = WORDS["over"].format(right=game.right, of=ROUND)
    else:
        question = WORDS["question"].format(label=label, trained=MEMBERS)
    number = min(len(game.guesses) + 1, ROUND)
    counted = WORDS["round"].format(number=number, of=ROUND)
    with st.container(horizontal=True, vertical_alignment="center", key="attacker_question"):
        st.html(
            f'<p class=asked-digit><img src="{image_source(shades)}" alt="A handwritten {label}">'
            f"<span><b>{escape(question)}</b><br>{counted}</span></p>",
            width="content",
        )
        if game.over:
            st.button("Play again", on_click=_play_again, key="attack_again")
        else:
            st.button("It was", key="attack_True", on_click=_guess, args=(True,))
            st.button("It was not", key="attack_False", on_click=_guess, args=(False,))
    st.markdown(_so_far(game))


def _so_far(game: Round) -> str:
    """The truth about the last digit that was guessed, and the score."""
    if not game.guesses:
        return WORDS["begin"].format(coin=ROUND // 2, of=ROUND)
    last = game.digits[len(game.guesses) - 1]
    words = WORDS["right"] if game.guesses[-1] is last.member else WORDS["wrong"]
    negation = "" if last.member else " not"
    verdict = words.format(negation=negation, trained=MEMBERS)
    score = WORDS["score"].format(right=game.right, of=len(game.guesses))
    return f"{verdict} {score}"


def _panel(model: str, digit: Digit, proven: Proven) -> str:
    """One network as HTML: how sure it is, its line, and what the program got from it."""
    known = known_of(recorded())
    score = st.session_state.get(SCORES, {}).get(model)
    program = program_for(model, known) if score else None
    title = WORDS[model].format(cost=proven.cost, delta=plain(PRIVATE.delta))
    label = load(PRIVATE.dataset, PRIVATE.source).train.labels[digit.index]
    sure = WORDS["sure"].format(label=label)
    got = ""
    if score:
        words = WORDS["limit"] if model == "private" else WORDS["got"]
        beside = escape(words.format(most=proven.most))
        got = f"<p class=sure><b>{of_people(score)} of {PEOPLE}</b> {beside}</p>"
    return (
        f"<section class='network {model}'><h3>{escape(title)}</h3>"
        f"<p class=sure><b>{confidence(digit.doubt(model))}</b> {escape(sure)}</p>"
        f"{doubt_line(title, model, known, digit, program)}{got}</section>"
    )


def _program(game: Round, proven: Proven) -> None:
    """Draw the button of the program, and what follows from its scores."""
    scores = st.session_state.get(SCORES)
    words = WORDS["again"] if scores else WORDS["program"]
    name = words.format(guesses=f"{PROGRAM_GUESSES:,}")
    if scores:
        st.container(key="attacker_closing").markdown(closing(scores, proven))
        st.caption(chances(scores, proven))
    weight = "primary" if game.over and not scores else "secondary"
    st.button(name, type=weight, on_click=_let_program_guess, key="attack_program")


def closing(scores: dict[str, Score], proven: Proven) -> str:
    """What the score without privacy says, beside what is proven of the private network."""
    return WORDS["closing"].format(
        plain=of_people(scores["plain"]), cost=proven.cost, most=proven.most
    )


def chances(scores: dict[str, Score], proven: Proven) -> str:
    """How the program came to its scores, and how far chance carries them."""
    off = max(score.chance for score in scores.values())
    said = WORDS["chance"].format(trained=MEMBERS, chance=math.ceil(off * PEOPLE))
    if of_people(scores["private"]) > proven.most:
        said += " " + WORDS["above"]
    return said


def of_people(score: Score) -> int:
    """The right guesses of a hundred."""
    return round(score.share * PEOPLE)


def _proven() -> Proven:
    """The certified epsilon and limit of the recorded private run."""
    mechanism = plan(PRIVATE).mechanism
    assert mechanism, "the recorded run has a private mechanism"
    spent = cache.final(CERTIFIED, mechanism, PRIVATE.delta).last
    most = of_hundred(cache.risks(mechanism, PRIVATE.delta))
    return Proven(marked(spent.value, spent.kind), most)


def _new_round() -> Round:
    """Ten digits that no dot shows; a coin decides for each whether it is from the training set."""
    inside, outside = by_kind(asked_of(recorded()))
    members = sum(random.random() < 0.5 for _ in range(ROUND))
    digits = random.sample(inside, members) + random.sample(outside, ROUND - members)
    random.shuffle(digits)
    return Round(digits, [])


@uninterrupted
def _guess(member: bool) -> None:
    game: Round = st.session_state[GAME]
    if not game.over:
        game.guesses.append(member)


@uninterrupted
def _play_again() -> None:
    st.session_state[GAME] = _new_round()


@uninterrupted
def _let_program_guess() -> None:
    """Let the program guess other digits than those on which it chose its bars."""
    digits = recorded()
    known, asked = known_of(digits), asked_of(digits)
    scores = {}
    for model in MODELS:
        program = program_for(model, known)
        scores[model] = play(program, asked, PROGRAM_GUESSES, random.Random())
    st.session_state[SCORES] = scores
