"""Charts of an audit: evidence while it trains, ROC curves, scores with their laws, and bounds
against canaries.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.audit.bounds.e_process import LINE
from dpcore.audit.bounds.score_laws import ScoreLaws
from dpcore.audit.events import Traced, Watched
from dpcore.figures.layout import (
    NORMAL,
    End,
    Size,
    figure_of,
    labelled,
    layout,
    line,
    points,
    power_ticks,
    with_key,
)
from dpcore.figures.number_line import Stretch
from dpcore.figures.style import ATTACK_LOOK, BAND, GREY, REFUTED, Style, faded, style_of
from dpcore.figures.tradeoff import BLIND
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import percent, short

HEIGHT = 340
SEEN = Style(ATTACK_LOOK[0], "solid", "━━", "Seen")
SEEN_FILL = faded(SEEN.color, 0.22)
INSIDE = SEEN._replace(label="In the data")
OUTSIDE = Style(GREY, "dash", "╌╌", "Not in it")
FILLS = faded(INSIDE.color, 0.35), faded(OUTSIDE.color, 0.35)
BINS = 40
LIMIT = Style(GREY, "dot", "···", "No run shows more")
EXPECTED = SEEN._replace(dash="dash", glyph="╌╌", label="Best canaries, about")
REACHED = SEEN._replace(glyph="●", label="Shown here")
EVIDENCE = (  # in the order of `Watched.evidence`
    SEEN._replace(label="All evidence"),
    SEEN._replace(dash="dot", glyph="···", label="Too little noise"),
    Style(GREY, "dash", "╌╌", "Repeated noise"),
)
CAUGHT = Style(REFUTED, "solid", "━━", f"Line at {LINE}")
TOP = 8  # power of ten at which curves of evidence are cut off


class Reached(NamedTuple):
    """A bound of epsilon, with its number of canaries and its name."""

    canaries: int
    epsilon: float
    words: str


def evidence_figure(watched: Sequence[Watched], *, size: Size = NORMAL) -> go.Figure:
    """Draw the evidence after the steps watched, on a logarithmic axis that ends at 10^8, and the
    line at 20.

    >>> figure = evidence_figure([Watched(1, 9, 1.0, evidence=(99.0, 99.3, -0.3))])
    >>> figure.data[0].name, figure.data[0].y.tolist()[-1] == 1e8, figure.layout.yaxis.ticktext[0]
    ('All evidence', True, '≥ 10⁸')
    """
    steps = [0, *(each.step for each in watched)]
    logs = np.array([[0.0] * len(EVIDENCE), *(each.evidence for each in watched)])  # (n, 3)
    low, high = np.floor(logs.min()), min(max(np.ceil(logs.max()), 2), TOP)
    drawn = 10 ** np.minimum(logs, high)
    told = [[f"10^{value:.1f}" for value in column] for column in logs.T]
    traces = [
        line(steps, heights, style, text=texts, hovertemplate="%{text}")
        for heights, style, texts in zip(drawn.T, EVIDENCE, told, strict=True)
    ]
    traces.append(line([0, watched[-1].steps], [LINE] * 2, CAUGHT, hoverinfo="skip"))
    ends = [
        End(style, float(y), style.label)
        for y, style in zip((*drawn[-1], LINE), (*EVIDENCE, CAUGHT), strict=True)
    ]
    shape = layout("step", "evidence", height=HEIGHT * 3 // 4, right=150, size=size, dragmode=False)
    ticks = power_ticks(low, high)
    if logs.max() > high:
        ticks["ticktext"][0] = f"≥ {ticks['ticktext'][0]}"
    shape["xaxis"] |= {"range": [0, watched[-1].steps]}
    shape["yaxis"] |= ticks | {"range": [low - 0.1, high + 0.1]}
    return figure_of(traces, labelled(shape, ends, (low, high), size, log=True), size)


def evidence_alt(watched: Sequence[Watched]) -> str:
    """Say the evidence after the last step watched, and when it reached the line.

    >>> evidence_alt([Watched(2, 9, 1.0, evidence=(-0.2, -0.1, -0.3))])
    'Line chart of the evidence against the noise. After step 2: 10^-0.2, below the line at 20.'
    """
    last = watched[-1]
    against = (
        last.caught
        or f"After step {last.step:,}: 10^{last.evidence[0]:.1f}, below the line at {LINE}."
    )
    return f"Line chart of the evidence against the noise. {against}"


def roc_figure(seen: Traced, band: Band | None, *, size: Size = NORMAL) -> go.Figure:
    """Draw a ROC curve and its band, under the certified curve if there is one; both axes are
    logarithmic.

    >>> seen = Traced("losses", (0.0, 0.1, 1.0), (0.0, 0.3, 1.0), (0.0, 0.1, 0.9), (0.2, 0.5, 1.0), 0.6, (9, 9))
    >>> figure = roc_figure(seen, None)
    >>> [trace.name for trace in figure.data]
    ['Blind guessing', 'At least', 'At most', 'Seen']
    """
    x = np.asarray(seen.false_positives, dtype=float)
    drawn_here = x > 0  # a logarithmic axis has no 0
    x, least = x[drawn_here], float(x[drawn_here].min())
    curve, above, below = (np.maximum(np.asarray(each, dtype=float)[drawn_here], least / 10)
                           for each in (seen.true_positives, seen.above, seen.below))  # fmt: skip
    dotted, thin = SEEN._replace(dash="dot"), {"width": 1.0, "hovertemplate": "%{y:.3g}"}
    traces = [
        line(x, x, BLIND, width=1.2, hoverinfo="skip"),
        line(x, above, dotted._replace(label="At least"), **thin),
        line(
            x, below, dotted._replace(label="At most"), **thin, fill="tonexty", fillcolor=SEEN_FILL
        ),
    ]
    styles = [SEEN._replace(label="Seen, with its band"), BLIND]
    if band is not None and not band.empty:
        certified = style_of(CERTIFIED)._replace(label="Certified for the claim")
        traces.append(line(x, band.lower.power(x), certified, hovertemplate="%{y:.3g}"))
        styles.insert(0, certified)
    traces.append(line(x, curve, SEEN, hovertemplate="%{y:.3g}"))
    shape = layout(
        "false-positive rate", "true-positive rate", height=HEIGHT, size=size, dragmode=False
    )
    for axis in (shape["xaxis"], shape["yaxis"]):
        axis |= {"range": [float(np.log10(least)), 0.05], **power_ticks(np.log10(least), 0)}
    return figure_of(traces, with_key(shape, styles, size, top=False), size)


def roc_alt(seen: Traced, band: Band | None, rate: float = 0.01) -> str:
    """Say the curve at one rate.

    >>> seen = Traced("losses", (0.0, 0.01, 1.0), (0.0, 0.03, 1.0), (0.0, 0.01, 0.9), (0.2, 0.05, 1.0), 0.6, (9, 9))
    >>> roc_alt(seen, None)
    'ROC curve on logarithmic axes. At 1.0 % false positives: 3.0 % true positives seen, from 1.0 % to 5.0 %.'
    """
    place = min(int(np.searchsorted(seen.false_positives, rate)), len(seen.false_positives) - 1)
    own = (
        f"{percent(seen.true_positives[place])} true positives seen, from"
        f" {percent(seen.above[place])} to "
    )
    most = (
        ""
        if band is None or band.empty
        else f"; certified is at most {percent(float(band.lower.power(rate)))}"
    )
    return (
        f"ROC curve on logarithmic axes. At {percent(rate)} false positives:"
        f" {own}{percent(seen.below[place])}{most}."
    )


def scores_figure(
    inside: Sequence[float],
    outside: Sequence[float],
    laws: ScoreLaws | None,
    *,
    size: Size = NORMAL,
) -> go.Figure:
    """Draw the scores of canaries in and out as densities, with their theoretical laws.

    >>> figure = scores_figure([0.0, 1.0], [-1.0, 0.0], None)
    >>> [trace.name for trace in figure.data]
    ['In the data', 'Not in it']
    """
    edges = _edges(inside, outside, laws)
    traces = [
        _bars(np.asarray(each, dtype=float), edges, style, fill)
        for each, style, fill in zip((inside, outside), (INSIDE, OUTSIDE), FILLS, strict=True)
    ]
    if laws is not None:
        traces += [
            _law(laws, law, style)
            for law, style in ((laws.inside, INSIDE), (laws.outside, OUTSIDE))
        ]
    shape = layout(
        "score of a canary",
        "density",
        height=HEIGHT,
        size=size,
        hovermode="closest",
        dragmode=False,
    )
    shape |= {"barmode": "overlay", "bargap": 0}
    shape["xaxis"] |= {"range": [float(edges[0]), float(edges[-1])]}
    return figure_of(traces, with_key(shape, (INSIDE, OUTSIDE), size, right=False), size)


def scores_alt(inside: Sequence[float], outside: Sequence[float], laws: ScoreLaws | None) -> str:
    """Say the means of both, seen and in theory.

    >>> scores_alt([1.0, 3.0], [0.0], None)
    'Histograms of the scores of canaries: 2 in the data, 2.00 on average; 1 not in it, 0.00 on average.'
    """
    told = []
    for name, scores, law in (("in the data", inside, "inside"), ("not in it", outside, "outside")):
        theory = f" where theory has {float(getattr(laws, law) @ laws.score):.2f}" if laws else ""
        told.append(
            f"{len(scores)} {name}, {float(np.mean(scores)) if scores else 0.0:.2f} on"
            f" average{theory}"
        )
    return f"Histograms of the scores of canaries: {'; '.join(told)}."


def canaries_figure(
    canaries: Sequence[int],
    most: Sequence[float],
    expected: Sequence[float],
    reached: Sequence[Reached],
    certified: Stretch,
    *,
    size: Size = NORMAL,
) -> go.Figure:
    """Draw lower bounds against canaries: the most of any run, the expectation for the best, and
    the audit's own.

    >>> figure = canaries_figure([10, 100], [1.0, 3.5], [0.0, 0.2], [Reached(50, 0.1, "One run")], Stretch(2.5, 2.6))
    >>> [trace.name for trace in figure.data]
    ['Certified', 'No run shows more', 'Best canaries, about', 'One run']
    """
    counts = [*canaries, *(each.canaries for each in reached)]
    ends = [min(counts) / 1.3, max(counts) * 1.3]
    style, heights = (
        style_of(CERTIFIED)._replace(label="Certified"),
        [certified.high] * 2 + [certified.low] * 2,
    )
    traces = [
        line([*ends, *ends[::-1]], heights, style, hoverinfo="skip", fill="toself", fillcolor=BAND),
        line(canaries, most, LIMIT, hovertemplate="%{y:.3g}"),
        line(canaries, expected, EXPECTED, hovertemplate="%{y:.3g}"),
    ]
    for each in reached:
        told = {
            "name": each.words,
            "hovertemplate": f"{each.words}: {short(each.epsilon)}<extra></extra>",
        }
        traces.append(
            points([each.canaries], [each.epsilon], {"color": REACHED.color, "size": 11}, **told)
        )
    shape = layout(
        "canaries in one run",
        "epsilon at least",
        height=HEIGHT,
        size=size,
        hovermode="closest",
        dragmode=False,
    )
    ticks = [10**power for power in range(1, 7) if ends[0] <= 10**power <= ends[1]]
    shape["xaxis"] |= {"type": "log", "range": [float(np.log10(each)) for each in ends],
                       "tickvals": ticks, "ticktext": [f"{each:,}" for each in ticks]}  # fmt: skip
    shape["yaxis"] |= {"rangemode": "tozero"}
    return figure_of(
        traces, with_key(shape, (style, LIMIT, EXPECTED, REACHED), size, right=False), size
    )


def canaries_alt(most: float, expected: float, reached: Sequence[Reached], canaries: int) -> str:
    """Say the limit, the expectation and the audit's own bounds.

    >>> canaries_alt(5.78, 0.29, [Reached(1000, 0.74, "One run")], 1000).split(". ", 1)[1]
    'At 1,000: at most 5.78, about 0.290 expected; One run 0.740.'
    """
    told = "".join(f"; {each.words} {short(each.epsilon)}" for each in reached)
    first = "Line chart of lower bounds of epsilon against canaries."
    return (
        f"{first} At {canaries:,}: at most {short(most)}, about {short(expected)} expected{told}."
    )


def _edges(inside: Sequence[float], outside: Sequence[float], laws: ScoreLaws | None) -> FloatArray:
    """Return edges of bins that cover all scores and most of the laws."""
    ends = [float(each) for each in (*inside, *outside)]
    if laws is not None:
        kept = laws.score[
            (laws.inside > 1e-3 * laws.inside.max()) | (laws.outside > 1e-3 * laws.outside.max())
        ]
        ends += [float(kept[0]), float(kept[-1])]
    low, high = min(ends), max(ends)
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _bars(scores: FloatArray, edges: FloatArray, style: Style, fill: str) -> dict[str, Any]:
    density = np.histogram(scores, edges, density=scores.size > 0)[0]
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    marker = {"color": fill, "line": {"color": style.color, "width": 1}}
    return {"type": "bar", "x": middles, "y": density, "width": widths, "marker": marker, "name": style.label,
            "hovertemplate": "%{y:.3g}"}  # fmt: skip


def _law(laws: ScoreLaws, law: FloatArray, style: Style) -> dict[str, Any]:
    """Draw the density of a law on a coarser lattice."""
    every = max(1, law.size // 1000)
    size = law.size // every * every
    density = law[:size].reshape(-1, every).sum(axis=1) / (every * laws.mesh)
    scores = laws.score[:size].reshape(-1, every).mean(axis=1)
    return line(scores, density, style._replace(label=f"{style.label}, theory"), hoverinfo="skip")
