"""Same noise, more steps: epsilon grows, roughly with the root of their number."""

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import epochs_of, nearest, plain, short
from pages.parts.explain.lesson import HARDLY, Answer, Lesson, Question, Scene, Step, between

BRIEF, LONG = Scene(epochs=5), Scene(epochs=20)
LONG_AND_LOUD, TWICE = Scene(epochs=20, sigma=2.0), Scene(epochs=10)


def _times(other: Scene, scene: Scene, name: str = CERTIFIED) -> str:
    return f"**{short(other.relative_to(scene, name))} times**"


def _twice() -> str:
    return (
        f"After {epochs_of(TWICE.epochs)} epsilon is {TWICE.cost()}, {_times(TWICE, BRIEF)} the {BRIEF.cost()} after "
        f"{epochs_of(BRIEF.epochs)}."
    )


MORE_STEPS = Lesson(
    "more_steps",
    "Same noise, more steps",
    (
        Step(
            BRIEF,
            lambda scene: (
                f"{scene.mechanism.steps:,} steps cost epsilon {scene.cost()}. Look at the shape of the curves: "
                "they rise fast at first, then ever more slowly."
            ),
        ),
        Step(
            LONG,
            lambda scene: (
                f"{_times_longer(scene)} as many steps with the same noise: epsilon {scene.cost()}, "
                f"{_times(scene, BRIEF)} as much. Basic composition says {_times(scene, BRIEF, 'naive')}: it does not "
                "know that the luck of many steps evens out."
            ),
        ),
        Step(
            LONG_AND_LOUD,
            lambda scene: (
                f"More noise pays for more steps: at sigma = {plain(scene.sigma)} all {scene.mechanism.steps:,} "
                f"steps cost epsilon {scene.cost()}, about what {BRIEF.mechanism.steps:,} steps cost at sigma = "
                f"{plain(BRIEF.sigma)}: {BRIEF.cost()}."
            ),
        ),
    ),
    Question(
        BRIEF,
        lambda: (
            f"You train for twice as long, with the same noise as here. What happens to epsilon, {BRIEF.cost()} now?"
        ),
        (
            Answer(
                "It doubles.",
                lambda: TWICE.relative_to(BRIEF) > 1.8,
                lambda: f"That is what the worst case of every step adds up to. {_twice()}",
            ),
            Answer(
                "It grows, but by less than half of what it was.",
                lambda: HARDLY[1] < TWICE.relative_to(BRIEF) < 1.5,
                lambda: f"Roughly with the root of the number of steps. {_twice()}",
            ),
            Answer(
                "It stays: the noise is the same.",
                lambda: between(TWICE.relative_to(BRIEF), HARDLY),
                lambda: f"Each step releases something more. {_twice()}",
            ),
        ),
    ),
)


def _times_longer(scene: Scene) -> str:
    return f"{nearest(scene.mechanism.steps / BRIEF.mechanism.steps, 2)} times"
