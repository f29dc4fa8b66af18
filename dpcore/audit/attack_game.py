"""A guessing game for a class: was this digit in the training set of a private and of a non-private
model?

`python -m tests.audit.record_attack_game` trains both on the same 200 digits of the bundled sample,
and records their doubts about these members and as many other digits. The sample is public, so the
file may name the members.

A player and a program see the known digits with their secret, and guess it of the other ones. A
threshold chosen on the digits on which it is scored would seem to betray more than it does, so
`play` refuses them.
"""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dpcore.training.config import RunConfig

FILE = Path(__file__).with_suffix(".json")
MEMBERS = 200  # training examples; the rest of the sample is held out
KNOWN = 60  # digits of each kind whose secret is known
BOTH = RunConfig(model="mlp", public=10_000 - MEMBERS, batch=40, delta=1e-3, seed=1)
PRIVATE = replace(BOTH, sigma=4.0, clip_norm=1.0, lr=0.02, epochs=20)
PLAIN = replace(BOTH, private=False, lr=0.05, epochs=60)
MODELS = {"plain": PLAIN, "private": PRIVATE}


@dataclass(frozen=True)
class Digit:
    """A digit, and each model's doubt: 1 less the probability that it gives the right class."""

    index: int  # in the training part of the sample
    member: bool  # in the models' training set
    private: float
    plain: float

    def doubt(self, model: str) -> float:
        """The doubt of the model of that name in `MODELS`."""
        return self.private if model == "private" else self.plain


@dataclass(frozen=True)
class Program:
    """A program that calls a digit a member if the model doubts it at most as much as `bar`."""

    model: str
    bar: float
    learned_from: frozenset[int]  # indices of the digits on which the bar was chosen

    def says_member(self, digit: Digit) -> bool:
        return digit.doubt(self.model) <= self.bar


@dataclass(frozen=True)
class Score:
    """Right guesses of a program, and the share of all that chance may add or take."""

    right: int
    guesses: int
    chance: float  # two standard errors: of the drawn guesses, and of the digits drawn from

    @property
    def share(self) -> float:
        return self.right / self.guesses


@cache
def recorded() -> tuple[Digit, ...]:
    """Return the digits, members first."""
    return tuple(Digit(**each) for each in json.loads(FILE.read_text(encoding="utf-8"))["digits"])


def by_kind(digits: Sequence[Digit]) -> tuple[list[Digit], list[Digit]]:
    """The members and the others among the digits."""
    inside = [each for each in digits if each.member]
    outside = [each for each in digits if not each.member]
    return inside, outside


def known_of(digits: Sequence[Digit]) -> list[Digit]:
    """The digits whose secret is known: the first of each kind."""
    inside, outside = by_kind(digits)
    return inside[:KNOWN] + outside[:KNOWN]


def asked_of(digits: Sequence[Digit]) -> list[Digit]:
    """The digits whose secret is asked about: all that are not known."""
    inside, outside = by_kind(digits)
    return inside[KNOWN:] + outside[KNOWN:]


def program_for(model: str, known: Sequence[Digit]) -> Program:
    """The program for a model with the bar that is best on the known digits.

    >>> known = [Digit(0, True, 0.9, 0.01), Digit(1, False, 0.9, 0.2)]
    >>> program_for("plain", known).bar
    0.01
    """
    indices = frozenset(each.index for each in known)
    programs = [Program(model, each.doubt(model), indices) for each in known]
    return max(programs, key=lambda program: sum(_rates(program, known)))


def play(program: Program, asked: Sequence[Digit], guesses: int, rng: random.Random) -> Score:
    """The program's score when a coin decides, for each guess, between a member and another digit.

    That is the game of the proven limit, (1 + TV) / 2 for the total variation distance TV of the
    two laws of the model, which holds on average over trainings. Errors: ValueError if a digit is
    one of those on which the bar was chosen.
    """
    if program.learned_from.intersection(each.index for each in asked):
        raise ValueError("Expected a program that has not seen the digits it is asked about.")
    inside, outside = by_kind(asked)
    right = 0
    for _ in range(guesses):
        member = rng.random() < 0.5
        digit = rng.choice(inside if member else outside)
        right += program.says_member(digit) is member
    return Score(right, guesses, _chance(program, asked, guesses))


def _chance(program: Program, asked: Sequence[Digit], guesses: int) -> float:
    """Two standard errors of a score: a share p of m draws has variance p (1 - p) / m."""
    inside, outside = by_kind(asked)
    found, spared = _rates(program, asked)
    share = (found + spared) / 2
    of_digits = found * (1 - found) / len(inside) + spared * (1 - spared) / len(outside)
    of_draws = share * (1 - share) / guesses
    return 2 * math.sqrt(of_digits / 4 + of_draws)


def _rates(program: Program, digits: Sequence[Digit]) -> tuple[float, float]:
    """The share of members that the program finds, and of others that it does not accuse."""
    inside, outside = by_kind(digits)
    found = sum(program.says_member(each) for each in inside) / len(inside)
    spared = sum(not program.says_member(each) for each in outside) / len(outside)
    return found, spared
