"""One search: a function from an argument to a cost, the last value within a budget, and what to tell with it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, isfinite, isinf

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.calibration.budget_search import Axis, Bracket, Point, bracket, last_with, scanned
from dpcore.privacy.calibration.targets import EpsilonTarget, Target
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.cautions import delta_warning
from dpcore.privacy.report.numbers import epochs_of, nearest, outward
from dpcore.privacy.types import Reading

GUESS = "gdp"  # a closed form: its answer is where the search by another accountant begins


@dataclass(frozen=True)
class Answer:
    """The last value within a budget, what it spends, and what kind of number that is."""

    solved: str  # sigma, steps, q or batch
    value: float  # whole for steps and batch
    target: Target
    reading: Reading  # what `mechanism` spends of the target; reading.value <= target.size
    beyond: float | None  # the next value that was found to overshoot; None where the numbers or the range end
    accountant: str
    mechanism: Mechanism
    notes: tuple[str, ...] = ()

    @property
    def spent(self) -> float:
        """What it spends, for readers: rounded up to three digits, but never past the target that it keeps."""
        return min(float(outward(self.reading.value, ceil)), self.target.size)

    @property
    def note(self) -> str:
        """What to know about it, in sentences; "" where all is well."""
        return " ".join(self.notes)


@dataclass(frozen=True, eq=False)
class Search:
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

    def _hopeful(self, value: float) -> bool:
        """Whether there is a mechanism, and not known beforehand that the accountant has no number for it."""
        try:
            return not ACCOUNTANTS[self.accountant].hopeless(self.mechanism(value))
        except ValueError:
            return False

    def found(self) -> Bracket:
        """The last value within the budget and the first beyond it."""
        axis, silent = self.axis, last_with(self.axis, self._hopeful)
        if silent is not None:  # beyond lies nothing to count
            axis, beyond = silent
        start, slope = (axis.low * axis.high) ** 0.5, 1.0
        if self.accountant != GUESS:
            guess = Search(self.solved, axis, self.mechanism, self.target, GUESS).found()
            nearest = guess.inside or guess.outside
            start, slope = nearest.value if nearest else start, guess.slope
        found = bracket(axis, self.cost, self.target.size, start, slope)
        if silent is not None and found.outside is None:
            found = found._replace(outside=Point(axis.place(beyond), beyond, self.cost(beyond)))
        if found.inside is None and ACCOUNTANTS[self.accountant].kind is not Kind.CERTIFIED:
            # Formulas may need a sigma that is not too large either.
            again = scanned(self.axis, self.cost, self.target.size)
            found = found if again is None else bracket(self.axis, self.cost, self.target.size, again)
        return found


def answered(search: Search, examples: int | None, out_of_reach: str) -> Answer:
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
        outside.value if outside and isfinite(outside.cost) else None,
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
    if isinstance(target, EpsilonTarget) and (warning := delta_warning(target.delta, examples)):
        notes.append(warning)
    q, steps = mechanism.releases[0].q, mechanism.steps
    epochs = steps * q
    if abs(epochs - round(epochs)) > q * (1 - 1e-9):  # by a step or more
        whole = floor(epochs)
        instead = f"; {epochs_of(whole, 6)} would be {round(whole / q)} steps" if whole else ""
        notes.append(f"{steps} steps are {epochs_of(epochs, 6)}, not a whole number{instead}.")
    return notes


def _end(search: Search, inside: float, outside: float | None) -> str:
    """Why the answer stops where it does, if the budget is not the reason."""
    if outside is None:
        return f"Even {search.solved}={inside:g}, the end of what is tried, keeps {search.target}."
    past = search.readings[outside]
    return f"Past {search.solved}={inside:g} there is no number: {past.note}" if isinf(past.value) else ""


def _refusal(search: Search, cheapest: float, out_of_reach: str) -> str:
    """The sentence for a target that nothing in range keeps, with the way out."""
    reading, word = search.readings[cheapest], search.target.word
    none = f"The accountant {search.accountant} has no number: {reading.note}"
    if isinf(reading.value) and search.solved != "sigma":
        return f"{none} {_louder(search, cheapest)}".strip()
    sentence = f"{out_of_reach.format(cost=f'{word}={nearest(reading.value)}')} raise {word}."
    silent = isinf(reading.value) or (reading.note and reading.kind not in (Kind.CLAIMED, Kind.CERTIFIED))
    return f"{sentence} {none}" if silent else sentence


def _louder(search: Search, value: float) -> str:
    """The advice to raise sigma, if at sigma 1 there is a number."""
    try:
        releases = search.mechanism(value).releases
    except ValueError:  # a schedule that lasts no longer
        return ""
    louder = Mechanism(tuple(replace(release, sigma=max(release.sigma, 1.0)) for release in releases))
    found = search.target.reading(ACCOUNTANTS[search.accountant], louder)
    return "" if isinf(found.value) else "Raise sigma."
