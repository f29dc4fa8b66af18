"""Where the noise can go: the same epsilon at three places of learning, and what each place asks for."""

import math

from dpcore.privacy.report.numbers import nearest, plain
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import Task
from pages.parts.explain.lesson import EXAMPLES, Answer, Lesson, Question, Scene, Step

STEPS = 100
RESULT = Scene(batch=EXAMPLES, sigma=2.0, steps=1)
GRADIENT = Scene(batch=EXAMPLES, sigma=2.0 * math.sqrt(STEPS), steps=STEPS)
DATA = Scene(batch=EXAMPLES, sigma=2.0, steps=1)
BATCHES = Scene()
KINDS = 20


def _task(model: str) -> Task:
    """Learning by so many full steps from rows of so many features."""
    return Task(model, EXAMPLES, KINDS, RESULT.delta, STEPS, None, 0.01, 1.0)


def _fails(method: str, model: str = "mlp") -> str:
    """Why a method is not private for a model, in its own words; empty where it is."""
    return " ".join(METHODS[method].obstacles(_task(model), RESULT.epsilon()))


def _ratio() -> float:
    """The noise left in the mean of all rows where each has its own, in units of that on their mean alone."""
    return math.sqrt(EXAMPLES)


def _as_dear() -> bool:
    """Whether the gradients' noise costs no more than that of the result."""
    return GRADIENT.epsilon() <= RESULT.epsilon() * (1 + 1e-3)


NOISE_PLACES = Lesson(
    "noise_places",
    "Where the noise can go",
    (
        Step(
            RESULT,
            lambda scene: (
                f"Noise on the result: learn without any, then add it once. That is {scene.steps} release about "
                f"everybody, {scene.cost()}. But how far can a row move the result? It is known for convex losses, not "
                "for networks."
            ),
        ),
        Step(
            GRADIENT,
            lambda scene: (
                f"Noise on each gradient: {scene.steps} releases. With sigma = {plain(scene.sigma)} in each, "
                f"{nearest(scene.sigma / RESULT.sigma)} times as much, they cost {scene.cost()} together, no more than "
                "the result did. A gradient can be clipped, so this holds for networks too."
            ),
        ),
        Step(
            DATA,
            lambda scene: (
                f"Noise on the data: every row is released with noise of its own, {scene.cost()} for each, and nobody "
                f"need be trusted. But nothing is averaged before: in the mean of all rows {nearest(_ratio())} times "
                "as much noise is left."
            ),
        ),
        Step(
            BATCHES,
            lambda scene: (
                f"Noise on gradients of random batches is what this lab trains by: {scene.cost()} here. The fourth "
                "place is the objective: a random slope, for convex losses alone. The page Perturbation compares all "
                "four."
            ),
        ),
    ),
    Question(
        GRADIENT,
        lambda: "A network is to learn from rows that you hold already. Where do you put the noise?",
        (
            Answer(
                "On the result: it is added only once.",
                lambda: not _fails("output"),
                lambda: f"{_fails('output')} For logistic regression it would be proven.",
            ),
            Answer(
                "On each gradient, clipped.",
                lambda: not _fails("gradient") and _as_dear() and _ratio() > 1,
                lambda: f"Nothing is asked of the loss, and all steps together cost {GRADIENT.cost()}.",
            ),
            Answer(
                "On the data: it holds for every model.",
                lambda: not _fails("input") and _ratio() <= 1,
                lambda: (
                    f"It does, but for the same epsilon {nearest(_ratio())} times as much noise is left in a mean. "
                    "It is for rows that you are not trusted with."
                ),
            ),
        ),
    ),
)
