"""The inverse question: which sigma, how many steps, which sampling rate or batch keep a budget.

What is fixed makes a function from the argument to a mechanism; an accountant makes that a cost; `bracket` finds the
last argument within the budget. By the certified accountant the cost is the upper end of its band.
"""

from typing import Any

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Kind
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.calibration.answer import Answer, Search, answered
from dpcore.privacy.calibration.budget_search import Axis
from dpcore.privacy.calibration.targets import Target
from dpcore.privacy.report.verdict import Verdict, judged
from dpcore.privacy.schedule import CONSTANT, Recipe

SIGMAS = (0.01, 1000.0)  # where an answer is looked for
Q_RANGE = (1e-9, 1.0)
MOST_STEPS = 10**7
NEEDED = {  # what is solved -> what must be given
    "sigma": ("q", "steps"),
    "steps": ("q", "sigma"),
    "q": ("sigma", "steps"),
    "batch": ("sigma", "steps", "examples"),
}
SOLVABLE = tuple(NEEDED)


def sigma_for(
    target: Target,
    q: float,
    steps: int,
    *,
    accountant: str = CERTIFIED,
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The smallest (first) sigma, to six digits, that keeps the target over `steps` steps.

    **Guarantees:** the answer's cost was measured and is at most the target; at least 0.999 of it, unless the cost
    jumps there; and a sigma at most 0.1 % smaller was measured and overshoots. Looks between 0.01 and 1000.
    `examples` n only serves to warn of delta >= 1/n. Errors: ValueError for bad input or a target out of reach.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> answer = sigma_for(EpsilonTarget(3.0, 1e-5), q=0.01, steps=10_000)
    >>> round(answer.value, 2), answer.reading.value <= 3, str(answer.reading.kind)
    (1.57, True, 'certified')
    """
    check.in_range(0, 1, ends="(]", q=q)
    check.whole(1, MAX_STEPS, steps=steps)
    search = Search(
        "sigma", Axis(*SIGMAS, rising=False), lambda sigma: recipe.mechanism(q, sigma, steps), target, accountant
    )
    return answered(search, examples, f"No sigma below 1000 reaches {target} in {steps} steps; lower the steps or")


def steps_for(
    target: Target,
    q: float,
    sigma: float,
    *,
    accountant: str = CERTIFIED,
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The most steps, up to 10^7, that keep the target: one more was measured and overshoots.

    Notes say where they are no whole number of epochs. Errors and `examples` as for `sigma_for`.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> steps_for(EpsilonTarget(1.0, 1e-5), q=0.01, sigma=4.0, accountant="rdp").value
    9375
    """
    check.in_range(0, 1, ends="(]", q=q)
    check.positive(sigma=sigma)
    search = Search(
        "steps",
        Axis(1, MOST_STEPS, whole=True),
        lambda steps: recipe.mechanism(q, sigma, int(steps)),
        target,
        accountant,
    )
    return answered(search, examples, f"One step already costs {{cost}}, above {target}; raise sigma, lower q, or")


def q_for(
    target: Target,
    sigma: float,
    steps: int,
    *,
    accountant: str = CERTIFIED,
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The largest sampling rate q, to six digits, that keeps the target over `steps` steps.

    Guarantees, errors and `examples` as for `sigma_for`. A schedule without `level_steps` changes its epochs with q.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> round(q_for(EpsilonTarget(1.0, 1e-5), sigma=4.0, steps=10_000, accountant="rdp").value, 5)
    0.00968
    """
    check.positive(sigma=sigma)
    check.whole(1, MAX_STEPS, steps=steps)
    search = Search("q", Axis(*Q_RANGE), lambda q: recipe.mechanism(q, sigma, steps), target, accountant)
    words = f"Even q={Q_RANGE[0]:g} costs {{cost}} in {steps} steps, above {target}; raise sigma, lower the steps, or"
    return answered(search, examples, words)


def batch_for(
    target: Target,
    examples: int,
    sigma: float,
    steps: int,
    *,
    accountant: str = CERTIFIED,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The largest whole expected batch q n of n `examples` that keeps the target over `steps` steps.

    One more was measured and overshoots. Errors as for `sigma_for`.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> batch_for(EpsilonTarget(1.0, 1e-5), 60_000, sigma=4.0, steps=10_000, accountant="rdp").value
    581
    """
    check.whole(1, examples=examples)
    check.positive(sigma=sigma)
    check.whole(1, MAX_STEPS, steps=steps)
    axis = Axis(1, examples, whole=True)
    search = Search("batch", axis, lambda batch: recipe.mechanism(batch / examples, sigma, steps), target, accountant)
    words = f"Even a batch of 1 costs {{cost}} in {steps} steps, above {target}; raise sigma, lower the steps, or"
    return answered(search, examples, words)


def solve(
    solved: str,
    target: Target,
    *,
    q: float | None = None,
    sigma: float | None = None,
    steps: int | None = None,
    examples: int | None = None,
    accountant: str = CERTIFIED,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The answer for the quantity named: sigma, steps, q or batch, which needs `examples`; its own value is not read.

    Errors: ValueError for bad input, what is `NEEDED` but not given, or a target out of reach.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> solve("steps", EpsilonTarget(1.0, 1e-5), q=0.01, sigma=4.0, steps=0, accountant="rdp").value
    9375
    """
    check.one_of(SOLVABLE, solve=solved)
    given = {"q": q, "sigma": sigma, "steps": steps, "examples": examples}
    for name in NEEDED[solved]:
        if given[name] is None:
            raise ValueError(f"Expected {name} to be given to solve {solved}.")
    known: dict[str, Any] = {name: given[name] for name in NEEDED[solved]}
    known |= {"accountant": accountant, "recipe": recipe}
    if solved == "batch":
        return batch_for(target, **known)
    return {"sigma": sigma_for, "steps": steps_for, "q": q_for}[solved](target, **known, examples=examples)


def verdict_on(answer: Answer) -> Verdict:
    """What the number of an answer is worth, judged by the certified accountant on the same mechanism.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> verdict_on(sigma_for(EpsilonTarget(2.0, 1e-5), 0.01, 10_000, accountant="gdp")).worth.value
    'claims_less'
    """
    band = answer.reading
    if band.kind is not Kind.CERTIFIED:
        band = answer.target.reading(ACCOUNTANTS[CERTIFIED], answer.mechanism)
    return judged(answer.reading, band, answer.target.word)
