"""Improvements that paper 000 prints, its claims on accuracies, and the answers of the recorded
runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dpcore.papers.entry import Computed
from dpcore.papers.paper import Sweep
from dpcore.papers.pigdo.runs import DEFAULT, FIGURE_7, FIVE, LEVELS, PIADAM, THREE, name_of, run
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
    row = LEVELS[data][sigma]
    ours, theirs = float(row[PIADAM]), float(row[rival])
    made = Computed(
        f"Section 5.2, Results on {data}",
        f"PIAdam over {rival} at sigma {sigma:g}, %, as a ratio of their printed accuracies",
        printed,
        ours=lambda: ahead(ours, theirs),
    )
    if abs(made.ours() - made.theirs) <= made.tolerance:
        return made
    least, most = ahead(ours - ROUNDED, theirs + ROUNDED), ahead(ours + ROUNDED, theirs - ROUNDED)
    can = least <= made.theirs + made.tolerance and most >= made.theirs - made.tolerance
    why = "Accuracies that round to those can" if can else "No accuracies that round to those"
    because = (
        f"{row[PIADAM]} over {row[rival]} is {nearest(made.ours(), 3)} % more. {why} give"
        f" {printed} %."
    )
    return replace(made, because=because)


IMPROVEMENTS = tuple(
    _improvement(data, float(sigma), rival, printed)
    for data, levels in WORDS["improvements"].items()
    for sigma, row in levels.items()
    for rival, printed in row.items()
)
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

    def told(self) -> str:
        """Return both accuracies with their seeds, and the printed ones if there are two."""
        best = self.best.split(",")[0]
        theirs = [self.printed.get(name) for name in (FIVE[0], best)]
        printed = f" (printed: {theirs[0]} and {theirs[1]})" if all(theirs) else ""
        return (
            f"{self.where}: PIAdam {_said(self.own)}, {best}"
            f" {_said(self.rivals[self.best])}{printed}"
        )


def race(where: str, data: str, sigma: float, methods: Iterable[str]) -> list[Race]:
    """Return the race of the first method against the others; empty without records."""
    found = {method: recorded(ID, run(data, method, sigma)) for method in methods}
    own, *rivals = found.items()
    if not own[1]:
        return []
    known = {name: record for name, record in rivals if record and record.data == own[1].data}
    printed = LEVELS.get(data, {}).get(sigma, {})
    return (
        [Race(f"{own[1].data.title} at sigma {sigma:g}, {where}", own[1], known, printed)]
        if known
        else []
    )


def levels() -> list[Race]:
    """Return the races of Figures 5 and 8, on both networks for MNIST."""
    found = []
    for data, rows in LEVELS.items():
        for sigma in rows:
            found += race("the code's network", data, sigma, FIVE)
            found += race("the text's network", data, sigma, WRITTEN) if data == "MNIST" else []
    return found


def kinds() -> list[Race]:
    """Return the races of Figure 3, between the three methods of the paper."""
    found = []
    for data in DEFAULT:
        for reading in ("as coded", "as written"):
            network = f"the {'code' if reading == 'as coded' else 'text'}'s network"
            found += race(
                network, data, DEFAULT[data], [name_of(method, reading) for method in THREE]
            )
    return found


def judged(races: list[Race], roughly: float) -> str:
    """Say how often PIAdam is ahead, or behind by at most `roughly` points, and name the others."""
    if not races:
        return UNKNOWN
    behind = [each for each in races if each.lead < -roughly]
    even = [each for each in races if -roughly <= each.lead < 0]
    verdict = "Not everywhere" if behind else "Yes, where it is recorded"
    parts = [
        f"of {len(races)} comparisons that are recorded, PIAdam is ahead in"
        f" {len(races) - len(behind + even)}"
    ]
    if roughly:
        parts.append(f"roughly equal (behind by {roughly:g} points at most) in {len(even)}")
    parts.append(f"behind in {len(behind)}")
    listed = "; ".join(each.told() for each in (*behind, *even))
    return f"{verdict}: {', '.join(parts)}." + (
        f" Accuracies in % where a rival is ahead: {listed}." if listed else ""
    )


def _said(record: Recorded) -> str:
    return f"{record.mean:.2f} ({record.seeds})"


def changes(sweeps: Iterable[Sweep]) -> dict[str, float]:
    """Return the change of accuracy, in points, over each sweep with at least two recorded values."""
    found = {}
    for sweep in sweeps:
        means = [
            record.mean for record in (recorded(ID, config) for config in sweep.configs) if record
        ]
        if len(means) > 1:
            found[sweep.title] = max(means) - min(means)
    return found


def hidden_units() -> str:
    """Say how much accuracy changes over the panels of Figure 7(a)."""
    found = changes(FIGURE_7[0])
    if not found:
        return UNKNOWN
    verdict = "Yes, where it is recorded" if max(found.values()) <= CHANGE else "Not everywhere"
    return (
        f"{verdict}: by"
        f" {'; '.join(f'{change:.2f} points ({title})' for title, change in found.items())}."
    )
