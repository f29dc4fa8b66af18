"""Calibration: the sigma, number of steps, sampling rate or batch that keeps a budget.

The given values make a function from the unknown argument to a mechanism, an accountant turns that
into a cost, and `bracket` finds the last argument within the budget. The cost by the certified
accountant is the upper end of its band. `same_epsilon` finds the sigma that a tighter accountant
allows at the epsilon of a looser one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, isfinite, isinf
from typing import Any

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Accountant, Kind
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.calibration.budget_search import Axis, Bracket, Point, bracket, scanned
from dpcore.privacy.calibration.targets import EpsilonTarget, Target
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.numbers import epochs_of, nearest, outward
from dpcore.privacy.report.statement import delta_warning
from dpcore.privacy.report.verdict import Verdict, judged
from dpcore.privacy.schedule import CONSTANT, Recipe

GUESS = "gdp"  # a closed form, whose answer starts the search by another accountant
SIGMAS = (0.01, 1000.0)  # range of an answer
Q_RANGE = (1e-9, 1.0)
MAX_SOLVED_STEPS = 10**7
NEEDED = {  # unknown -> what must be given
    "sigma": ("q", "steps"),
    "steps": ("q", "sigma"),
    "q": ("sigma", "steps"),
    "batch": ("sigma", "steps", "examples"),
}
SOLVABLE = tuple(NEEDED)
AXES = {  # ranges of the answers; a batch has at most all examples
    "sigma": Axis(*SIGMAS, rising=False),
    "steps": Axis(1, MAX_SOLVED_STEPS, whole=True),
    "q": Axis(*Q_RANGE),
}
WAY_OUT = "costs {cost} in {steps} steps, above {target}; raise sigma, lower the steps, or"
REFUSALS = {  # sentences for a target out of reach, without their end "raise epsilon."
    "sigma": "No sigma below 1000 reaches {target} in {steps} steps; lower the steps or",
    "steps": "One step already costs {cost}, above {target}; raise sigma, lower q, or",
    "q": f"Even q={Q_RANGE[0]:g} {WAY_OUT}",
    "batch": f"Even a batch of 1 {WAY_OUT}",
}


@dataclass(frozen=True)
class Answer:
    """The last value within a budget, and its cost."""

    solved: str  # sigma, steps, q or batch
    value: float  # whole for steps and batch
    target: Target
    # The cost of `mechanism`, for a sampler of its batches; reading.value <= target.size.
    reading: Reading
    # The next value, which was measured and overshoots; None if the numbers or the range end.
    beyond: float | None
    accountant: str  # or the sampler whose batches are not Poisson's
    mechanism: Mechanism
    notes: tuple[str, ...] = ()

    @property
    def spent(self) -> float:
        """The cost for readers, rounded up to three digits but never past the target."""
        return min(float(outward(self.reading.value, ceil)), self.target.size)

    @property
    def note(self) -> str:
        """The notes in one text; "" without any."""
        return " ".join(self.notes)


@dataclass(frozen=True, eq=False)
class Search:
    """One argument and its cost; every value is measured once."""

    solved: str
    axis: Axis
    mechanism: Callable[[float], Mechanism]
    target: Target
    accountant: Accountant
    readings: dict[float, Reading] = field(default_factory=dict)

    def cost(self, value: float) -> float:
        """The cost at a value of the argument; infinite if there is no such mechanism."""
        if value not in self.readings:
            try:
                mechanism = self.mechanism(value)
            except ValueError as error:  # a schedule that ends earlier, or has no noise left
                self.readings[value] = Reading(inf, None, Kind.CLAIMED, str(error))
            else:
                self.readings[value] = self.target.spent_by(self.accountant, mechanism)
        return self.readings[value].value

    def _silence(self, value: float) -> float:
        """Infinite if there is no mechanism or it is hopeless for the accountant, else 0."""
        try:
            mechanism = self.mechanism(value)
        except ValueError:
            return inf
        return inf if self.accountant.hopeless(mechanism) else 0.0

    def found(self) -> Bracket:
        """The last value within the budget and the first beyond it."""
        axis = self.axis
        last, silent = bracket(axis, self._silence, 1.0, axis.value(axis.ends[1]))
        if last and silent:  # there is nothing to count beyond
            axis = _ending_at(axis, last.value)
        start, slope = self._first_look(axis)
        found = bracket(axis, self.cost, self.target.size, start, slope)
        if silent and found.outside is None:
            found = Bracket(found.inside, silent._replace(cost=self.cost(silent.value)))
        certified = self.accountant.kind is Kind.CERTIFIED
        if found.inside is None and not certified:
            # Some formulas also need a sigma that is not too large.
            again = scanned(self.axis, self.cost, self.target.size)
            if again is not None:
                found = bracket(self.axis, self.cost, self.target.size, again)
        return found

    def _first_look(self, axis: Axis) -> tuple[float, float]:
        """The first value to measure, and the slope there, from the answer by GUESS."""
        middle = (axis.low * axis.high) ** 0.5
        if self.accountant.name == GUESS:
            return middle, 1.0
        by = ACCOUNTANTS[GUESS]
        guess = Search(self.solved, axis, self.mechanism, self.target, by).found()
        nearest = guess.inside or guess.outside
        return (nearest.value if nearest else middle), guess.slope


def _ending_at(axis: Axis, dearest: float) -> Axis:
    """The axis up to its dearest value."""
    if axis.rising:
        return replace(axis, high=dearest)
    return replace(axis, low=dearest)


def _answered(search: Search, examples: int | None, steps: int | None) -> Answer:
    """The answer to a search. Errors: ValueError with a sentence if there is none."""
    if examples is not None:
        check.whole(1, examples=examples)
    # Raises for input that is bad at every value.
    search.mechanism(search.axis.value(search.axis.ends[0]))
    inside, outside = search.found()
    if inside is None:
        assert outside is not None
        raise ValueError(_refusal(search, outside.value, steps))
    mechanism = search.mechanism(inside.value)
    reading = search.readings[inside.value]
    value = int(inside.value) if search.axis.whole else inside.value
    beyond = None
    if outside is not None and isfinite(outside.cost):
        beyond = outside.value
    notes = [reading.note, _end(search, inside.value, outside)]
    before = search.target.before
    if before is not None:
        notes.append(f"The cost includes {before.steps:,} steps that were released before.")
    notes += warnings(search.target, mechanism, examples)
    return Answer(
        search.solved,
        value,
        search.target,
        reading,
        beyond,
        search.accountant.name,
        mechanism,
        notes=tuple(note for note in notes if note),
    )


def warnings(target: Target, mechanism: Mechanism, examples: int | None) -> list[str]:
    """Warn of delta >= 1/n, and of steps that are no whole number of epochs.

    >>> warnings(EpsilonTarget(1.0, 1e-3), Mechanism.constant(0.01, 4.0, 150), 1000)[1]
    '150 steps are 1.5 epochs, not a whole number; 1 epoch would be 100 steps.'
    """
    notes = []
    if isinstance(target, EpsilonTarget):
        warning = delta_warning(target.delta, examples)
        if warning:
            notes.append(warning)
        if target.runs is not None:
            notes.append(target.runs.condition)
    q = mechanism.releases[0].q
    steps = mechanism.steps
    epochs = steps * q
    if abs(epochs - round(epochs)) > q * (1 - 1e-9):  # by a step or more
        whole = floor(epochs)
        text = f"{steps} steps are {epochs_of(epochs, 6)}, not a whole number"
        if whole > 0:
            text += f"; {epochs_of(whole, 6)} would be {round(whole / q)} steps"
        notes.append(f"{text}.")
    return notes


def _end(search: Search, inside: float, outside: Point | None) -> str:
    """The reason why the search ended, if the budget is not the reason."""
    if outside is None:
        return f"Even {search.solved}={inside:g}, the end of the range, keeps {search.target}."
    past = search.readings[outside.value]
    if isinf(past.value):
        return f"Past {search.solved}={inside:g} there is no number: {past.note}"
    return ""


def _refusal(search: Search, cheapest: float, steps: int | None) -> str:
    """The sentence for a target out of reach, with the way out."""
    reading = search.readings[cheapest]
    word = search.target.word
    none = f"The accountant {search.accountant.name} has no number: {reading.note}"
    infinite = isinf(reading.value)
    if infinite and search.solved != "sigma":
        return f"{none} {_louder(search, cheapest)}".strip()
    cost = f"{word}={nearest(reading.value)}"
    refusal = REFUSALS[search.solved].format(cost=cost, target=search.target, steps=steps)
    sentence = f"{refusal} {search.target.way_out}."
    note_says_why = reading.note and reading.kind not in (Kind.CLAIMED, Kind.CERTIFIED)
    if infinite or note_says_why:
        return f"{sentence} {none}"
    return sentence


def _louder(search: Search, value: float) -> str:
    """The advice to raise sigma, if there is a number at sigma 1."""
    try:
        releases = search.mechanism(value).releases
    except ValueError:  # a schedule that ends earlier
        return ""
    louder = [replace(release, sigma=max(release.sigma, 1.0)) for release in releases]
    found = search.target.spent_by(search.accountant, Mechanism(tuple(louder)))
    return "" if isinf(found.value) else "Raise sigma."


def solve(
    solved: str,
    target: Target,
    *,
    q: float | None = None,
    sigma: float | None = None,
    steps: int | None = None,
    examples: int | None = None,
    accountant: str | Accountant = CERTIFIED,
    recipe: Recipe = CONSTANT,
) -> Answer:
    """Find the last value of the quantity `solved` that keeps the target.

    A value given for it is ignored. It is the smallest (first) sigma from 0.01 to 1000, the most
    steps up to 10^7, the largest sampling rate q, or the largest whole expected batch q n of n
    `examples`. In the other cases `examples` only serve to warn of delta >= 1/n. Sigma and q have
    six digits. The epochs of a schedule without `level_steps` change with q. **Guarantees:** the
    answer's cost was measured and is at most the target. One more step, or one more example in a
    batch, was measured and overshoots. So does a sigma or q at most 0.1 % farther, and the answer's
    cost is at least 0.999 of the target, unless the cost jumps there. Errors: ValueError for bad
    input, a missing value of `NEEDED`, or a target out of reach.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> answer = solve("sigma", EpsilonTarget(3.0, 1e-5), q=0.01, steps=10_000)
    >>> round(answer.value, 2), answer.reading.value <= 3, str(answer.reading.kind)
    (1.57, True, 'certified')
    >>> solve("steps", EpsilonTarget(1.0, 1e-5), q=0.01, sigma=4.0, steps=0, accountant="rdp").value
    9375
    """
    check.one_of(SOLVABLE, solve=solved)
    given: dict[str, Any] = {"q": q, "sigma": sigma, "steps": steps, "examples": examples}
    for name in NEEDED[solved]:
        if given[name] is None:
            raise ValueError(f"Give {name} to solve {solved}.")
    for name in NEEDED[solved]:
        _checked(name, given[name])
    if isinstance(accountant, str):
        check.one_of(ACCOUNTANTS, accountant=accountant)
        accountant = ACCOUNTANTS[accountant]
    _check_before(target, accountant)
    axis = Axis(1, given["examples"], whole=True) if solved == "batch" else AXES[solved]

    def mechanism(value: float) -> Mechanism:
        """The mechanism at a value of the unknown."""
        known = dict(given)
        if solved == "batch":
            known["q"] = int(value) / known["examples"]
        elif solved == "steps":
            known["steps"] = int(value)
        else:
            known[solved] = value
        return recipe.mechanism(known["q"], known["sigma"], known["steps"])

    return _answered(Search(solved, axis, mechanism, target, accountant), examples, steps)


def _check_before(target: Target, accountant: Accountant) -> None:
    """Raise ValueError if what was released before leaves nothing of the target."""
    if target.before is None:
        return
    spent = target.spent_before(accountant)
    if spent.value > target.size:
        cost = nearest(spent.value) if isfinite(spent.value) else f"no number: {spent.note}"
        raise ValueError(
            f"What was released before already costs {target.word}={cost}, above {target}:"
            f" {target.way_out}."
        )


def _checked(name: str, value: Any) -> None:
    """Raise ValueError for a given value out of its range."""
    if name == "q":
        check.in_range(0, 1, ends="(]", q=value)
    elif name == "sigma":
        check.positive(sigma=value)
    elif name == "steps":
        check.whole(1, MAX_STEPS, steps=value)
    else:
        check.whole(1, examples=value)


def verdict_on(answer: Answer) -> Verdict:
    """Judge the number of an answer by the certified accountant on the same mechanism.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> target = EpsilonTarget(2.0, 1e-5)
    >>> verdict_on(solve("sigma", target, q=0.01, steps=10_000, accountant="gdp")).worth.value
    'claims_less'
    """
    band = answer.reading
    if band.kind is not Kind.CERTIFIED:
        band = answer.target.spent_by(ACCOUNTANTS[CERTIFIED], answer.mechanism)
    return judged(answer.reading, band, answer.target.word)


def same_epsilon(
    q: float,
    sigma: float,
    steps: int,
    delta: float,
    *,
    promised_by: str = "moments",
    accountants: tuple[str, ...] = ("gdp", CERTIFIED),
    recipe: Recipe = CONSTANT,
) -> tuple[Reading, list[Answer]]:
    """The promise of `promised_by` at `sigma`, and the (first) sigma of others that still make it.

    Each of `accountants` gives its own answer. Source: Bu, Dong, Long and Su 2020, arXiv
    1911.11607, equations (3.3) and (3.4), which set delta(epsilon) of the central limit equal to
    that of the moments accountant. The promise is kept only if the answering accountant is a bound,
    which the central limit is not. Errors: ValueError for bad input, or no finite promise.

    >>> promise, answers = same_epsilon(256 / 60000, 1.3, 4687, 1e-5)
    >>> [(answer.accountant, round(answer.value, 2)) for answer in answers]
    [('gdp', 1.06), ('pld', 1.09)]
    """
    check.one_of(ACCOUNTANTS, promised_by=promised_by)
    check.delta(delta=delta)
    mechanism = recipe.mechanism(q, sigma, steps)
    promise = ACCOUNTANTS[promised_by].spent(mechanism, delta)
    epsilon = promise.value
    if not 0 < epsilon < inf:
        raise ValueError(
            f"Expected promised_by={promised_by!r} to promise an epsilon above 0; it gives"
            f" {epsilon:g}."
        )
    target = EpsilonTarget(epsilon, delta)
    answers = [
        solve("sigma", target, q=q, steps=steps, accountant=each, recipe=recipe)
        for each in accountants
    ]
    return promise, answers
