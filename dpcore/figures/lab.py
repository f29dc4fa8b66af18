"""The lab's chart: epsilon by each accountant above the accuracy of runs, over one x axis."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import RIGHT, Ghost, Panel, curve_line, curves_panel, end_of
from dpcore.figures.layout import (
    NORMAL,
    End,
    Size,
    end_labels,
    figure_of,
    layout,
    line,
    plot_height,
    points,
)
from dpcore.figures.sampled import Sampled, with_sampled
from dpcore.figures.style import GREY, Style
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import FloatArray

GAP = 14  # pixels between the two plots
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
    """A run: equally long epochs, accuracies and certified epsilons of its tests."""

    style: Style  # its label is the run's
    place: int  # in the order of the runs shown
    epochs: Sequence[float]
    accuracy: Sequence[float]
    spent: Sequence[float] = ()
    level: bool = False  # it spends no epsilon, and so has no place on that axis
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


def lab_figure(
    curves: Mapping[str, Curve],
    epochs: FloatArray,
    runs: Sequence[LabRun] = (),
    *,
    log: bool = False,
    across: str = "epoch",
    ghost: Ghost | None = None,
    otherwise: Sampled | None = None,
    without: str = INVITATION,
    height: int = 500,
    size: Size = NORMAL,
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
    upper = _epsilon_panel(curves, x, ghost, ghosts, otherwise, end, log)
    lower = _accuracy_panel(runs, by_epsilon, end)
    dots, through = _now(curves, x, epochs, runs)
    shape = layout(title, "", height=height, right=RIGHT, size=size)
    shape = _stacked(shape, upper, lower, end, size)
    shape |= {"shapes": through, "hoversubplots": "axis"}
    notes = _labels(shape, upper, lower, runs, size)
    if not runs:
        text = {"text": without, "showarrow": False, "font": {"size": size.text}}
        middle = {"x": 0.5, "xref": "paper", "y": sum(ACCURACY) / 2, "yref": "y2"}
        notes.append(text | middle)
    shape["annotations"] = notes
    return figure_of([*upper.traces, *lower.traces, *dots], shape, size)


def over_epsilon(curves: Mapping[str, Curve], across: str) -> bool:
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
    curves: Mapping[str, Curve],
    x: FloatArray,
    ghost: Ghost | None,
    ghosts: Sequence[LabRun],
    otherwise: Sampled | None,
    end: float,
    log: bool,
) -> Panel:
    """The upper plot: epsilon of the controls, of the pinned setting, and of runs of others."""
    beside = {run.style.label: run.ghost.curve for run in ghosts if run.ghost}
    panel = curves_panel(curves, x, log=log, ghost=ghost, beside=beside)
    for place, trace in enumerate(panel.curves, len(panel.behind)):
        trace["uid"] = f"{CURVE}{place}"
        if len(x) == 1:  # a line of one point would not be seen
            trace["mode"] = "markers"
    if otherwise:
        panel = with_sampled(panel, otherwise)
    # The words begin at the left edge, which would cut off what ends with them.
    if x[-1] < ENOUGH * end:
        for words in panel.words:
            words |= {"x": [0.0], "textposition": "top right"}
    in_front: list[dict[str, Any]] = []
    ends = list(panel.ends)
    for run in ghosts:
        if run.ghost:
            in_front.append(_certified(run, run.ghost))
            ends += end_of(run.ghost.curve, run.drawn, run.style.label, panel.top)
    return replace(panel, words=[*panel.words, *in_front], ends=ends)


def _accuracy_panel(runs: Sequence[LabRun], by_epsilon: bool, end: float) -> Panel:
    """The lower plot: the accuracy of each run."""
    ends = []
    for run in runs:
        if run.accuracy:
            last = 100 * run.accuracy[-1]
            ends.append(End(run.drawn, last, label_of(run, last)))
    lines = [_accuracy(run, by_epsilon, end) for run in runs]
    return Panel(curves=lines or [NOTHING_YET], ends=ends, bounds=ACCURACY)


def _stacked(
    shape: dict[str, Any], upper: Panel, lower: Panel, end: float, size: Size
) -> dict[str, Any]:
    """The layout of two plots over one x axis; a line through both follows the cursor."""
    font = {"size": size.text}
    gap = GAP / plot_height(shape)
    across = {"anchor": "y2", "range": [0, 1.02 * end or 1.0], "showspikes": True}
    spike = {"spikemode": "across", "spikesnap": "cursor", "spikethickness": 1}
    look = {"spikedash": "dot", "spikecolor": GREY}
    epsilon = {"title": {"text": "epsilon", "font": font}, "domain": [1 - SHARE, 1]}
    accuracy = {"title": {"text": "accuracy, %", "font": font}, "domain": [0, 1 - SHARE - gap]}
    return shape | {
        "xaxis": shape["xaxis"] | across | spike | look,
        "yaxis": shape["yaxis"] | epsilon | upper.axis,
        "yaxis2": shape["yaxis"] | accuracy | {"range": [*lower.bounds], "dtick": 25},
    }


def _labels(
    shape: dict[str, Any], upper: Panel, lower: Panel, runs: Sequence[LabRun], size: Size
) -> list[dict[str, Any]]:
    """The labels at the ends of all curves; those of runs have the run's id."""
    height = plot_height(shape)
    notes = end_labels(upper.ends, upper.bounds, round(height * SHARE), log=upper.log, size=size)
    room = round(height * (1 - SHARE)) - GAP
    tested = [run for run in runs if run.accuracy]
    below = end_labels(lower.ends, lower.bounds, room, size=size)
    for run, note in zip(tested, below, strict=True):
        note |= {"yref": "y2", "name": f"{RUN}{run.place}"}
        notes.append(note)
    return notes


