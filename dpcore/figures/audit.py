"""Charts of an audit: evidence, ROC curves, scores with their laws, and bounds over canaries."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.audit.bounds.e_process import LINE, evidence_text
from dpcore.audit.bounds.score_laws import ScoreLaws
from dpcore.audit.events import Traced, Watched
from dpcore.figures.layout import (
    End,
    Numbers,
    Trace,
    axis,
    figure_of,
    key,
    line,
    log_axis,
    points,
    power_ticks,
    round_numbers,
)
from dpcore.figures.number_line import Stretch
from dpcore.figures.style import ATTACK_LOOK, BAND, GREY, REFUTED, Style, faded, style_of
from dpcore.figures.tradeoff import BLIND
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import percent, short

HEIGHT = 340
SEEN = Style(ATTACK_LOOK.color, "solid", "━━", "Seen")
SEEN_FILL = faded(SEEN.color, 0.22)
INSIDE = SEEN._replace(label="In the data")
OUTSIDE = Style(GREY, "dash", "╌╌", "Not in it")
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


def evidence_figure(watched: Sequence[Watched]) -> go.Figure:
    """Draw the evidence after the steps watched, up to 10^8, and the line at 20.

    >>> figure = evidence_figure([Watched(1, 9, 1.0, evidence=(99.0, 99.3, -0.3))])
    >>> figure.data[0].name, figure.data[0].y.tolist()[-1] == 1e8, figure.layout.yaxis.ticktext[0]
    ('All evidence', True, '≥ 10⁸')
    """
    steps = [0]
    rows = [(0.0,) * len(EVIDENCE)]
    for each in watched:
        steps.append(each.step)
        rows.append(each.evidence)
    logs = np.array(rows)  # (n, 3)
    low = np.floor(logs.min())
    high = min(max(np.ceil(logs.max()), 2), TOP)
    drawn = 10 ** np.minimum(logs, high)
    traces = []
    ends = []
    for place, style in enumerate(EVIDENCE):
        heights = drawn[:, place]
        texts = [evidence_text(value) for value in logs[:, place]]
        traces.append(line(steps, heights, style, text=texts, hovertemplate="%{text}"))
        ends.append(End(style, float(heights[-1]), style.label))
    across = [0, watched[-1].steps]
    traces.append(line(across, [LINE] * 2, CAUGHT, hoverinfo="skip"))
    ends.append(End(CAUGHT, float(LINE), CAUGHT.label))
    ticks = power_ticks(low, high)
    if logs.max() > high:
        ticks["ticktext"][0] = f"≥ {ticks['ticktext'][0]}"
    return figure_of(
        traces,
        axis("step", range=across),
        axis("evidence", range=[low - 0.1, high + 0.1], **ticks),
        ends=ends,
        height=HEIGHT * 3 // 4,
        right=150,
        dragmode=False,
    )


def evidence_alt(watched: Sequence[Watched]) -> str:
    """Say the evidence after the last step watched, and when it reached the line.

    >>> evidence_alt([Watched(2, 9, 1.0, evidence=(-0.2, -0.1, -0.3))])
    'Line chart of the evidence against the noise. After step 2: 10^-0.2, below the line at 20.'
    """
    last = watched[-1]
    against = last.caught
    if not against:
        evidence = evidence_text(last.evidence[0])
        against = f"After step {last.step:,}: {evidence}, below the line at {LINE}."
    return f"Line chart of the evidence against the noise. {against}"


def roc_figure(seen: Traced, band: Band | None) -> go.Figure:
    """Draw a ROC curve and its band, under the certified curve if there is one.

    Both axes are logarithmic.

    >>> ends = (0.0, 1.0)
    >>> figure = roc_figure(Traced("losses", (0.1, 1.0), ends, ends, ends, 0.6, (9, 9)), None)
    >>> [trace.name for trace in figure.data]
    ['Blind guessing', 'At least', 'At most', 'Seen']
    """
    x = np.asarray(seen.false_positives, dtype=float)
    shown = x > 0  # a logarithmic axis has no 0
    x = x[shown]
    least = float(x.min())

    def heights(values: Numbers) -> FloatArray:
        return np.maximum(np.asarray(values, dtype=float)[shown], least / 10)

    dotted = SEEN._replace(dash="dot")
    below = dotted._replace(label="At least")
    above = dotted._replace(label="At most")
    lower = line(x, heights(seen.above), below, width=1.0, hovertemplate="%{y:.3g}")
    upper = line(x, heights(seen.below), above, width=1.0, hovertemplate="%{y:.3g}")
    traces = [
        line(x, x, BLIND, width=1.2, hoverinfo="skip"),
        lower,
        upper | {"fill": "tonexty", "fillcolor": SEEN_FILL},
    ]
    styles = [SEEN._replace(label="Seen, with its band"), BLIND]
    if band is not None and not band.empty:
        certified = style_of(CERTIFIED)._replace(label="Certified for the claim")
        traces.append(line(x, band.lower.power(x), certified, hovertemplate="%{y:.3g}"))
        styles.insert(0, certified)
    traces.append(line(x, heights(seen.true_positives), SEEN, hovertemplate="%{y:.3g}"))
    ticks = power_ticks(np.log10(least), 0) | {"range": [float(np.log10(least)), 0.05]}
    return figure_of(
        traces,
        axis("false-positive rate", **ticks),
        axis("true-positive rate", **ticks),
        notes=key(styles, top=False),
        height=HEIGHT,
        dragmode=False,
    )


def roc_alt(seen: Traced, band: Band | None, rate: float = 0.01) -> str:
    """Say the curve at one rate.

    >>> ends = (0.0, 0.03)
    >>> seen = Traced("losses", (0.0, 0.01), ends, (0.0, 0.01), (0.2, 0.05), 0.6, (9, 9))
    >>> roc_alt(seen, None).split(": ")[1]
    '3.0 % true positives seen, from 1.0 % to 5.0 %.'
    """
    place = min(int(np.searchsorted(seen.false_positives, rate)), len(seen.false_positives) - 1)
    height = percent(seen.true_positives[place])
    low = percent(seen.above[place])
    high = percent(seen.below[place])
    most = ""
    if band is not None and not band.empty:
        most = f"; certified is at most {percent(float(band.lower.power(rate)))}"
    return (
        f"ROC curve on logarithmic axes. At {percent(rate)} false positives:"
        f" {height} true positives seen, from {low} to {high}{most}."
    )


def scores_figure(
    inside: Numbers,
    outside: Numbers,
    laws: ScoreLaws | None,
) -> go.Figure:
    """Draw the scores of canaries in and out as densities, with their theoretical laws.

    >>> figure = scores_figure([0.0, 1.0], [-1.0, 0.0], None)
    >>> [trace.name for trace in figure.data]
    ['In the data', 'Not in it']
    """
    edges = _edges(inside, outside, laws)
    traces = [_bars(inside, edges, INSIDE), _bars(outside, edges, OUTSIDE)]
    if laws is not None:
        traces += [_law(laws, laws.inside, INSIDE), _law(laws, laws.outside, OUTSIDE)]
    return figure_of(
        traces,
        axis("score of a canary", range=[float(edges[0]), float(edges[-1])]),
        axis("density"),
        notes=key((INSIDE, OUTSIDE), right=False),
        height=HEIGHT,
        hovermode="closest",
        dragmode=False,
        barmode="overlay",
        bargap=0,
    )


def scores_alt(inside: Numbers, outside: Numbers, laws: ScoreLaws | None) -> str:
    """Say the means of both, seen and in theory.

    >>> scores_alt([1.0, 3.0], [0.0], None).split(": ")[1]
    '2 in the data, 2.00 on average; 1 not in it, 0.00 on average.'
    """
    first = f"{len(inside)} in the data, {_average(inside)} on average"
    second = f"{len(outside)} not in it, {_average(outside)} on average"
    if laws:
        first += f" where theory has {float(laws.inside @ laws.score):.2f}"
        second += f" where theory has {float(laws.outside @ laws.score):.2f}"
    return f"Histograms of the scores of canaries: {first}; {second}."


def _average(scores: Numbers) -> str:
    return f"{float(np.mean(scores)) if scores else 0.0:.2f}"


def canaries_figure(
    canaries: Sequence[int],
    most: Numbers,
    expected: Numbers,
    reached: Sequence[Reached],
    certified: Stretch,
) -> go.Figure:
    """Draw lower bounds against canaries: the most of any run, the best's, and the audit's own.

    >>> reached = [Reached(50, 0.1, "One run")]
    >>> figure = canaries_figure([10, 100], [1.0, 3.5], [0.0, 0.2], reached, Stretch(2.5, 2.6))
    >>> [trace.name for trace in figure.data]
    ['Certified', 'No run shows more', 'Best canaries, about', 'One run']
    """
    counts = [*canaries, *(each.canaries for each in reached)]
    low = min(counts) / 1.3
    high = max(counts) * 1.3
    style = style_of(CERTIFIED)._replace(label="Certified")
    band = [certified.high] * 2 + [certified.low] * 2
    fill = {"fill": "toself", "fillcolor": BAND, "hoverinfo": "skip"}
    traces = [
        line([low, high, high, low], band, style) | fill,
        line(canaries, most, LIMIT, hovertemplate="%{y:.3g}"),
        line(canaries, expected, EXPECTED, hovertemplate="%{y:.3g}"),
    ]
    marker = {"color": REACHED.color, "size": 11}
    for each in reached:
        hover = f"{each.words}: {short(each.epsilon)}<extra></extra>"
        point = points([each.canaries], [each.epsilon], marker, hovertemplate=hover)
        traces.append(point | {"name": each.words})
    powers = round_numbers(low, high, [1])
    ticks = log_axis(low, high, powers, "{:,.0f}".format)
    return figure_of(
        traces,
        axis("canaries in one run", **ticks),
        axis("epsilon at least", rangemode="tozero"),
        notes=key((style, LIMIT, EXPECTED, REACHED), right=False),
        height=HEIGHT,
        hovermode="closest",
        dragmode=False,
    )


def canaries_alt(most: float, expected: float, reached: Sequence[Reached], canaries: int) -> str:
    """Say the limit, the expectation and the audit's own bounds.

    >>> canaries_alt(5.78, 0.29, [Reached(1000, 0.74, "One run")], 1000).split(". ", 1)[1]
    'At 1,000: at most 5.78, about 0.290 expected; One run 0.740.'
    """
    parts = [f"at most {short(most)}, about {short(expected)} expected"]
    parts += [f"{each.words} {short(each.epsilon)}" for each in reached]
    first = "Line chart of lower bounds of epsilon against canaries."
    return f"{first} At {canaries:,}: {'; '.join(parts)}."


def _edges(inside: Numbers, outside: Numbers, laws: ScoreLaws | None) -> FloatArray:
    """Return edges of bins that cover all scores and most of the laws."""
    ends = [*inside, *outside]
    if laws is not None:
        likely_in = laws.inside > 1e-3 * laws.inside.max()
        likely_out = laws.outside > 1e-3 * laws.outside.max()
        kept = laws.score[likely_in | likely_out]
        ends += [float(kept[0]), float(kept[-1])]
    low, high = min(ends), max(ends)
    if high == low:
        high = low + 1.0
    return np.linspace(low, high, BINS + 1)


def _bars(scores: Numbers, edges: FloatArray, style: Style) -> Trace:
    heights, _ = np.histogram(np.asarray(scores, dtype=float), edges, density=len(scores) > 0)
    edge = {"color": style.color, "width": 1}
    return {
        "type": "bar",
        "x": (edges[1:] + edges[:-1]) / 2,
        "y": heights,
        "width": np.diff(edges),
        "marker": {"color": faded(style.color, 0.35), "line": edge},
        "name": style.label,
        "hovertemplate": "%{y:.3g}",
    }


def _law(laws: ScoreLaws, law: FloatArray, style: Style) -> Trace:
    """Draw the density of a law on a coarser lattice."""
    every = max(1, law.size // 1000)
    size = law.size // every * every
    density = law[:size].reshape(-1, every).sum(axis=1) / (every * laws.mesh)
    scores = laws.score[:size].reshape(-1, every).mean(axis=1)
    theory = style._replace(label=f"{style.label}, theory")
    return line(scores, density, theory, hoverinfo="skip")
