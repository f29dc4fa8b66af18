"""The lab's chart: epsilon by each accountant above the accuracy of runs, over one x axis."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import (
    RIGHT,
    Curves,
    Ghost,
    Panel,
    curve_line,
    curves_panel,
    end_of,
    lie,
    through,
)
from dpcore.figures.layout import (
    FONT,
    Axis,
    End,
    Note,
    Numbers,
    Trace,
    axis,
    figure_of,
    marked_line,
    percents,
    points,
)
from dpcore.figures.sampled import Sampled, with_sampled
from dpcore.figures.style import GREY, Style
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.statement import SAME

GAP = 14  # pixels between the two plots
AROUND = 64  # pixels above and below them
SHARE = 0.5  # of the rest of the height for epsilon
# Ids of traces, most followed by a place.
CURVE = "epsilon-"
GHOST = "ghost-"
RUN = "run-"
NOW = "now"
ACCURACY = (0.0, 102.0)
INVITATION = "Press Train to see the accuracy here"
NO_RUN = "no run yet"
NOTHING_YET = {
    "type": "scatter",
    "x": [0],
    "y": [None],
    "yaxis": "y2",
    "hoverinfo": "skip",
    "name": NO_RUN,
}
MAX_LABEL_CHARS = 22  # of a run, beside its accuracy
ENOUGH = 0.6  # of the x axis: longer curves leave room for the words about the shaded region
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


def lab_figure(
    curves: Curves,
    epochs: FloatArray,
    runs: Sequence[LabRun] = (),
    *,
    log: bool = False,
    across: str = "epoch",
    ghost: Ghost | None = None,
    otherwise: Sampled | None = None,
    without: str = INVITATION,
    height: int = 500,
) -> go.Figure:
    """Epsilon above accuracy, over epochs (n,) or, if it is finite, over the certified epsilon.

    `curves` belong to the controls, `ghost` to a pinned setting. `otherwise` has batches that are
    not Poisson; it is drawn over epochs alone. `without` is the text of the lower plot without a
    run.
    """
    by_epsilon = over_epsilon(curves, across)
    x = epochs
    title = "epoch"
    ghosts = [run for run in runs if run.ghost]
    if by_epsilon:  # other settings and other batches have another certified epsilon
        x = curves[CERTIFIED].epsilon
        title = "certified epsilon"
        ghost = None
        ghosts = []
        otherwise = None
    end = _end_of_axis(x, runs, by_epsilon)
    upper = _epsilon_panel(curves, x, ghost, ghosts, log)
    if otherwise:
        upper = with_sampled(upper, otherwise)
    words = _words(upper, curves, x, otherwise, at_left=x[-1] < ENOUGH * end)
    certified, ghost_ends = _ghosts(ghosts, upper.top)
    lower = [_accuracy(run, by_epsilon, end) for run in runs] or [NOTHING_YET]
    now = None
    for run in runs:
        if run.now is not None:
            now = float(np.interp(run.now, epochs, x))
            lower.append(_reached(run, run.now, now, curves, epochs))
            break
    notes = []
    if not runs:
        notes.append(_invitation(without))
    return figure_of(
        [*upper.traces, *words, *certified, *lower],
        _shared_axis(title, end),
        upper.axis | {"domain": [1 - SHARE, 1]},
        yaxis2=_accuracy_axis(height),
        ends=[*upper.ends, *ghost_ends, *_accuracies(runs, by_epsilon)],
        notes=notes,
        height=height,
        right=RIGHT,
        shapes=through(now),
        hoversubplots="axis",
    )


def over_epsilon(curves: Curves, across: str) -> bool:
    """True if the x axis is the certified epsilon, which must be finite."""
    if across == "epoch" or CERTIFIED not in curves:
        return False
    return bool(np.isfinite(curves[CERTIFIED].epsilon).all())


def _end_of_axis(x: FloatArray, runs: Sequence[LabRun], by_epsilon: bool) -> float:
    """The largest x of the curves and of all runs."""
    reached = [float(x[-1])]
    for run in runs:
        if by_epsilon:
            reached += [*run.spent, run.most]
        else:
            reached += [*run.epochs, run.end]
    return max(reached)


def _epsilon_panel(
    curves: Curves,
    x: FloatArray,
    ghost: Ghost | None,
    ghosts: Sequence[LabRun],
    log: bool,
) -> Panel:
    """The upper plot: epsilon of the controls and of the pinned setting, with room for ghosts."""
    beside = [run.ghost.curve for run in ghosts if run.ghost]
    panel = curves_panel(curves, x, log=log, ghost=ghost, beside=beside)
    for place, trace in enumerate(panel.curves, len(panel.behind)):
        trace["uid"] = f"{CURVE}{place}"
        if len(x) == 1:  # a line of one point would not be seen
            trace["mode"] = "markers"
    return panel


def _words(
    panel: Panel, curves: Curves, x: FloatArray, otherwise: Sampled | None, *, at_left: bool
) -> list[Trace]:
    """The words about the shaded region, at the left edge if that would cut off what ends there."""
    band = curves.get(CERTIFIED)
    if otherwise:
        x = otherwise.epochs
        band = otherwise.curve
        if otherwise.sampler.adjacency not in SAME:
            band = None
    if at_left:
        return lie(panel, band, np.zeros(1), "right")
    return lie(panel, band, x)


def _ghosts(runs: Sequence[LabRun], top: float) -> tuple[list[Trace], list[End]]:
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
            ends += end_of(curve, run.drawn, name, top=top)
    return traces, ends


def _accuracies(runs: Sequence[LabRun], by_epsilon: bool) -> list[End]:
    """The labels of the runs drawn in the lower plot, each with the run's id."""
    ends = []
    for run in runs:
        if run.accuracy and run.places(by_epsilon):
            last = 100 * run.accuracy[-1]
            style = run.drawn._replace(label=f"{RUN}{run.place}")
            ends.append(End(style, last, label_of(run, last), axis="y2"))
    return ends


