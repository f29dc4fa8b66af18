"""The lab's two charts: epsilon by each accountant, and the accuracy of runs."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import (
    Curves,
    Ghost,
    Panel,
    curve_line,
    curves_panel,
    end_of,
    through,
)
from dpcore.figures.layout import (
    FONT,
    Axis,
    Bounds,
    End,
    Note,
    Numbers,
    Trace,
    axis,
    figure_of,
    log_axis,
    marked_line,
    percents,
    points,
    round_numbers,
)
from dpcore.figures.sampled import Sampled, with_sampled
from dpcore.figures.style import GREY, Style
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest
from dpcore.privacy.report.ruler import LEAST, MOST

RIGHT = 176  # pixels of the longest label beside a plot of epsilon
LABEL = 172  # and beside one of accuracy
NO_LABEL = 24  # where there are no runs to be labelled
# Ids of traces, most followed by a place.
CURVE = "epsilon-"
GHOST = "ghost-"
RUN = "run-"
NOW = "now"
LEADS = "leads"  # marks the certified line, of which a chart shows where a drag began
FIXED: Bounds = (math.log10(LEAST), math.log10(MOST))
FLOOR = 80.0  # percent, the lowest accuracy on the axis unless a run ends below it
TENS = 10.0  # the floor of the axis is a multiple of it
ABOVE = 101.0  # percent, the upper end of the axis of accuracy
INVITATION = "Press Train"
NO_PROMISE = f"No proven epsilon below {MOST:g}:<br>no promise at all"
NEAR_THE_TOP = 0.97  # of the plot
NO_RUN = "no run yet"
NOTHING_YET = {
    "type": "scatter",
    "x": [0],
    "y": [None],
    "hoverinfo": "skip",
    "name": NO_RUN,
}
MAX_LABEL_CHARS = 14  # of a run, beside its accuracy
GHOST_PEN = 1.1  # width of the lines of other settings


class LabRun(NamedTuple):
    """A run: equally long epochs and accuracies of its tests, and their certified epsilons."""

    style: Style  # its label is the run's
    place: int  # in the order of the runs shown
    epochs: Numbers
    accuracy: Numbers
    spent: Numbers = ()  # empty if nothing is proven: it has no place on that axis
    level: bool = False  # it is not private: its last accuracy goes all along that axis
    now: float | None = None  # its present epoch, while it runs
    end: float = 0.0  # its last epoch
    most: float = 0.0  # the certified epsilon at its end
    # The certified epsilon of its settings, if they are not those of the controls.
    ghost: Ghost | None = None

    @property
    def drawn(self) -> Style:
        """The style of its label: a ghost has a thin piece of line."""
        if self.ghost is None:
            return self.style
        return self.style._replace(glyph=self.style.glyph.replace("━", "─"))

    def places(self, by_epsilon: bool) -> Numbers:
        """Where its tests lie on the x axis."""
        return self.spent if by_epsilon and not self.level else self.epochs


def lab_epsilon_figure(
    curves: Curves,
    epochs: FloatArray,
    runs: Sequence[LabRun] = (),
    *,
    log: bool = True,
    ghost: Ghost | None = None,
    otherwise: Sampled | None = None,
    height: int = 300,
) -> go.Figure:
    """Epsilon over epochs (n,), on a fixed logarithmic axis or on a linear one that fits.

    `curves` belong to the controls, `ghost` to a pinned setting. `otherwise` has batches that are
    not Poisson. Runs of other settings have a ghost each, and the one that trains has a mark.
    """
    panel = _epsilon_panel(curves, epochs, ghost, runs, log, judged=otherwise is None)
    if otherwise:
        panel = with_sampled(panel, otherwise)
    certified, ghost_ends = _ghosts(runs, panel.seen)
    now = None
    marks = []
    for run in runs:
        if run.now is not None:
            now = run.now
            marks.append(_reached(run, now, curves, epochs))
            break
    end = max([float(epochs[-1]), *(run.end for run in runs)])
    ends = [*panel.ends, *ghost_ends]
    return figure_of(
        [*panel.traces, *certified, *marks],
        _epochs_axis(end),
        _fixed_axis(panel) if log else panel.axis,
        ends=ends,
        notes=_hole(curves, otherwise, panel.seen),
        height=height,
        right=RIGHT if ends else NO_LABEL,
        shapes=through(now),
    )


def promises_nothing(curves: Curves, otherwise: Sampled | None, most: float = MOST) -> bool:
    """True if no bound that is proven gets as low as this epsilon, at any epoch.

    >>> promises_nothing({}, None)
    True
    """
    proven = [curve for curve in curves.values() if curve.kind.is_bound]
    if otherwise:
        proven.append(otherwise.curve)
    return not any((curve.epsilon <= most).any() for curve in proven)


def _hole(curves: Curves, otherwise: Sampled | None, seen: Bounds) -> list[Note]:
    """The text of a plot in which no proven bound is seen, below its upper end."""
    most = max(seen[1], MOST)
    if not promises_nothing(curves, otherwise, most):
        return []
    return [_invitation(NO_PROMISE) | {"y": NEAR_THE_TOP, "yanchor": "top"}]


def _fixed_axis(panel: Panel) -> Axis:
    """The axis of epsilon that is the same for all settings: two of them can be compared by eye.

    Only a proven range of other batches that ends above it makes it longer.
    """
    most = 10 ** panel.bounds[1]
    ticks = round_numbers(LEAST, most, [1])
    return axis("epsilon", **log_axis(LEAST, most, ticks, nearest))


def lab_accuracy_figure(
    runs: Sequence[LabRun] = (),
    *,
    by_epsilon: bool = False,
    end: float = 0.0,
    without: str = INVITATION,
    expected: float | None = None,
    height: int = 300,
) -> go.Figure:
    """The accuracy of runs over epochs or over certified epsilon; the axis reaches `end` or more.

    `without` is the text of the plot without a run; a run is `expected` to reach this accuracy.
    """
    reached = [end]
    for run in runs:
        reached += [*run.spent, run.most] if by_epsilon else [*run.epochs, run.end]
    end = max(reached)
    notes = []
    if not runs:
        notes.append(_invitation(without))
    return figure_of(
        [_accuracy(run, by_epsilon, end) for run in runs] or [NOTHING_YET],
        axis("certified epsilon", range=[0, 1.02 * end or 1.0])
        if by_epsilon
        else _epochs_axis(end),
        axis("accuracy, %", range=[_floor(runs, expected), ABOVE]),
        ends=_accuracies(runs, by_epsilon),
        notes=notes,
        height=height,
        right=LABEL if runs else NO_LABEL,
    )


def _floor(runs: Sequence[LabRun], expected: float | None) -> float:
    """The lower end of the axis of accuracy, so near to the runs that a few points are seen."""
    last = [100 * run.accuracy[-1] for run in runs if run.accuracy]
    if expected is not None:
        last.append(100 * expected)
    least = min([FLOOR, *last])
    return TENS * math.floor(least / TENS)


def _epochs_axis(end: float) -> Axis:
    return axis("epoch", range=[0, 1.02 * end or 1.0])


def _epsilon_panel(
    curves: Curves,
    x: FloatArray,
    ghost: Ghost | None,
    runs: Sequence[LabRun],
    log: bool,
    *,
    judged: bool,
) -> Panel:
    """The plot of epsilon of the controls and of the pinned setting, with room for ghosts."""
    beside = [run.ghost.curve for run in runs if run.ghost]
    bounds = FIXED if log else None
    panel = curves_panel(
        curves, x, log=log, ghost=ghost, beside=beside, bounds=bounds, judged=judged
    )
    for place, trace in enumerate(panel.curves, len(panel.behind)):
        trace["uid"] = f"{CURVE}{place}"
        if place == len(panel.behind) and CERTIFIED in curves:  # it comes first
            trace["meta"] = LEADS
        if len(x) == 1:  # a line of one point would not be seen
            trace["mode"] = "markers"
    return panel


def _ghosts(runs: Sequence[LabRun], seen: Bounds) -> tuple[list[Trace], list[End]]:
    """The certified epsilon of runs whose settings are not those of the controls."""
    traces = []
    ends = []
    for run in runs:
        if run.ghost:
            name = run.style.label
            look = run.style._replace(label=f"{name}, certified")
            curve = run.ghost.curve
            own = f"{GHOST}{run.place}"
            traces.append(curve_line(curve, run.ghost.epochs, look, width=GHOST_PEN, uid=own))
            ends += end_of(curve, run.drawn, shortened(name), seen=seen)
    return traces, ends


def _accuracies(runs: Sequence[LabRun], by_epsilon: bool) -> list[End]:
    """The labels of the runs drawn, each with the run's id."""
    ends = []
    for run in runs:
        if run.accuracy and run.places(by_epsilon):
            last = 100 * run.accuracy[-1]
            style = run.drawn._replace(label=f"{RUN}{run.place}")
            ends.append(End(style, last, label_of(run, last)))
    return ends


