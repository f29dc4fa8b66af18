"""The improvements that section 5.2 of paper 000 prints: by how many per cent of another accuracy PIAdam is ahead."""

from collections.abc import Iterator

from dpcore.papers.entry import Computed
from dpcore.papers.pigdo.printed import FIGURE_5, FIGURE_8
from dpcore.privacy.report.numbers import nearest

PIADAM = "PIAdam, as coded"
SAID = {  # data -> sigma -> rival -> improvement, %
    "MNIST": {
        8.0: {"ADADP": "0.82", "ADPPL": "1.65", "EXP": "2.5", "DP-SGD": "3.48"},
        4.0: {"ADPPL": "1.05", "EXP": "1.47", "DP-SGD": "2"},
        2.0: {"DP-SGD": "1.44"},
    },
    "CIFAR-10": {
        8.0: {"ADADP": "2.3", "ADPPL": "5.6", "EXP": "10.14", "DP-SGD": "7.1"},
        4.0: {"ADADP": "6.37", "EXP": "4.21", "DP-SGD": "8.73"},
        2.0: {"DP-SGD": "10.07"},
    },
}
ACCURACIES = {"MNIST": FIGURE_5, "CIFAR-10": FIGURE_8}
ROUNDED = 0.005  # how far a printed accuracy may lie from the one that was measured


def ahead(accuracy: float, other: float) -> float:
    """By how many per cent of the other an accuracy is larger.

    >>> round(ahead(92.02, 91.25), 4)
    0.8438
    """
    return 100 * (accuracy / other - 1)


def improvements() -> Iterator[Computed]:
    """One entry for each number that is printed."""
    for data, levels in SAID.items():
        for sigma, row in levels.items():
            for rival, printed in row.items():
                yield _improvement(data, sigma, rival, printed)


def _improvement(data: str, sigma: float, rival: str, printed: str) -> Computed:
    row = ACCURACIES[data][sigma]
    ours, theirs = float(row[PIADAM]), float(row[rival])
    made = Computed(
        f"Section 5.2, Results on {data}",
        f"PIAdam over {rival} at sigma {sigma:g}, %, as a ratio of their printed accuracies",
        printed,
        ours=lambda: ahead(ours, theirs),
    )
    if abs(ahead(ours, theirs) - made.theirs) <= made.tolerance:
        return made
    least, most = ahead(ours - ROUNDED, theirs + ROUNDED), ahead(ours + ROUNDED, theirs - ROUNDED)
    can = least <= made.theirs + made.tolerance and most >= made.theirs - made.tolerance
    why = "Accuracies that round to those can" if can else "No accuracies that round to those"
    because = f"{row[PIADAM]} over {row[rival]} is {nearest(ahead(ours, theirs), 3)} % more. {why} give {printed} %."
    return Computed(made.place, made.quantity, printed, because, ours=made.ours)


IMPROVEMENTS = tuple(improvements())
NOT_FOLLOWING = tuple(each for each in IMPROVEMENTS if each.because)
