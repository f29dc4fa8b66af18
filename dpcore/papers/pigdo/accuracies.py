"""Improvements that paper 000 prints, and what recorded runs say on its claims on accuracies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dpcore.papers.entry import Computed
from dpcore.papers.paper import Sweep
from dpcore.papers.pigdo.runs import DEFAULT, FIGURE_7A, FIVE, LEVELS, PIADAM, THREE, name_of, run
from dpcore.papers.pigdo.theorem_3 import WORDS
from dpcore.papers.records import Recorded, recorded
from dpcore.papers.words import UNKNOWN
from dpcore.privacy.report.numbers import nearest

ROUNDED = 0.005  # error of printing an accuracy


def ahead(accuracy: float, other: float) -> float:
    """Return by how many percent of the other an accuracy is larger.

    >>> round(ahead(92.02, 91.25), 4)
    0.8438
    """
    return 100 * (accuracy / other - 1)


def _improvement(data: str, sigma: float, rival: str, printed: str) -> Computed:
    """Return PIAdam's printed lead over a rival; ours is that of their printed accuracies."""
    row = LEVELS[data][sigma]
    ours = float(row[PIADAM])
    theirs = float(row[rival])
    lead = ahead(ours, theirs)
    entry = Computed(
        f"Section 5.2, Results on {data}",
        f"PIAdam over {rival} at sigma {sigma:g}, %, as a ratio of their printed accuracies",
        printed,
        ours=partial(ahead, ours, theirs),
    )
    if abs(lead - entry.theirs) <= entry.tolerance:
        return entry
    least = ahead(ours - ROUNDED, theirs + ROUNDED)
    most = ahead(ours + ROUNDED, theirs - ROUNDED)
    can = least <= entry.theirs + entry.tolerance and most >= entry.theirs - entry.tolerance
    why = "Accuracies that round to those can" if can else "No accuracies that round to those"
    because = (
        f"{row[PIADAM]} over {row[rival]} is {nearest(lead, 3)} % more. {why} give {printed} %."
    )
    return replace(entry, because=because)


def _improvements() -> tuple[Computed, ...]:
    entries = []
    for data, levels in WORDS["improvements"].items():
        for sigma, row in levels.items():
            for rival, printed in row.items():
                entries.append(_improvement(data, float(sigma), rival, printed))
    return tuple(entries)


IMPROVEMENTS = _improvements()
ID = "000"
WRITTEN = ("PIAdam, as written", "DP-SGD, 1,000 hidden units")  # on the text's network
CHANGE = 3.0  # percentage points, claimed for Figure 7(a)


@dataclass(frozen=True)
class Race:
    """Runs at one setting: PIAdam's and its rivals'."""

    where: str  # "MNIST at sigma 8, the code's network"
    own: Recorded
    rivals: dict[str, Recorded]  # by name; at least one
    printed: Mapping[str, str]  # accuracies of Figure 5 or 8 at this setting, by name

    @property
    def best(self) -> str:
        """The most accurate rival."""
        return max(self.rivals, key=lambda name: self.rivals[name].mean)

    @property
    def lead(self) -> float:
        """Percentage points by which PIAdam is ahead of the best rival."""
        return self.own.mean - self.rivals[self.best].mean

    def in_words(self) -> str:
        """Return both accuracies with their seeds, and the printed ones if there are two."""
        best = self.best.split(",")[0]  # the paper prints accuracies by method, not by network
        own_printed = self.printed.get(PIADAM)
        best_printed = self.printed.get(best)
        printed = ""
        if own_printed and best_printed:
            printed = f" (printed: {own_printed} and {best_printed})"
        return (
            f"{self.where}: PIAdam {_with_seeds(self.own)}, {best}"
            f" {_with_seeds(self.rivals[self.best])}{printed}"
        )


def race(where: str, data: str, sigma: float, methods: Sequence[str]) -> list[Race]:
    """Return the race of the first method against the others; empty without records."""
    own = recorded(ID, run(data, methods[0], sigma))
    if own is None:
        return []
    rivals = {}
    for name in methods[1:]:
        record = recorded(ID, run(data, name, sigma))
        if record and record.data == own.data:
            rivals[name] = record
    if not rivals:
        return []
    printed = LEVELS.get(data, {}).get(sigma, {})
    return [Race(f"{own.data.title} at sigma {sigma:g}, {where}", own, rivals, printed)]


def levels() -> list[Race]:
    """Return the races of Figures 5 and 8, on both networks for MNIST."""
    races = []
    for data, rows in LEVELS.items():
        for sigma in rows:
            races += race("the code's network", data, sigma, FIVE)
            if data == "MNIST":
                races += race("the text's network", data, sigma, WRITTEN)
    return races


def kinds() -> list[Race]:
    """Return the races of Figure 3, between the three methods of the paper."""
    races = []
    for data, sigma in DEFAULT.items():
        coded = [name_of(method, "as coded") for method in THREE]
        races += race("the code's network", data, sigma, coded)
        written = [name_of(method, "as written") for method in THREE]
        races += race("the text's network", data, sigma, written)
    return races


def judged(races: list[Race], roughly: float) -> str:
    """Say how often PIAdam is ahead, or behind by at most `roughly` points, and name the others."""
    if not races:
        return UNKNOWN
    behind = [each for each in races if each.lead < -roughly]
    even = [each for each in races if -roughly <= each.lead < 0]
    ahead_in = len(races) - len(behind) - len(even)
    parts = [f"of {len(races)} comparisons that are recorded, PIAdam is ahead in {ahead_in}"]
    if roughly:
        parts.append(f"roughly equal (behind by {roughly:g} points at most) in {len(even)}")
    parts.append(f"behind in {len(behind)}")
    verdict = "Not everywhere" if behind else "Yes, where it is recorded"
    answer = f"{verdict}: {', '.join(parts)}."
    if behind or even:
        listed = "; ".join(each.in_words() for each in (*behind, *even))
        answer += f" Accuracies in % where a rival is ahead: {listed}."
    return answer


def _with_seeds(record: Recorded) -> str:
    return f"{record.mean:.2f} ({record.seeds})"


def changes(sweeps: Iterable[Sweep]) -> dict[str, float]:
    """Return the change of accuracy, in points, over each sweep with several recorded values."""
    found = {}
    for sweep in sweeps:
        records = [recorded(ID, config) for config in sweep.configs]
        means = [record.mean for record in records if record]
        if len(means) > 1:
            found[sweep.title] = max(means) - min(means)
    return found


def changes_in_words(found: Mapping[str, float]) -> str:
    """List the changes of accuracy, by the title of the sweep."""
    return "; ".join(f"{change:.2f} points ({title})" for title, change in found.items())


def hidden_units() -> str:
    """Say how much accuracy changes over the panels of Figure 7(a)."""
    found = changes(FIGURE_7A)
    if not found:
        return UNKNOWN
    verdict = "Yes, where it is recorded" if max(found.values()) <= CHANGE else "Not everywhere"
    return f"{verdict}: by {changes_in_words(found)}."
