"""The lab's chart: epsilon by each accountant above the accuracy of runs, over one x axis."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import LIE, RIGHT, Content, Ghost, curve_line, curves_content, end_of
from dpcore.figures.layout import NORMAL, End, Size, end_labels, figure_of, layout, line, points
from dpcore.figures.sampled import Sampled, with_sampled
from dpcore.figures.style import GREY, Style, style_of
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import FloatArray

GAP = 14  # pixels between the two plots
SHARE = 0.5  # of the rest of the height for epsilon
# Ids of traces, most followed by a place.
CURVE, GHOST, RUN, NOW = "epsilon-", "ghost-", "run-", "now"
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
    """A run on the lab's chart: equally long epochs, accuracies and certified epsilons of its
    tests.
    """

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
        return (
            self.style._replace(glyph=self.style.glyph.replace("━", "─"))
            if self.ghost
            else self.style
        )


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
    x = curves[CERTIFIED].epsilon if by_epsilon else epochs
    ghosts = [] if by_epsilon else [run for run in runs if run.ghost]
    beside = {run.style.label: run.ghost.curve for run in ghosts if run.ghost}
    above = curves_content(curves, x, log=log, ghost=None if by_epsilon else ghost, beside=beside)
    reached = ((*run.spent, run.most) if by_epsilon else (run.end, *run.epochs) for run in runs)
    end = max([float(x[-1]), *(each for reach in reached for each in reach)])
    walked = {style_of(name).label for name in curves} | {"Proven upper bound"}
    seen = {"mode": "markers"} if len(epochs) == 1 else {}  # a line of one point would not be seen
    tagged = [
        each | {"uid": f"{CURVE}{place}"} | seen if each["name"] in walked else each
        for place, each in enumerate(above.traces)
    ]
    if otherwise and not by_epsilon:
        above = with_sampled(above._replace(traces=tagged), otherwise, log=log)
        tagged = above.traces
    # Without it no axis would be drawn.
    below = [_accuracy(run, by_epsilon, end) for run in runs] or [NOTHING_YET]
    dots, lines = _now(curves, x, epochs, runs)
    # The words begin at the left edge, which would cut off what ends with them.
    if x[-1] < ENOUGH * end:
        left = {"x": [0.0], "textposition": "top right"}
        tagged = [each | left if each["name"] == LIE else each for each in tagged]
    certified = [_certified(run, run.ghost) for run in ghosts if run.ghost]
    traces = [*tagged, *certified, *below, *dots]
    shape = layout(
        "certified epsilon" if by_epsilon else "epoch", "", height=height, right=RIGHT, size=size
    )
    shape = _stacked(shape, above, log, end, size)
    top = None if log else above.bounds[1]
    others = [
        end_of(run.ghost.curve, run.drawn, run.style.label, top) for run in ghosts if run.ghost
    ]
    above = above._replace(ends=[*above.ends, *(end for ends in others for end in ends)])
    shape = _labelled(shape, above, runs, log, size)
    if not runs:
        text = {"text": without, "showarrow": False, "font": {"size": size.text}}
        shape["annotations"].append(
            text | {"x": 0.5, "xref": "paper", "y": sum(ACCURACY) / 2, "yref": "y2"}
        )
    return figure_of(traces, shape | {"shapes": lines, "hoversubplots": "axis"}, size)


def over_epsilon(curves: Mapping[str, Curve], across: str) -> bool:
    """True if the x axis is the certified epsilon, which must be finite."""
    return (
        across != "epoch"
        and CERTIFIED in curves
        and bool(np.isfinite(curves[CERTIFIED].epsilon).all())
    )


def _stacked(
    shape: dict[str, Any], above: Content, log: bool, end: float, size: Size
) -> dict[str, Any]:
    """The layout of two plots over one x axis; a line through both follows the cursor."""
    plots = shape["height"] - shape["margin"]["t"] - shape["margin"]["b"]
    low, axis = 1 - SHARE - GAP / plots, shape["yaxis"]
    spike = {"showspikes": True, "spikemode": "across", "spikesnap": "cursor"}
    spike |= {"spikethickness": 1, "spikedash": "dot", "spikecolor": GREY}
    titled = lambda text: {"title": {"text": text, "font": {"size": size.text}}}  # noqa: E731
    return shape | {
        "xaxis": shape["xaxis"] | {"anchor": "y2", "range": [0, 1.02 * end or 1.0]} | spike,
        "yaxis": axis | above.axis(log) | titled("epsilon") | {"domain": [1 - SHARE, 1]},
        "yaxis2": (
            axis | titled("accuracy, %") | {"range": [*ACCURACY], "domain": [0, low], "dtick": 25}
        ),
    }


def _labelled(
    shape: dict[str, Any], above: Content, runs: Sequence[LabRun], log: bool, size: Size
) -> dict[str, Any]:
    named = [run for run in runs if run.accuracy]
    ends = [
        End(run.drawn, 100 * run.accuracy[-1], label_of(run, 100 * run.accuracy[-1]))
        for run in named
    ]
    plots = shape["height"] - shape["margin"]["t"] - shape["margin"]["b"]
    upper = end_labels(above.ends, above.bounds, round(plots * SHARE), log=log, size=size)
    lower = end_labels(ends, ACCURACY, round(plots * (1 - SHARE)) - GAP, size=size)
    lower = [
        each | {"yref": "y2", "name": f"{RUN}{run.place}"}
        for each, run in zip(lower, named, strict=True)
    ]
    return shape | {"annotations": [*upper, *lower]}


def label_of(run: LabRun, accuracy: float | None = None) -> str:
    """The label at the end of a run, with {} in place of an accuracy that is not given.

    A long name keeps its first and its last characters, where similar runs differ; the hover shows
    all of it.

    >>> label_of(LabRun(Style("#2f70c4", "solid", "━━", "private"), 0, [], []), 90.91)
    '90.9 % private'
    >>> label_of(LabRun(Style("#2f70c4", "solid", "━━", "upright scattering, 4 views, lr 4"), 0, [], []), 97.4)
    '97.4 % upright scatteri… lr 4'
    """
    told = run.style.label
    if len(told) > MAX_LABEL_CHARS:
        last = told.rpartition(", ")[2][-MAX_LABEL_CHARS // 2 :]
        told = f"{told[: MAX_LABEL_CHARS - len(last) - 2].rstrip(', ')}… {last}"
    return f"{'{}' if accuracy is None else f'{accuracy:.1f}'} % {told}"


def _accuracy(run: LabRun, by_epsilon: bool, end: float) -> dict[str, Any]:
    heights = [100 * each for each in run.accuracy]
    across: Sequence[float] = run.spent if by_epsilon else run.epochs
    # No epsilon is spent: the last accuracy, all along, once there is one.
    if by_epsilon and run.level:
        across, heights = [0.0, end], [heights[-1] if heights else np.nan] * 2
    size, width = (3, GHOST_PEN) if run.ghost else (5, NORMAL.pen)
    more = {"mode": "lines+markers", "marker": {"size": size}, "hovertemplate": "%{y:.1f} %"}
    return line(
        [*across], heights, run.style, width=width, yaxis="y2", uid=f"{RUN}{run.place}", **more
    )


def _certified(run: LabRun, ghost: Ghost) -> dict[str, Any]:
    """The certified epsilon of a run whose settings are not those of the controls."""
    look = run.style._replace(label=f"{run.style.label}, certified")
    return curve_line(ghost.curve, ghost.epochs, look, width=GHOST_PEN, uid=f"{GHOST}{run.place}")


def _now(
    curves: Mapping[str, Curve], x: FloatArray, epochs: FloatArray, runs: Sequence[LabRun]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The marks of the run that trains: a point on each of its curves, and a line through both
    plots.
    """
    walking = next((run for run in runs if run.now is not None), None)
    if walking is None:
        return [], []
    now = float(walking.now or 0.0)
    at = float(np.interp(now, epochs, x))
    pen = {"color": GREY, "width": 1.5}
    through = {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": pen}
    known = [(epochs, each.epsilon) for each in curves.values()]
    if walking.ghost:
        known = [(walking.ghost.epochs, walking.ghost.curve.epsilon)]
    reached = [float(np.interp(now, over, epsilon)) for over, epsilon in known if over is not None]
    seen = [each for each in reached if np.isfinite(each)]
    look = {"size": 9, "color": GREY, "line": {"width": 1, "color": "white"}}
    return [points([at] * len(seen), seen, look, name="now", hoverinfo="skip", uid=NOW)], [through]
