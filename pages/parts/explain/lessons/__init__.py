"""The guided lessons, in the order in which they are offered. A lesson is its file and its line here.

No number is typed into a text: each is computed from the scene that is shown, and rounded outwards.
"""

from pages.parts.explain.lessons.better_features import BETTER_FEATURES
from pages.parts.explain.lessons.broken_proof import BROKEN_PROOF
from pages.parts.explain.lessons.broken_trainer import BROKEN_TRAINER
from pages.parts.explain.lessons.clipping import CLIPPING
from pages.parts.explain.lessons.disagreement import DISAGREEMENT
from pages.parts.explain.lessons.free_rejections import FREE_REJECTIONS
from pages.parts.explain.lessons.more_steps import MORE_STEPS
from pages.parts.explain.lessons.noise_places import NOISE_PLACES
from pages.parts.explain.lessons.not_units import NOT_UNITS
from pages.parts.explain.lessons.sampling import SAMPLING
from pages.parts.explain.lessons.shuffled import SHUFFLED_LESSON

LESSONS = {
    each.name: each
    for each in (
        SAMPLING,
        SHUFFLED_LESSON,
        DISAGREEMENT,
        CLIPPING,
        NOT_UNITS,
        MORE_STEPS,
        BROKEN_PROOF,
        FREE_REJECTIONS,
        NOISE_PLACES,
        BETTER_FEATURES,
        BROKEN_TRAINER,
    )
}
