"""Catch the broken trainer: what it claims, what its noise costs in truth, and which audit can see that."""

import math
from functools import cache

from dpcore.audit.bounds.binomial import epsilon_with_noise
from dpcore.audit.bounds.exact import InfluenceFinding
from dpcore.audit.bounds.noise import NoiseFinding, factor_below
from dpcore.audit.bounds.one_run import expected_of_one_run, most_of_one_run
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.request import CANARIES
from dpcore.privacy.report.numbers import nearest, outward, plain, short
from pages.parts.explain.lesson import Answer, Lesson, Question, Scene, Step

CLAIMED = Scene(batch=500, sigma=1.0, epochs=2.0)
DRAWN = Scene(batch=500, sigma=0.5, epochs=2.0)
PROJECTIONS, CONFIDENCE = 10_000, 0.95
QUIET, UNCLIPPED = BROKEN["half_noise"], BROKEN["no_clipping"]


def _most_noise() -> float:
    """Upper bound of the noise over what is charged, where the projections are as far spread as what is drawn."""
    part = DRAWN.sigma / CLAIMED.sigma
    return factor_below(PROJECTIONS * part**2, PROJECTIONS, CONFIDENCE)


@cache
def _by_noise() -> str:
    """What the noise audit shows of epsilon."""
    least = epsilon_with_noise(CLAIMED.mechanism, _most_noise(), CLAIMED.delta)
    return f"**{outward(least, math.floor)}**"


@cache
def _by_one_run() -> tuple[str, str]:
    """What the best canaries show in one run, about, and what no guesses exceed."""
    best = expected_of_one_run(score_laws(CLAIMED.mechanism), CANARIES, CLAIMED.delta, CONFIDENCE)
    return short(best), short(most_of_one_run(CANARIES, CLAIMED.delta, CONFIDENCE))


def _look_at_outcomes(scene: Scene) -> str:
    best, most = _by_one_run()
    return (
        f"Another audit looks at outcomes: {CANARIES:,} canaries are in by coin flips, and their scores tell which. "
        f"It assumes nothing, and shows little: about {best} of {scene.cost()}, and never more than {most}. To pass it "
        "says little; to fail it proves that something is broken."
    )


BROKEN_TRAINER = Lesson(
    "broken_trainer",
    "Catch the broken trainer",
    (
        Step(
            CLAIMED,
            lambda scene: (
                f"A trainer claims sigma = {plain(scene.sigma)}, and every accountant here agrees: {scene.cost()}. But "
                "accountants read settings, not programs. In this one a factor was lost, and it draws noise of "
                f"{nearest(DRAWN.sigma)} times C."
            ),
        ),
        Step(
            DRAWN,
            lambda scene: (
                f"That is what it costs in truth: {scene.cost()}, and {scene.least()} at least. With less noise it "
                "even learns better, so nobody complains."
            ),
        ),
        Step(
            CLAIMED,
            lambda scene: (
                f"An audit watches the program. {PROJECTIONS:,} looks in directions without a gradient see noise "
                f"alone: at most {outward(_most_noise(), math.ceil)} of what is charged, so {_by_noise()} at least, "
                f"where {scene.cost()} is claimed. [Audit it yourself](audit?trainer={QUIET.name})."
            ),
        ),
        Step(CLAIMED, _look_at_outcomes),
    ),
    Question(
        CLAIMED,
        lambda: (
            "Another trainer draws all of its noise, but does not clip. It claims the same. Which audit has to find it?"
        ),
        (
            Answer(
                "That of the noise: it is the sharpest.",
                lambda: UNCLIPPED.fails == "noise",
                lambda: f"Its noise is as it should be. What that audit leaves untested: {NoiseFinding.untested}",
            ),
            Answer(
                "That of the clipping: it moves one example and looks.",
                lambda: UNCLIPPED.fails == "clipping",
                lambda: f"What it tests: {InfluenceFinding.tests}",
            ),
            Answer(
                "None: the accountant would refuse.",
                lambda: not UNCLIPPED.fails,
                lambda: f"It reads settings, and says {CLAIMED.cost()} of this trainer too.",
            ),
        ),
    ),
)