def _shared_axis(title: str, end: float) -> Axis:
    """The x axis of both plots; a line through both follows the cursor."""
    return axis(
        title,
        anchor="y2",
        range=[0, 1.02 * end or 1.0],
        showspikes=True,
        spikemode="across",
        spikesnap="cursor",
        spikethickness=1,
        spikedash="dot",
        spikecolor=GREY,
    )


def _accuracy_axis(height: int) -> Axis:
    gap = GAP / (height - AROUND)
    return axis("accuracy, %", domain=[0, 1 - SHARE - gap], range=[*ACCURACY], dtick=25)


def _invitation(text: str) -> Note:
    """The text in the middle of the lower plot."""
    middle = {"x": 0.5, "xref": "paper", "y": sum(ACCURACY) / 2, "yref": "y2"}
    return {"text": text, "showarrow": False, "font": FONT, **middle}


def label_of(run: LabRun, accuracy: float | None = None) -> str:
    """The label at the end of a run, with {} in place of an accuracy that is not given.

    A long name keeps its first and its last characters, where similar runs differ; the hover shows
    all of it.

    >>> from dpcore.figures.style import RUNS
    >>> label_of(LabRun(Style(*RUNS[0], "private"), 0, [], []), 90.91)
    '90.9 % private'
    >>> long = Style(*RUNS[0], "upright scattering, 4 views, lr 4")
    >>> label_of(LabRun(long, 0, [], []), 97.4)
    '97.4 % upright scatteri… lr 4'
    """
    name = run.style.label
    if len(name) > MAX_LABEL_CHARS:
        last = name.rpartition(", ")[2][-MAX_LABEL_CHARS // 2 :]
        first = name[: MAX_LABEL_CHARS - len(last) - 2].rstrip(", ")
        name = f"{first}… {last}"
    number = "{}" if accuracy is None else f"{accuracy:.1f}"
    return f"{number} % {name}"


def _accuracy(run: LabRun, by_epsilon: bool, end: float) -> Trace:
    across = [*run.places(by_epsilon)]
    heights = percents(run.accuracy)[: len(across)]
    # No epsilon is spent: the last accuracy, all along, once there is one.
    if by_epsilon and run.level:
        across = [0.0, end]
        heights = heights[-1:] * 2 or [np.nan] * 2
    trace = marked_line(across, heights, run.style, hovertemplate="%{y:.1f} %")
    trace |= {"yaxis": "y2", "uid": f"{RUN}{run.place}"}
    if run.ghost:
        trace["line"]["width"] = GHOST_PEN
        trace["marker"]["size"] = 3
    return trace


def _reached(run: LabRun, epoch: float, x: float, curves: Curves, epochs: FloatArray) -> Trace:
    """The points at x, on the curves of a run, that it has reached at an epoch."""
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
    return points([x] * len(heights), heights, look, name="now", hoverinfo="skip", uid=NOW)
