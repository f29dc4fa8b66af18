"""Why a free rejection is not free: what was dropped has chosen what is kept."""

import math

from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.privacy.report.numbers import outward, percent
from pages.parts.explain.lesson import EXAMPLES, Answer, Lesson, Question, Scene, Step

PROPOSED, KEPT = Scene(), Scene(steps=80)
LIMIT = 10  # rejections in a row
ACCEPTED = Scene(batch=EXAMPLES, sigma=2.0, steps=100)
EVERY = Scene(batch=EXAMPLES, sigma=2.0, steps=100 * (LIMIT + 1))
PICKY = Selection(ACCEPTED.sigma, 3.0, LIMIT)


def _least() -> float:
    """What is proven of epsilon where only good proposals are kept."""
    return PICKY.epsilon_after(ACCEPTED.steps, ACCEPTED.delta)


def _proven() -> str:
    return f"**{outward(_least(), math.floor)}**"


def _true() -> str:
    return f"At least {_proven()} is proven of this run."


FREE_REJECTIONS = Lesson(
    "free_rejections",
    "Why a free rejection is not free",
    (
        Step(
            PROPOSED,
            lambda scene: (
                f"SA-DPSGD proposes noisy steps, {scene.mechanism.steps:,} here, and keeps those that help. Every "
                f"proposal looks at the data once; all of them together cost epsilon {scene.cost()}."
            ),
        ),
        Step(
            KEPT,
            lambda scene: (
                f"Its paper charges the kept ones alone: nobody sees the others. If it kept {scene.steps} of "
                f"{PROPOSED.mechanism.steps:,}, it would name {scene.cost()} for the same run, what {scene.steps} "
                "steps cost that nobody has chosen."
            ),
        ),
        Step(
            ACCEPTED,
            lambda scene: (
                f"A case that can be computed exactly: {scene.steps} kept steps of everybody, {scene.cost()}. But keep "
                f"only results far out ({percent(PICKY.good, 0)} of proposals, {LIMIT} tries at most), where a person "
                f"shows most, and epsilon is at least {_proven()}."
            ),
        ),
        Step(
            EVERY,
            lambda scene: (
                f"What holds in any case: charge all that may be proposed, {scene.steps:,} steps, {scene.cost()}. As "
                "long as the judge looks at public data only, what is kept follows from them, and no choice costs more."
            ),
        ),
    ),
    Question(
        ACCEPTED,
        lambda: f"Of that exact case, with {ACCEPTED.steps} kept steps, which epsilon may you publish?",
        (
            Answer(
                "That of the kept steps: the others are never seen.",
                lambda: PICKY.accepted_only(ACCEPTED.delta, ACCEPTED.steps) >= _least(),
                lambda: f"They have chosen what is seen. It would be {ACCEPTED.cost()}. {_true()}",
            ),
            Answer(
                "That of all steps that may be proposed.",
                lambda: PICKY.every_proposal(ACCEPTED.delta, ACCEPTED.steps) >= _least(),
                lambda: f"Its {EVERY.cost()} holds whatever is kept. {_true()}",
            ),
            Answer(
                "None: who chooses among noisy steps has no privacy left.",
                lambda: math.isinf(PICKY.every_proposal(ACCEPTED.delta, ACCEPTED.steps)),
                lambda: f"Too much is charged, not nothing kept: {EVERY.cost()} holds. {_true()}",
            ),
        ),
    ),
)
