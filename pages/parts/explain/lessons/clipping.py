"""What clipping does: it bounds what one example can move, and does not change epsilon."""

from dpcore.privacy.report.numbers import plain, short
from pages.parts.explain.lesson import Answer, Lesson, Question, Scene, Step

SHORT_CLIP, LONG_CLIP, LOUD = Scene(), Scene(clip_norm=1.0), Scene(sigma=2.0)
DOUBLE_CLIP = Scene(clip_norm=2 * SHORT_CLIP.clip_norm)


def _same_cost() -> bool:
    return DOUBLE_CLIP.epsilon() == SHORT_CLIP.epsilon()


def _noise(scene: Scene) -> str:
    return f"**{short(scene.noise)}**"


def _what_doubles() -> str:
    return (
        f"At C = {plain(DOUBLE_CLIP.clip_norm)} the noise is {_noise(DOUBLE_CLIP)} instead of {_noise(SHORT_CLIP)}, "
        f"and epsilon is {DOUBLE_CLIP.cost()}, as at C = {plain(SHORT_CLIP.clip_norm)}: {SHORT_CLIP.cost()}."
    )


CLIPPING = Lesson(
    "clipping",
    "What clipping does",
    (
        Step(
            SHORT_CLIP,
            lambda scene: (
                f"A gradient longer than C = {plain(scene.clip_norm)} is shortened to C, so that no example "
                f"moves the sum further. Noise of sigma times C = {_noise(scene)} hides that: epsilon {scene.cost()}."
            ),
        ),
        Step(
            LONG_CLIP,
            lambda scene: (
                f"C is {plain(scene.clip_norm)} now. One example may move the sum "
                f"{plain(scene.clip_norm / SHORT_CLIP.clip_norm)} times as far, and the noise has grown with it, to "
                f"{_noise(scene)}. The curves have not moved: epsilon {scene.cost()}."
            ),
        ),
        Step(
            LOUD,
            lambda scene: (
                f"C is back, and sigma is {plain(scene.sigma)}: noise of {_noise(scene)} over the same C, and now "
                f"epsilon moves, to {scene.cost()}. Only the ratio of noise to C is privacy; C itself decides how "
                "much of each gradient is left, and so how well the model learns."
            ),
        ),
    ),
    Question(
        SHORT_CLIP,
        lambda: (
            f"C goes from {plain(SHORT_CLIP.clip_norm)} to {plain(DOUBLE_CLIP.clip_norm)}, and sigma stays. What "
            "changes?"
        ),
        (
            Answer(
                "Epsilon doubles: an example moves twice as much.",
                lambda: DOUBLE_CLIP.epsilon() >= 1.8 * SHORT_CLIP.epsilon(),
                lambda: f"It does move twice as much, behind twice as much noise. {_what_doubles()}",
            ),
            Answer(
                "The noise doubles, epsilon stays.",
                lambda: _same_cost() and DOUBLE_CLIP.noise == 2 * SHORT_CLIP.noise,
                lambda: f"What is hidden and what hides it grow alike. {_what_doubles()}",
            ),
            Answer(
                "Nothing: noise and epsilon stay.",
                lambda: _same_cost() and DOUBLE_CLIP.noise == SHORT_CLIP.noise,
                lambda: f"Sigma counts in units of C. {_what_doubles()}",
            ),
        ),
    ),
)
