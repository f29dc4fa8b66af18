"""Why epsilon 3 is not "3 units": epsilon is an exponent, and one number of many."""

import math

from dpcore.privacy.report.numbers import outward
from pages.parts.explain.lesson import ABOUT_A_THIRD, EXAMPLES, Answer, Lesson, Question, Scene, Step, between

ONE, THREE, SEVEN = Scene(sigma=1.6), Scene(sigma=0.9), Scene(sigma=0.65)
THREE_AT_ONCE = Scene(batch=EXAMPLES, sigma=1.4, epochs=1)


def _factor(scene: Scene) -> str:
    """By how much epsilon lets the odds grow, in words."""
    return f"**{outward(math.exp(scene.epsilon()), math.ceil, 3)}**"


def _doubt(scene: Scene) -> float:
    """The chance, certified, that somebody who was even is still wrong."""
    return 1 - scene.risks.sure


def _doubts() -> str:
    before, after = (f"**{outward(100 * _doubt(each), math.floor, 3)} %**" for each in (ONE, THREE))
    return f"At least {before} of doubt are left at epsilon {ONE.cost()}, and {after} at {THREE.cost()}."


def _advantage(scene: Scene) -> str:
    return f"**{outward(scene.risks.advantage.upper, math.ceil, 3)}**"


NOT_UNITS = Lesson(
    "not_units",
    "Why epsilon 3 is not “3 units”",
    (
        Step(
            ONE,
            lambda scene: (
                f"Epsilon {scene.cost()}: the odds that you took part may grow by a factor of {_factor(scene)}, e to "
                "the epsilon, but for delta. Look at the people: someone who was even can become right about "
                f"{scene.people()}."
            ),
        ),
        Step(
            THREE,
            lambda scene: (
                f"Less noise, epsilon {scene.cost()}. The factor is {_factor(scene)} now, since each unit of "
                f"epsilon multiplies, and the people are {scene.people()}."
            ),
        ),
        Step(
            SEVEN,
            lambda scene: (
                f"At epsilon {scene.cost()} the factor is {_factor(scene)}, and the people are "
                f"{scene.people()}: a promise in name only."
            ),
        ),
        Step(
            THREE_AT_ONCE,
            lambda scene: (
                f"One large step of everybody, epsilon {scene.cost()} again. Yet the best attacker's advantage is "
                f"{_advantage(scene)}, where the sampled run of epsilon {THREE.cost()} leaves {_advantage(THREE)}: "
                "one number does not say it all. The trade-off picture does."
            ),
        ),
    ),
    Question(
        THREE,
        lambda: f"From epsilon {ONE.cost()} to {THREE.cost()}: what happens to the doubt of someone who was even?",
        (
            Answer(
                "It stays about as it was.",
                lambda: _doubt(THREE) > ABOUT_A_THIRD[1] * _doubt(ONE),
                lambda: f"Each unit of epsilon multiplies the odds. {_doubts()}",
            ),
            Answer(
                "It falls to about a third.",
                lambda: between(_doubt(THREE) / _doubt(ONE), ABOUT_A_THIRD),
                lambda: f"It would, if epsilon were counted in units. {_doubts()}",
            ),
            Answer(
                "It falls to far less than a third.",
                lambda: _doubt(THREE) < ABOUT_A_THIRD[0] * _doubt(ONE),
                lambda: f"Epsilon is an exponent. {_doubts()}",
            ),
        ),
    ),
)