def label_of(run: LabRun, accuracy: float | None = None) -> str:
    """The label at the end of a run, with {} in place of an accuracy that is not given.

    A long name keeps its first and its last characters, where similar runs differ; the hover shows
    all of it.

    >>> label_of(LabRun(Style("#2f70c4", "solid", "━━", "private"), 0, [], []), 90.91)
    '90.9 % private'
    >>> long = Style("#2f70c4", "solid", "━━", "upright scattering, 4 views, lr 4")
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


def _accuracy(run: LabRun, by_epsilon: bool, end: float) -> dict[str, Any]:
    heights = [100 * each for each in run.accuracy]
    across: Sequence[float] = run.spent if by_epsilon else run.epochs
    # No epsilon is spent: the last accuracy, all along, once there is one.
    if by_epsilon and run.level:
        across = [0.0, end]
        heights = [heights[-1] if heights else np.nan] * 2
    pen, point = NORMAL.pen, 5
    if run.ghost:
        pen, point = GHOST_PEN, 3
    return line(
        [*across],
        heights,
        run.style,
        width=pen,
        yaxis="y2",
        uid=f"{RUN}{run.place}",
        mode="lines+markers",
        marker={"size": point},
        hovertemplate="%{y:.1f} %",
    )


def _certified(run: LabRun, ghost: Ghost) -> dict[str, Any]:
    """The certified epsilon of a run whose settings are not those of the controls."""
    look = run.style._replace(label=f"{run.style.label}, certified")
    return curve_line(ghost.curve, ghost.epochs, look, width=GHOST_PEN, uid=f"{GHOST}{run.place}")


def _now(
    curves: Mapping[str, Curve], x: FloatArray, epochs: FloatArray, runs: Sequence[LabRun]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The marks of the run that trains: a point on each of its curves, a line through all."""
    for run in runs:
        if run.now is not None:
            break
    else:
        return [], []
    at = float(np.interp(run.now, epochs, x))
    pen = {"color": GREY, "width": 1.5}
    through = {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": pen}
    followed = curves.values()
    if run.ghost and run.ghost.epochs is not None:
        epochs = run.ghost.epochs
        followed = [run.ghost.curve]
    reached = [float(np.interp(run.now, epochs, each.epsilon)) for each in followed]
    seen = [each for each in reached if np.isfinite(each)]
    look = {"size": 9, "color": GREY, "line": {"width": 1, "color": "white"}}
    dots = points([at] * len(seen), seen, look, name="now", hoverinfo="skip", uid=NOW)
    return [dots], [through]