def _invitation(text: str) -> Note:
    """The text in the middle of the plot."""
    middle = {"x": 0.5, "xref": "paper", "y": 0.5, "yref": "paper"}
    return {"text": text, "showarrow": False, "font": FONT, **middle}


def label_of(run: LabRun, accuracy: float | None = None) -> str:
    """The label at the end of a run, with {} in place of an accuracy that is not given.

    >>> from dpcore.figures.style import RUNS
    >>> label_of(LabRun(Style(*RUNS[0], "private"), 0, [], []), 90.91)
    '90.9 % private'
    >>> long = Style(*RUNS[0], "upright scattering, 4 views, lr 4")
    >>> label_of(LabRun(long, 0, [], []), 97.4)
    '97.4 % upright… lr 4'
    """
    number = "{}" if accuracy is None else f"{accuracy:.1f}"
    return f"{number} % {shortened(run.style.label)}"


def shortened(name: str) -> str:
    """A name that fits into a label: a long one keeps its first and its last words, where similar
    runs differ. The hover shows all of it.

    >>> shortened("upright scattering, 4 views, lr 4"), shortened("sigma 1.2, delta 1e-5")
    ('upright… lr 4', 'sigma 1.2…')
    """
    if len(name) <= MAX_LABEL_CHARS:
        return name
    first = name.partition(", ")[0]
    if first[-1:].isdigit() and len(first) < MAX_LABEL_CHARS:  # a name tells nothing without it
        return f"{first}…"
    piece = name.rpartition(", ")[2]
    last = piece[-MAX_LABEL_CHARS // 2 :]
    if last != piece and " " in last:  # a part of a word says nothing
        last = last.partition(" ")[2]
    room = MAX_LABEL_CHARS - len(last) - 2
    first = name[:room]
    if name[room] not in ", " and " " in first:
        first = first.rpartition(" ")[0]
    return f"{first.rstrip(', ')}… {last}"


def _accuracy(run: LabRun, by_epsilon: bool, end: float) -> Trace:
    across = [*run.places(by_epsilon)]
    heights = percents(run.accuracy)[: len(across)]
    # No epsilon is spent: the last accuracy, all along, once there is one.
    if by_epsilon and run.level:
        across = [0.0, end]
        heights = heights[-1:] * 2 or [np.nan] * 2
    trace = marked_line(across, heights, run.style, hovertemplate="%{y:.1f} %")
    trace["uid"] = f"{RUN}{run.place}"
    if run.ghost:
        trace["line"]["width"] = GHOST_PEN
        trace["marker"]["size"] = 3
    return trace


def _reached(run: LabRun, epoch: float, curves: Curves, epochs: FloatArray) -> Trace:
    """The points on the curves of a run that it has reached at an epoch."""
    followed = list(curves.values())
    if run.ghost and run.ghost.epochs is not None:
        epochs = run.ghost.epochs
        followed = [run.ghost.curve]
    heights = []
    for curve in followed:
        height = float(np.interp(epoch, epochs, curve.epsilon))
        if np.isfinite(height):
            heights.append(height)
    look = {"size": 9, "color": GREY, "line": {"width": 1, "color": "white"}}
    return points([epoch] * len(heights), heights, look, name="now", hoverinfo="skip", uid=NOW)
