"""What a broken proof looks like: a theorem whose conditions are met, and a proven lower bound above its promise."""

from dpcore.papers.pigdo.theorem_3 import MAP, bounded_moment, omitted_moment
from dpcore.privacy.report.numbers import nearest, plain
from pages.parts.explain.lesson import EXAMPLES, Answer, Lesson, Question, Scene, Step

MMA = ("mma",)
ABOVE = Scene(batch=100, sigma=1.0, steps=1000, accountants=MMA)
BELOW = Scene(batch=100, sigma=1.0, steps=10, accountants=MMA)
OFTEN = Scene(batch=500, sigma=1.0, steps=10, accountants=MMA)
LOUDER = Scene(batch=100, sigma=2.0, steps=10, accountants=MMA)
THEOREM, ORDER = MAP.place, 10  # an order that its conditions allow here


def _claim(scene: Scene) -> str:
    return scene.cost("mma")


def _kept(scene: Scene) -> bool:
    """Whether what the theorem promises is proven, by the certified band."""
    return scene.epsilon("mma") >= scene.epsilon()


def _refuted(scene: Scene) -> bool:
    """Whether the theorem promises less than is proven, although its conditions are met."""
    lower = scene.curve().lower
    assert lower is not None
    return not scene.curve("mma").note and scene.epsilon("mma") < float(lower[-1])


def _moments(scene: Scene) -> tuple[str, str]:
    """The log-moment that the proof bounds, and that of the other direction."""
    given = (scene.batch / EXAMPLES, scene.sigma, ORDER)
    return nearest(bounded_moment(*given), 2), nearest(omitted_moment(*given), 2)


def _told() -> str:
    return f"It {_claim(LOUDER)}, and {LOUDER.cost()} is proven without it."


def _look_at_the_proof(scene: Scene) -> str:
    covered, left_out = _moments(scene)
    return (
        f"With a larger batch too: {_claim(scene)} against {scene.least()} at least. The proof asks how much likelier "
        f"an output is without an example (moment {covered}) and forgets how much likelier it is with one: {left_out}."
    )


BROKEN_PROOF = Lesson(
    "broken_proof",
    "What a broken proof looks like",
    (
        Step(
            ABOVE,
            lambda scene: (
                f"A published theorem, {THEOREM} of MMA, promises epsilon by a closed form. Here it "
                f"{_claim(scene)}, above the certified band, which ends at {scene.cost()}. Nothing looks wrong."
            ),
        ),
        Step(
            BELOW,
            lambda scene: (
                f"Fewer steps, {scene.steps} of them, and every condition of the theorem is met. It {_claim(scene)}, "
                f"yet epsilon is proven to be at least {scene.least()}. The line runs below the band: one such setting "
                "refutes the theorem."
            ),
        ),
        Step(OFTEN, _look_at_the_proof),
    ),
    Question(
        LOUDER,
        lambda: (
            f"Now at sigma = {plain(LOUDER.sigma)} the same theorem {_claim(LOUDER)}, and its conditions are met. "
            "May you promise that number?"
        ),
        (
            Answer(
                "No: it lies below what is proven, as before.",
                lambda: _refuted(LOUDER),
                lambda: f"Here it lies above the band. {_told()}",
            ),
            Answer(
                "Yes, because the theorem's conditions are met.",
                lambda: _kept(LOUDER) and not _refuted(BELOW),
                lambda: (
                    f"They were met at sigma = {plain(BELOW.sigma)} too, where it {_claim(BELOW)} and at least "
                    f"{BELOW.least()} is proven."
                ),
            ),
            Answer(
                "Yes, but only because the certified band says so.",
                lambda: _kept(LOUDER) and _refuted(BELOW),
                lambda: f"A refuted theorem may give a true number, and proves none. {_told()}",
            ),
        ),
    ),
)
