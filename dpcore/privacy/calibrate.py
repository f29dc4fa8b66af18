"""The inverse question: which sigma, how many steps, which sampling rate or batch keep a budget.

What is fixed makes a function from the argument to a mechanism; an accountant makes that a cost; `frontier` finds the
last argument within the budget. By the certified accountant the cost is the upper end of its band.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import floor, inf, isinf

import numpy as np

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.frontier import Axis, Frontier, frontier, scanned
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import SCHEDULES, scheduled
from dpcore.privacy.targets import EpsilonTarget, Reading, Target
from dpcore.privacy.verdict import Verdict, verdict

SIGMAS = (0.01, 1000.0)  # where an answer is looked for
RATES = (1e-9, 1.0)
MOST_STEPS = 10**7
GUESS = "gdp"  # a closed form: its answer is where the search by another accountant begins
CERTIFIED = "pld"
SOLVABLE = ("sigma", "steps", "q", "batch")


@dataclass(frozen=True)
class Recipe:
    """How sigma changes over the steps, given the first one; see `schedule`."""

    name: str = "constant"
    rate: float = 0.0
    level_steps: int = 0  # 0: one epoch, round(1/q)

    def __post_init__(self) -> None:
        check.one_of(SCHEDULES, schedule=self.name)
        check.in_range(0, inf, ends="[)", rate=self.rate)
        check.whole(0, level_steps=self.level_steps)

    def mechanism(self, q: float, sigma: float, steps: int) -> Mechanism:
        """The mechanism whose first sigma is this one."""
        return scheduled(self.name, q, sigma, steps, self.rate, self.level_steps)


CONSTANT = Recipe()


@dataclass(frozen=True)
class Answer:
    """The last value within a budget, what it spends, and what kind of number that is."""

    solved: str  # sigma, steps, q or batch
    value: float  # whole for steps and batch
    target: Target
    reading: Reading  # what `mechanism` spends of the target; reading.value <= target.size
    beyond: float | None  # the next value that was found to overshoot; None at the end of the range
    accountant: str
    mechanism: Mechanism
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What to know about it, in sentences; "" where all is well."""
        return " ".join(self.notes)


