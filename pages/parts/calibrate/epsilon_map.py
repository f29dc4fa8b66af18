"""The map of epsilon over sigma and epochs: axes, cached rows, data, and the fields that a click
loads.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import heatmap_figure
from dpcore.figures.alt_texts import heatmap_alt
from dpcore.figures.epsilon import GHOST_NAME
from dpcore.figures.heatmap import Mark
from dpcore.figures.layout import Size
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.accountants.base import FloatArray
from dpcore.privacy.calibration.solve import MAX_SOLVED_STEPS
from dpcore.privacy.calibration.targets import EpsilonTarget, Target
from dpcore.privacy.report.numbers import WORDS, epochs_of, nearest, plain, raised
from dpcore.privacy.schedule import Recipe
from dpcore.training.slider_stops import show
from pages.parts.calibrate import question
from pages.parts.calibrate.question import epochs_text, recipe_of
from pages.parts.components.elements import follows
from pages.parts.components.live_chart import Drawing, clicked_point, live_chart
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.controls.url_state import assign
from pages.parts.layout import throttle
from pages.parts.results import cache
from pages.parts.results.exports import Origin, Rows, address, csv_button, lowers, origin_of_any
from pages.parts.shell.menu import chart_size
from pages.parts.shell.streamlit_internals import uninterrupted

CELLS = 40  # along each axis
FEW = 14  # rows of a map whose every row takes long: a schedule, certified
SIGMAS = (0.5, 10.0)
EPOCHS = (1.0, 300.0)
WHOLE = 5  # epochs, from which on the map has whole ones only
BEYOND = 1.3  # a map that has to grow ends at so many times the present point
KEY = "map"
AXES = "map_axes"  # of the map that is on the screen
# Drawn first where the certified map, which takes long, is not known yet: a proven bound, and
# quick.
FIRST = "rdp"
PAINTED = "first_map_painted"
PAUSE = 0.3  # seconds until the certified map is begun
WAITING = "So far by Rényi DP, a proven upper bound."


class Axes(NamedTuple):
    """The grid of a map; hashable."""

    sigmas: tuple[float, ...]
    steps: tuple[int, ...]
    q: float
    delta: float
    recipe: Recipe

    @property
    def epochs(self) -> FloatArray:
        return np.array(self.steps) * self.q


class Shown(NamedTuple):
    """The setting, the question, the accountant and the pinned setting of a map."""

    setting: ChosenSetting
    solved: str
    target: Target | None
    by: str
    pinned: ChosenSetting | None

    @property
    def thick(self) -> float | None:
        """The target, if the map can have its contour, which is that of one run."""
        return (
            self.target.size
            if isinstance(self.target, EpsilonTarget) and not self.target.runs
            else None
        )

    def marks(self) -> list[Mark]:
        """The present point, the answer unless it has another q, and the pinned setting."""
        setting = self.setting
        found = [Mark(setting.epochs, setting.sigma, "now")]
        answer = (
            question.answer(question.asked_of(self.solved, self.target, setting), self.by)
            if self.target
            else ""
        )
        if not isinstance(answer, str) and (first := answer.mechanism.releases[0]).q == setting.q:
            found.append(Mark(answer.mechanism.steps * first.q, first.sigma, "answer", "diamond"))
        if pinned := self.pinned:
            found.append(Mark(pinned.epochs, pinned.sigma, GHOST_NAME.lower(), "square"))
        return found

    def figure(self, rows: Sequence[Curve], axes: Axes, size: Size) -> go.Figure:
        return heatmap_figure(
            np.array(axes.sigmas),
            rows,
            axes.epochs,
            target=self.thick,
            marks=self.marks(),
            size=size,
        )

    def title(self, origin: Origin) -> str:
        """The lines over a picture that a reader saves."""
        target = [f"thick: epsilon {self.thick:g}"] if self.thick else []
        marks = [
            f"{each.word}: sigma {nearest(each.sigma, 6)}, {epochs_of(each.epochs)}"
            for each in self.marks()
        ]
        first = f"Epsilon over sigma and epochs, by {ACCOUNTANTS[self.by].title}"
        return "\n".join([first, origin.words, "; ".join([*target, *marks])])


def show_map(shown: Shown) -> None:
    """Draw the map; a click on it loads a cell. Then a button for its numbers."""
    axes = axes_of(shown.setting, shown.by)
    st.session_state[AXES] = axes
    if follows() and shown.by == CERTIFIED and not known(axes, shown.by):
        st.session_state[PAINTED] = False
        st.fragment(_meanwhile, run_every=PAUSE)(shown, axes)
        return
    rows = list(rows_of(axes, shown.by))
    origin = origin_of_any(shown.setting, address())
    file = origin.file(f"epsilon-map-by-{shown.by}")
    _draw(shown, axes, rows, file).caption(caption(rows, axes, shown))
    cells = lambda: [origin._asdict() | each for each in cells_of(rows, axes, shown.by)]  # noqa: E731
    csv_button("Download the map (CSV)", cells, f"{file}.csv", "download")


def _meanwhile(shown: Shown, axes: Axes) -> None:
    """Draw a bound that is quick; the next time compute the certified map, and run the page again."""
    below = _draw(shown, axes, list(rows_of(axes, FIRST)), "epsilon-map")
    below.caption(WAITING)
    if not st.session_state[PAINTED]:
        st.session_state[PAINTED] = True
        return
    with throttle():
        # Between rows the page hears the reader's next move.
        for done, _ in enumerate(rows_of(axes, shown.by), 1):
            below.caption(f"{WAITING} {done} of {len(axes.sigmas)} rows done.")
    st.rerun()


def _draw(shown: Shown, axes: Axes, rows: Sequence[Curve], file: str) -> Any:
    """Draw a map of these axes, and return the place below it."""
    size = chart_size()
    live_chart(
        shown.figure(rows, axes, size), [], key=KEY,
        alt=heatmap_alt(np.array(axes.sigmas), rows, axes.epochs, shown.thick, shown.marks()),
        title=shown.title(origin_of_any(shown.setting, address())), file=file,
        preview=partial(previewed, shown, axes, size), clicked=clicked,
    )  # fmt: skip
    return st.empty()


def previewed(shown: Shown, axes: Axes, size: Size, field: str, text: str) -> Drawing | None:
    """The map with this text in a field; None where it would be another map, or may take long."""
    setting = shown.setting
    if cache.slow(setting.mechanism, setting.delta) or getattr(shown.target, "runs", None):
        return None
    if field.startswith(question.TARGET):
        target = question.moved_target(shown.target, field, text) if shown.target else None
        shown = shown._replace(target=target)
    else:
        shown = shown._replace(setting=setting.moved(field, text))
    if axes_of(shown.setting, shown.by) != axes:
        return None
    return Drawing(shown.figure(list(rows_of(axes, shown.by)), axes, size))


def caption(rows: Sequence[Curve], axes: Axes, shown: Shown) -> str:
    """The caption: delta, q, accountant, kinds of numbers, and what a click does."""
    kinds = Counter(each.kind for each in rows)
    named = [
        WORDS[kind] + (f" ({count} sigmas)" if len(kinds) > 1 else "")
        for kind, count in kinds.items()
    ]
    thick = "" if shown.thick is None else "The thick line is the target. "
    return (
        f"Epsilon at delta = {plain(raised(axes.delta))} and q = {nearest(axes.q)} by"
        f" {ACCOUNTANTS[shown.by].title}: {', '.join(named)}. {thick}Click a point to load its"
        " sigma and epochs on all pages."
    )


def axes_of(setting: ChosenSetting, by: str) -> Axes:
    """The axes that hold the present point; they stay while it moves within them."""
    constant = setting.schedule == "constant"
    sigmas = _spaced(
        SIGMAS, min(max(setting.sigma, 0.05), 1000.0), CELLS if constant or by != CERTIFIED else FEW
    )
    most, now = MAX_SOLVED_STEPS * setting.q, setting.epochs
    if constant:
        low, high = EPOCHS[0], min(EPOCHS[1], most)
        epochs = _spaced((min(low, high / 100), high), min(now, most), CELLS)
        epochs = [round(each) if each >= WHOLE else each for each in epochs]
    else:  # the noise of a longer run may end, and each epoch adds a level
        epochs = np.geomspace(min(1.0, now / 10), now, CELLS).tolist()
    steps = {min(max(1, math.ceil(each / setting.q - 1e-9)), MAX_SOLVED_STEPS) for each in epochs}
    return Axes(tuple(sigmas), tuple(sorted(steps)), setting.q, setting.delta, recipe_of(setting))


def rows_of(axes: Axes, by: str) -> Iterator[Curve]:
    """Epsilon at each sigma in turn, over the steps; each row is computed once for all readers."""
    for sigma in axes.sigmas:
        kept = _kept(one := axes._replace(sigmas=(sigma,)), by)
        if not kept:
            kept.append(_computed(one, by))
        yield kept[0]


def known(axes: Axes, by: str) -> bool:
    """True if the whole map has been computed before, for any reader."""
    return all(_kept(axes._replace(sigmas=(sigma,)), by) for sigma in axes.sigmas)


@lru_cache(maxsize=1024)
def _kept(axes: Axes, by: str) -> list[Curve]:
    """The row, which its first reader computes and adds; empty before."""
    return []


def _computed(axes: Axes, by: str) -> Curve:
    """A row; +inf with a note where its schedule leaves the range of sigmas."""
    steps, accountant = np.array(axes.steps), ACCOUNTANTS[by]
    try:
        mechanism = axes.recipe.mechanism(axes.q, axes.sigmas[0], axes.steps[-1])
    except ValueError as error:
        nothing = np.full(steps.shape, np.inf)
        return Curve(
            steps, np.full(steps.shape, axes.delta), nothing, None, accountant.kind, str(error)
        )
    return accountant.curve(mechanism, steps, axes.delta)


@uninterrupted
def clicked() -> None:
    """Load the clicked cell into the controls; for a callback."""
    point, axes = clicked_point(KEY), st.session_state.get(AXES)
    if axes and point and min(point) > 0:  # a browser can send nonsense
        for key, text in cell(axes, *point).items():
            assign(key, text)


def cell(axes: Axes, epochs: float, sigma: float) -> dict[str, str]:
    """The fields of the cell nearest to a point.

    >>> cell(Axes((1.0, 2.0), (100, 200), 0.01, 1e-5, Recipe()), 1.9, 1.1)
    {'sigma': '1', 'length': 'epochs', 'epochs': '2', 'steps': '200'}
    """
    nearest = min(axes.sigmas, key=lambda each: abs(math.log(each / sigma)))
    steps = min(axes.steps, key=lambda each: abs(math.log(each * axes.q / epochs)))
    return {
        "sigma": show(nearest),
        "length": "epochs",
        "epochs": epochs_text(steps, axes.q),
        "steps": show(steps),
    }


def cells_of(rows: Sequence[Curve], axes: Axes, by: str) -> Rows:
    """One line a cell: accountant, kind, q, delta, sigma, steps, epochs, epsilon, lower (empty
    where unproven).
    """
    return [
        {"accountant": by, "kind": row.kind.value, "q": axes.q, "delta": axes.delta, "sigma": sigma, "steps": steps,
         "epochs": epochs, "epsilon": epsilon, "lower": lower}
        for sigma, row in zip(axes.sigmas, rows, strict=True)
        for steps, epochs, epsilon, lower in zip(axes.steps, axes.epochs, row.epsilon, lowers(row), strict=True)
    ]  # fmt: skip


def _spaced(ends: tuple[float, float], now: float, count: int) -> list[float]:
    """Values of three digits, evenly spaced in logarithms over the ends, moved outwards where `now`
    lies beyond.
    """
    low = min(ends[0], now / BEYOND) if now < ends[0] else ends[0]
    high = max(ends[1], now * BEYOND) if now > ends[1] else ends[1]
    return sorted({float(f"{each:.3g}") for each in np.geomspace(low, high, count).tolist()})
