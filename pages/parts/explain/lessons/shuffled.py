"""Shuffled is not Poisson: the commonest false claim of all, and what is proven instead."""

import math

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import epochs_of, outward, percent
from dpcore.privacy.sampling import steps_of_epoch
from pages.parts.explain.lesson import Answer, Lesson, Question, Scene, Step

LENGTH = 20.0
COINS = Scene(epochs=LENGTH)
SHUFFLED = Scene(epochs=LENGTH, sampler="shuffle")
ONE_ORDER = Scene(epochs=LENGTH, sampler="shuffle_once")
ALLOCATED = Scene(epochs=LENGTH, sampler="random_allocation")
MORE_NOISE = Scene(epochs=LENGTH, sigma=2.0, sampler="shuffle")


def _touched(scene: Scene) -> str:
    """The share of all examples that an epoch of Poisson batches holds."""
    q = scene.mechanism.releases[0].q
    return percent(1 - (1 - q) ** steps_of_epoch(q), 0)


def _least(scene: Scene) -> str:
    return f"**{outward(scene.drawn.lower or 0.0, math.floor)}**"


def _noise() -> str:
    return (
        f"With the noise of the steps before it was {SHUFFLED.ends()}, now it is {MORE_NOISE.ends()}, where Poisson "
        f"batches would cost {MORE_NOISE.cost()}."
    )


SHUFFLED_LESSON = Lesson(
    "shuffled",
    "Shuffled is not Poisson",
    (
        Step(
            COINS,
            lambda scene: (
                f"A coin of its own decides for each example and step: after {epochs_of(scene.epochs)} epsilon is "
                f"{scene.cost()} (add/remove). An epoch of such batches holds {_touched(scene)} of the examples, "
                "and nobody can tell which."
            ),
        ),
        Step(
            SHUFFLED,
            lambda scene: (
                f"Most programs shuffle instead, and print the number for coins, {scene.cost()}. What is proven of a "
                f"shuffle is the hatched area: epsilon lies {scene.ends()}. Its lower end alone refutes the print."
            ),
        ),
        Step(
            ONE_ORDER,
            lambda scene: (
                f"Shuffled once, with the same batches in every epoch, the noise averages out: {scene.ends()}, and "
                f"still {scene.cost()} is what a Poisson accountant says."
            ),
        ),
        Step(
            ALLOCATED,
            lambda scene: (
                "Now each example is thrown into one batch of an epoch, whatever the others do. Each is seen once an "
                f"epoch, too, and it is certified: {scene.ends()}, about the {scene.cost()} of coins."
            ),
        ),
    ),
    Question(
        MORE_NOISE,
        lambda: (
            f"Here sigma is larger, and the accountant of Poisson batches says {MORE_NOISE.cost()}. The batches are "
            "shuffled every epoch. May that number be printed?"
        ),
        (
            Answer(
                "Yes: with so much noise both are the same.",
                lambda: MORE_NOISE.drawn.value <= MORE_NOISE.epsilon(CERTIFIED),
                lambda: f"Nothing is proven that comes down to it. {_noise()}",
            ),
            Answer(
                "Nobody knows: it lies between what is proven and what is refuted.",
                lambda: (MORE_NOISE.drawn.lower or 0.0) <= MORE_NOISE.epsilon(CERTIFIED) < MORE_NOISE.drawn.value,
                lambda: f"Here it is known, by the lower end. {_noise()}",
            ),
            Answer(
                "No: more than that is proven to be lost.",
                lambda: (MORE_NOISE.drawn.lower or 0.0) > MORE_NOISE.epsilon(CERTIFIED),
                lambda: f"At least {_least(MORE_NOISE)} is proven. {_noise()}",
            ),
        ),
    ),
)