def sigma_for(
    target: Target,
    q: float,
    steps: int,
    *,
    accountant: str = "pld",
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The smallest (first) sigma, to six digits, that keeps the target over `steps` steps.

    **Guarantees:** the answer's cost was measured and is at most the target; at least 0.999 of it, unless the cost
    jumps there; and a sigma at most 0.1 % smaller was measured and overshoots. Looks between 0.01 and 1000.
    `examples` n only serves to warn of delta >= 1/n. Errors: ValueError for bad input or a target out of reach.

    >>> answer = sigma_for(EpsilonTarget(3.0, 1e-5), q=0.01, steps=10_000)
    >>> round(answer.value, 2), answer.reading.value <= 3, str(answer.reading.kind)
    (1.57, True, 'certified')
    """
    check.in_range(0, 1, ends="(]", q=q)
    check.whole(1, MAX_STEPS, steps=steps)
    search = _Search(
        "sigma", Axis(*SIGMAS, rising=False), lambda sigma: recipe.mechanism(q, sigma, steps), target, accountant
    )
    return _answered(search, examples, f"No sigma below 1000 reaches {target} in {steps} steps; lower the steps or")


def steps_for(
    target: Target,
    q: float,
    sigma: float,
    *,
    accountant: str = "pld",
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The most steps, up to 10^7, that keep the target: one more was measured and overshoots.

    Notes say where they are no whole number of epochs. Errors and `examples` as for `sigma_for`.

    >>> steps_for(EpsilonTarget(1.0, 1e-5), q=0.01, sigma=4.0, accountant="rdp").value
    9375
    """
    check.in_range(0, 1, ends="(]", q=q)
    check.positive(sigma=sigma)
    search = _Search(
        "steps",
        Axis(1, MOST_STEPS, whole=True),
        lambda steps: recipe.mechanism(q, sigma, int(steps)),
        target,
        accountant,
    )
    return _answered(search, examples, f"One step already costs {{cost}}, above {target}; raise sigma, lower q, or")


def rate_for(
    target: Target,
    sigma: float,
    steps: int,
    *,
    accountant: str = "pld",
    recipe: Recipe = CONSTANT,
    examples: int | None = None,
) -> Answer:
    """The largest sampling rate q, to six digits, that keeps the target over `steps` steps.

    Guarantees, errors and `examples` as for `sigma_for`. A schedule without `level_steps` changes its epochs with q.

    >>> round(rate_for(EpsilonTarget(1.0, 1e-5), sigma=4.0, steps=10_000, accountant="rdp").value, 5)
    0.00968
    """
    check.positive(sigma=sigma)
    check.whole(1, MAX_STEPS, steps=steps)
    search = _Search("q", Axis(*RATES), lambda q: recipe.mechanism(q, sigma, steps), target, accountant)
    words = f"Even q={RATES[0]:g} costs {{cost}} in {steps} steps, above {target}; raise sigma, lower the steps, or"
    return _answered(search, examples, words)


def batch_for(
    target: Target,
    examples: int,
    sigma: float,
    steps: int,
    *,
    accountant: str = "pld",
    recipe: Recipe = CONSTANT,
) -> Answer:
    """The largest whole expected batch q n of n `examples` that keeps the target over `steps` steps.

    One more was measured and overshoots. Errors as for `sigma_for`.

    >>> batch_for(EpsilonTarget(1.0, 1e-5), 60_000, sigma=4.0, steps=10_000, accountant="rdp").value
    581
    """
    check.whole(1, examples=examples)
    check.positive(sigma=sigma)
    check.whole(1, MAX_STEPS, steps=steps)
    axis = Axis(1, examples, whole=True)
    search = _Search("batch", axis, lambda batch: recipe.mechanism(batch / examples, sigma, steps), target, accountant)
    words = f"Even a batch of 1 costs {{cost}} in {steps} steps, above {target}; raise sigma, lower the steps, or"
    return _answered(search, examples, words)


def verdict_on(answer: Answer) -> Verdict:
    """What the number of an answer is worth, judged by the certified accountant on the same mechanism.

    >>> verdict_on(sigma_for(EpsilonTarget(2.0, 1e-5), 0.01, 10_000, accountant="gdp")).status.value
    'claims_less'
    """
    certified = answer.reading
    if certified.kind is not Kind.CERTIFIED:
        certified = answer.target.reading(ACCOUNTANTS[CERTIFIED], answer.mechanism)
    found = verdict(*(_curve(each, answer.mechanism.steps) for each in (answer.reading, certified)))
    return replace(found, text=found.text.replace("exact epsilon", f"exact {answer.target.word}"))


def _curve(reading: Reading, steps: int) -> Curve:
    """One point; the verdict looks at its height only, whatever it measures."""
    lower = None if reading.lower is None else np.array([reading.lower])
    return Curve(np.array([steps]), np.array([0.5]), np.array([reading.value]), lower, reading.kind, reading.note)


@dataclass(frozen=True, eq=False)
class _Search:
    """One argument, and what it costs; every value is measured once."""

    solved: str
    axis: Axis
    mechanism: Callable[[float], Mechanism]
    target: Target
    accountant: str
    readings: dict[float, Reading] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check.one_of(ACCOUNTANTS, accountant=self.accountant)

    def cost(self, value: float) -> float:
        """What a value of the argument spends; infinite where there is no such mechanism."""
        if value not in self.readings:
            try:
                mechanism = self.mechanism(value)
            except ValueError as error:  # a schedule that lasts no longer, or whose noise has run out
                self.readings[value] = Reading(inf, None, Kind.CLAIMED, str(error))
            else:
                self.readings[value] = self.target.reading(ACCOUNTANTS[self.accountant], mechanism)
        return self.readings[value].value

    def found(self) -> Frontier:
        """The last value within the budget and the first beyond it."""
        start, slope = (self.axis.low * self.axis.high) ** 0.5, 1.0
        if self.accountant != GUESS:
            guess = _Search(self.solved, self.axis, self.mechanism, self.target, GUESS).found()
            nearest = guess.inside or guess.outside
            start, slope = nearest.value if nearest else start, guess.slope
        found = frontier(self.axis, self.cost, self.target.size, start, slope)
        if found.inside is None and ACCOUNTANTS[self.accountant].kind is not Kind.CERTIFIED:
            # Formulas may need a sigma that is not too large either.
            again = scanned(self.axis, self.cost, self.target.size)
            found = found if again is None else frontier(self.axis, self.cost, self.target.size, again)
        return found


def _answered(search: _Search, examples: int | None, out_of_reach: str) -> Answer:
    """The answer to a search; `out_of_reach` begins the sentence that is raised if there is none."""
    if examples is not None:
        check.whole(1, examples=examples)
    search.mechanism(search.axis.value(search.axis.ends[0]))  # bad input where even the cheapest is none
    inside, outside = search.found()
    if inside is None:
        assert outside is not None
        raise ValueError(_refusal(search, outside.value, out_of_reach))
    mechanism, reading = search.mechanism(inside.value), search.readings[inside.value]
    notes = [reading.note, _end(search, inside.value, outside and outside.value)]
    notes += warnings(search.target, mechanism, examples)
    return Answer(
        search.solved,
        int(inside.value) if search.axis.whole else inside.value,
        search.target,
        reading,
        outside and outside.value,
        search.accountant,
        mechanism,
        tuple(note for note in notes if note),
    )


def warnings(target: Target, mechanism: Mechanism, examples: int | None) -> list[str]:
    """What is allowed, but should be known: delta >= 1/n, steps that are no whole number of epochs.

    >>> warnings(EpsilonTarget(1.0, 1e-3), Mechanism.constant(0.01, 4.0, 150), 1000)[1]
    '150 steps are 1.5 epochs, not a whole number; 1 epoch would be 100 steps.'
    """
    notes = []
    if isinstance(target, EpsilonTarget) and examples is not None and target.delta * examples >= 1:
        limit = f"1/n={1 / examples:.3g}"
        notes.append(
            f"delta={target.delta:g} is not below {limit}: publishing one whole record would pass for private."
        )
    q, steps = mechanism.releases[0].q, mechanism.steps
    epochs = steps * q
    if abs(epochs - round(epochs)) > q * (1 - 1e-9):  # by a step or more
        whole = floor(epochs)
        instead = f"; {whole} epoch{'s' * (whole > 1)} would be {round(whole / q)} steps" if whole else ""
        notes.append(f"{steps} steps are {epochs:.6g} epochs, not a whole number{instead}.")
    return notes


def _end(search: _Search, inside: float, outside: float | None) -> str:
    """Why the answer stops where it does, if the budget is not the reason."""
    if outside is None:
        return f"Even {search.solved}={inside:g}, the end of what is tried, keeps {search.target}."
    past = search.readings[outside]
    return f"Past {search.solved}={inside:g} there is no number: {past.note}" if isinf(past.value) else ""


def _refusal(search: _Search, cheapest: float, out_of_reach: str) -> str:
    """The sentence for a target that nothing in range keeps, with the way out."""
    reading, word = search.readings[cheapest], search.target.word
    sentence = f"{out_of_reach.format(cost=f'{word}={reading.value:.4g}')} raise {word}."
    silent = isinf(reading.value) or (reading.note and reading.kind is not Kind.CLAIMED)
    return f"{sentence} The accountant {search.accountant} has no number: {reading.note}" if silent else sentence
