"""What sampling buys: a coin for each example and step makes epsilon small."""

from dpcore.privacy.report.numbers import epochs_of
from pages.parts.explain.lesson import ABOUT_HALF, EXAMPLES, HARDLY, Answer, Lesson, Question, Scene, Step, between

EVERYONE = Scene(batch=EXAMPLES, sigma=2.0, epochs=40)
SOME = Scene(batch=1000, sigma=2.0, epochs=40)
FEW = Scene(batch=256, sigma=2.0, epochs=40)
FEWER_STEPS = Scene(batch=256, sigma=2.0, steps=EVERYONE.mechanism.steps)
HALF_A_BATCH = Scene(batch=128, sigma=2.0, steps=FEWER_STEPS.steps)
STEPS_ARE = f"{FEWER_STEPS.steps:,} steps"


def _half_batch() -> str:
    return f"Epsilon goes from {FEWER_STEPS.cost()} to {HALF_A_BATCH.cost()}, at batch {HALF_A_BATCH.batch}."


SAMPLING = Lesson(
    "sampling",
    "What sampling buys",
    (
        Step(
            EVERYONE,
            lambda scene: (
                f"Here the batch is everybody: each of the {EXAMPLES:,} examples is in each of the "
                f"{scene.mechanism.steps:,} steps. Look at the end of the certified curve: epsilon {scene.cost()}."
            ),
        ),
        Step(
            SOME,
            lambda scene: (
                f"Now a coin decides for each example and step. After the same {epochs_of(scene.epochs)} each is used "
                f"as often as before, over {scene.mechanism.steps:,} steps, yet epsilon is {scene.cost()}: nobody "
                "knows in which steps you were."
            ),
        ),
        Step(
            FEW,
            lambda scene: (
                f"A smaller batch, the same {epochs_of(scene.epochs)}, the same sigma: epsilon "
                f"{scene.cost()}. The price is time, {scene.mechanism.steps:,} steps, and more noise beside each batch."
            ),
        ),
        Step(
            FEWER_STEPS,
            lambda scene: (
                f"And the same batch for only {STEPS_ARE}, as many as at first: epsilon {scene.cost()}, "
                f"where everybody in each of them cost {EVERYONE.cost()}."
            ),
        ),
    ),
    Question(
        FEWER_STEPS,
        lambda: f"Take half of this batch for the same {STEPS_ARE}, at the same sigma. What happens to epsilon?",
        (
            Answer(
                "It stays: sigma and steps are the same.",
                lambda: between(HALF_A_BATCH.relative_to(FEWER_STEPS), HARDLY),
                lambda: f"Each example is drawn half as often, and that counts. {_half_batch()}",
            ),
            Answer(
                "It falls to about half.",
                lambda: between(HALF_A_BATCH.relative_to(FEWER_STEPS), ABOUT_HALF),
                lambda: f"While q is small, each step costs about q times as much as without sampling. {_half_batch()}",
            ),
            Answer(
                "It falls to about a third, or less.",
                lambda: HALF_A_BATCH.relative_to(FEWER_STEPS) < ABOUT_HALF[0],
                lambda: f"Half the draws save about half of it, not more. {_half_batch()}",
            ),
        ),
    ),
)
