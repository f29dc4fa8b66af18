"""Why accountants differ: all count the same noise, and not all of them prove what they say."""

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import WORDS
from pages.parts.explain.lesson import Answer, Lesson, Question, Scene, Step

WORST_CASE = Scene(accountants=("naive",))
MOMENTS = Scene(accountants=("moments", "rdp"))
LIMIT = Scene(accountants=("rdp", "gdp"))
CHOICES = ("moments", "rdp", "gdp", CERTIFIED)


def _may_stand(name: str) -> bool:
    """Whether an accountant's number is the smallest of those that are proven."""
    proven = [LIMIT.epsilon(each) for each in CHOICES if ACCOUNTANTS[each].kind.is_bound]
    return ACCOUNTANTS[name].kind.is_bound and LIMIT.epsilon(name) == min(proven)


def _why_not(name: str) -> str:
    kind, number = ACCOUNTANTS[name].kind, LIMIT.cost(name)
    if not kind.is_bound:
        return f"{number} is an {WORDS[kind]}: it is proven that epsilon is at least {LIMIT.least()} here."
    if _may_stand(name):
        return f"Proven from both sides: epsilon is at least {LIMIT.least()}, and {number} is enough."
    return f"{number} is proven, but larger than it need be: {LIMIT.cost()} is proven too."


DISAGREEMENT = Lesson(
    "disagreement",
    "Why accountants differ",
    (
        Step(
            WORST_CASE,
            lambda scene: (
                f"One training run, two accountants. Basic composition adds the worst case of every step: "
                f"epsilon {scene.cost('naive')}. The certified band, from the same noise: {scene.cost()}."
            ),
        ),
        Step(
            MOMENTS,
            lambda scene: (
                f"These two keep track of how rare bad luck is: {scene.cost('moments')} and {scene.cost('rdp')}. They "
                "know the same moments; the second turns them into an epsilon with less loss."
            ),
        ),
        Step(
            LIMIT,
            lambda scene: (
                f"The central limit theorem pretends that there are endlessly many tiny steps, and says "
                f"{scene.cost('gdp')}. It runs below the band: epsilon is proven to be at least {scene.least()}."
            ),
        ),
    ),
    Question(
        LIMIT,
        lambda: "You publish the model with one epsilon. Which is the smallest number that you may promise?",
        tuple(
            Answer(
                f"{ACCOUNTANTS[name].title}",
                lambda name=name: _may_stand(name),
                lambda name=name: _why_not(name),
            )
            for name in CHOICES
        ),
    ),
)
